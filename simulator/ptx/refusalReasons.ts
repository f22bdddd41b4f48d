import { isa, isaRows } from './isa/index.js';
import type { IrInstruction } from './ir.js';
import { ofLaterArchitectures } from './laterArchitectures.js';

type Spelling = Pick<IrInstruction, 'opcode' | 'modifiers'>;

/** Modifiers, of opcodes that run without them. */
const families: readonly (readonly [RegExp, string])[] = [
  [/\bim2col\b|\btile::/, 'im2col and gathered tiles are not supported: copy boxes with .tile'],
  [/\bmulticast::/, 'a copy to several blocks is not supported: copy to each block by itself'],
  [
    /\bmbarrier\b|\bbulk\b|\btensormap\b|^(st|red)\.async\b/,
    'this form of an mbarrier or a bulk copy is not supported',
  ],
  [/\bcluster\b|^clusterlaunchcontrol\b/, 'this instruction of a cluster is not supported'],
  [
    /^(alloca|stacksave|stackrestore)\b/,
    'an allocation on the stack has no guard and an alignment of at most 16 bytes here',
  ],
];

/** Why an instruction without a form cannot run, and what to do instead where something can be done. */
export function refusalReason({ opcode, modifiers }: Spelling, isKnownOpcode: boolean): string {
  const text = [opcode, ...modifiers].join('.');
  const later = ofLaterArchitectures(text);
  if (later !== undefined) return later;
  const { formless } = isa(opcode);
  if (formless?.kind === 'refused' && isaRows.has(opcode)) return formless.reason;
  for (const [pattern, reason] of families) {
    if (pattern.test(text)) return reason;
  }
  return isKnownOpcode
    ? 'this combination of modifiers and types is not supported'
    : 'this instruction is not supported';
}
