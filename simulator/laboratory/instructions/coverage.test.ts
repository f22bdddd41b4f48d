import { describe, expect, it } from 'vitest';
import type { InstructionForm, IrInstruction, ScalarType } from '../../ptx/index.js';
import { formsOf, isScalarType, parseModule, supportedOpcodes } from '../../ptx/index.js';
import { allForms } from './forms/index.js';
import { probeModule } from './probe.js';

/** Opcodes whose meaning no thread alone can show, or that compute nothing; other tests hold them. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'control flow': ['bra', 'ret', 'exit', 'trap', 'brkpt'],
  'barriers, and what lanes tell each other': 'bar barrier activemask elect shfl vote match redux'.split(' '),
  'hints, order and waits':
    'pmevent nanosleep griddepcontrol prefetch prefetchu discard applypriority membar fence'.split(' '),
  'copies, whose bits are loads and stores': ['cp', 'ldu'],
  'addresses, which are not those of the card': ['cvta', 'isspacep'],
  'moves, which every probe kernel does': ['mov'],
};

/** Modifiers that choose a place, a cache or an order among threads, not a value. */
const withoutValue =
  /^(?:weak|relaxed|acquire|release|acq_rel|volatile|mmio|unified|nc|cta|cluster|gpu|sys|local|param.*|const|global|shared.*|ca|cg|cs|lu|cv|wb|wt|L[12].*|v[248])$/;

/** What a form's rule lets through and the assembler refuses, so that no card can show it. */
const unassembled: readonly RegExp[] = [
  /^cvt .* of (?:[us]8\.bf16|bf16\.[us]8)$/,
  /^cvt .* of f16\.bf16, bf16\.f16 with \.(?:ftz|sat)$/,
  /^set .* of b32\./,
  // Unsigned comparisons of floats and signed integers, comparisons for floats of integers.
  /^setp? .* with \.(?:lo|ls|hi|hs)$/,
  /^vset[24]? .* with \.(?:lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan)$/,
  /^atom .* of [us](?:32|64)$/,
  /^(?:ld|st) .* with \.128B$/,
  // Refused by name: `instructionRules.ts`.
  /^vsh[lr] .* with \.(?:min|max)$/,
  /^vshl .* with \.sat$/,
];

const instructions: readonly IrInstruction[] = parseModule(probeModule(allForms), 'probes').functions.flatMap(
  (fn) => fn.instructions,
);

function others(instruction: IrInstruction): string[] {
  return instruction.modifiers.filter((modifier) => !isScalarType(modifier));
}

function matches(form: InstructionForm, instruction: IrInstruction): boolean {
  const modifiers = others(instruction);
  return (
    form.types.test(instruction.types.join('.')) &&
    modifiers.every((modifier) => form.allowed.test(modifier)) &&
    form.required.every((required) => modifiers.some((modifier) => required.test(modifier)))
  );
}

/** Single words among the alternatives of a form's modifiers. */
function modifiersOf(form: InstructionForm): string[] {
  const words = form.allowed.source.replace(/^\^\(\?:|\)\$$/g, '').split('|');
  return words.filter((word) => /^\w+$/.test(word) && !withoutValue.test(word));
}

const scalarTypes =
  'pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 u16x2 s16x2 e4m3x2 e5m2x2 tf32 f32 f64'.split(
    ' ',
  ) as ScalarType[];

/** Every list of types that a form takes. */
function typeListsOf(form: InstructionForm): string[] {
  const one = scalarTypes.map((type): string => type);
  const two = one.flatMap((first) => one.map((second) => `${first}.${second}`));
  const three = two.flatMap((first) => one.map((second) => `${first}.${second}`));
  return ['', ...one, ...two, ...three].filter((types) => form.types.test(types));
}

function missing(opcode: string): string[] {
  const own = instructions.filter((instruction) => instruction.opcode === opcode);
  const texts: string[] = [];
  formsOf(opcode).forEach((form, index) => {
    const covering = own.filter((instruction) => matches(form, instruction));
    const typeLists = typeListsOf(form);
    const name = `${opcode} form ${index}`;
    for (const types of typeLists) {
      if (!covering.some((each) => each.types.join('.') === types)) texts.push(`${name} of ${types}`);
    }
    for (const modifier of modifiersOf(form)) {
      if (!covering.some((each) => others(each).includes(modifier)))
        texts.push(`${name}${typeLists.length < 3 ? ` of ${typeLists.join(', ')}` : ''} with .${modifier}`);
    }
  });
  return texts;
}

describe('forms of the simulator without a vector', () => {
  const named = new Set(Object.values(elsewhere).flat());

  it.each(supportedOpcodes().filter((opcode) => !named.has(opcode)))('%s', (opcode) => {
    const texts = missing(opcode).filter((text) => !unassembled.some((each) => each.test(text)));
    expect(texts).toEqual([]);
  });

  it('names only opcodes that have forms', () => {
    expect([...named].filter((opcode) => formsOf(opcode).length === 0)).toEqual([]);
  });
});
