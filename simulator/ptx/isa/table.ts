import { arithmeticForms } from './arithmeticForms.js';
import { bitForms } from './bitForms.js';
import { controlForms } from './controlForms.js';
import { conversionForms } from './conversionForms.js';
import { exchangeForms } from './exchangeForms.js';
import type { FormTable, InstructionForm } from './formRule.js';
import { halfForms } from './halfForms.js';
import { memoryForms } from './memoryForms.js';
import { videoForms } from './videoForms.js';

export type { InstructionForm } from './formRule.js';

/** Families whose instructions do no more than compute their destination. */
const computingFamilies: readonly FormTable[] = [
  arithmeticForms,
  bitForms,
  conversionForms,
  halfForms,
  videoForms,
];

const families: readonly FormTable[] = [...computingFamilies, controlForms, exchangeForms, memoryForms];

/** Whether instructions of a base opcode compute registers from registers, and nothing else. */
export function onlyComputes(opcode: string): boolean {
  return computingFamilies.some((family) => Object.hasOwn(family, opcode));
}

/** Whether lanes of a warp tell each other something by instructions of a base opcode, `bar.warp` apart. */
export function exchangesLanes(opcode: string): boolean {
  return Object.hasOwn(exchangeForms, opcode);
}

/** The instruction forms that the simulator runs, by base opcode. `call` and `brx` have rules of their own. */
const instructionForms: ReadonlyMap<string, readonly InstructionForm[]> = new Map(
  [...new Set(families.flatMap((family) => Object.keys(family)))].map((opcode) => [
    opcode,
    families.flatMap((family) => family[opcode] ?? []),
  ]),
);

/** The base opcodes that have forms. */
export function supportedOpcodes(): readonly string[] {
  return [...instructionForms.keys()];
}

/** The forms of a base opcode; none when it is not supported. */
export function formsOf(opcode: string): readonly InstructionForm[] {
  return instructionForms.get(opcode) ?? [];
}
