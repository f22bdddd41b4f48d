import type { IrInstruction } from './ir.js';

type Spelling = Pick<IrInstruction, 'opcode' | 'modifiers'>;

const families: readonly (readonly [RegExp, string])[] = [
  [
    /^(tex|tld4|txq|suld|sust|sured|suq|istypep)\b/,
    'textures and surfaces are not supported: read the data from global memory',
  ],
  [
    /^(mma|wmma|wgmma|ldmatrix|stmatrix|movmatrix|tcgen05)\b/,
    'tensor cores are not supported: compile for fma instead',
  ],
  [/^multimem\b/, 'multicast memory is not supported: store to each GPU by itself'],
  [
    /^mbarrier\b|\bmbarrier\b|\bbulk\b|\btensormap\b|^(st|red)\.async\b/,
    'mbarriers and bulk copies are not supported',
  ],
  [
    /\bcluster\b|^(mapa|getctarank|clusterlaunchcontrol)\b/,
    'clusters of more than one block are not supported: launch without a cluster',
  ],
  [
    /^(alloca|stacksave|stackrestore)\b/,
    'an allocation on the stack has no guard and an alignment of at most 16 bytes here',
  ],
];

/** Why an instruction without a form cannot run, and what to do instead where something can be done. */
export function refusalReason({ opcode, modifiers }: Spelling, isKnownOpcode: boolean): string {
  const text = [opcode, ...modifiers].join('.');
  for (const [pattern, reason] of families) {
    if (pattern.test(text)) return reason;
  }
  return isKnownOpcode
    ? 'this combination of modifiers and types is not supported'
    : 'this instruction is not supported';
}
