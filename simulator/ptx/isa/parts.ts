import type { Effects, HeldBy, Row, Syntax, Taint } from './row.js';

/** Effects, syntax and taint that many rows share. */

const NOTHING = {
  reads: undefined,
  writes: undefined,
  isReadOnly: false,
  meets: undefined,
  isAligned: false,
  control: undefined,
  isAgreed: false,
  isAsync: false,
} as const;

export const effects = {
  pure: { ...NOTHING, kind: 'pure' },
  address: { ...NOTHING, kind: 'address' },
  load: { ...NOTHING, kind: 'load', reads: 'asWritten' },
  readOnlyLoad: { ...NOTHING, kind: 'load', reads: 'global', isReadOnly: true },
  store: { ...NOTHING, kind: 'store', writes: 'asWritten' },
  atomic: { ...NOTHING, kind: 'atomic', reads: 'asWritten', writes: 'asWritten' },
  reduction: { ...NOTHING, kind: 'reduction', reads: 'asWritten', writes: 'asWritten' },
  copy: { ...NOTHING, kind: 'copy', reads: 'global', writes: 'shared', isAsync: true },
  discard: { ...NOTHING, kind: 'discard', writes: 'global' },
  hint: { ...NOTHING, kind: 'hint' },
  fence: { ...NOTHING, kind: 'fence' },
  wait: { ...NOTHING, kind: 'wait' },
  barrier: { ...NOTHING, kind: 'barrier', meets: 'block' },
  alignedBarrier: { ...NOTHING, kind: 'barrier', meets: 'block', isAligned: true },
  exchange: { ...NOTHING, kind: 'exchange', meets: 'warp' },
  agreement: { ...NOTHING, kind: 'exchange', meets: 'warp', isAgreed: true },
  matrix: { ...NOTHING, kind: 'matrix', meets: 'warp', isAligned: true },
  /** By a handle, from memory that its object names. */
  fetch: { ...NOTHING, kind: 'fetch', reads: 'global' },
  query: { ...NOTHING, kind: 'query' },
  surfaceLoad: { ...NOTHING, kind: 'surface', reads: 'global' },
  surfaceStore: { ...NOTHING, kind: 'surface', writes: 'global' },
  surfaceReduction: { ...NOTHING, kind: 'surface', reads: 'global', writes: 'global' },
  branch: { ...NOTHING, kind: 'branch', control: 'goes' },
  switch: { ...NOTHING, kind: 'switch', control: 'goes' },
  return: { ...NOTHING, kind: 'return', control: 'ends' },
  exit: { ...NOTHING, kind: 'exit', control: 'ends' },
  trap: { ...NOTHING, kind: 'trap', control: 'ends' },
  breakpoint: { ...NOTHING, kind: 'breakpoint', control: 'stops' },
  call: { ...NOTHING, kind: 'call', reads: 'any', writes: 'any', control: 'calls' },
  /** For all lanes that come together. */
  host: { ...NOTHING, kind: 'host', reads: 'any', writes: 'any', meets: 'warp' },
  unknown: { ...NOTHING, kind: 'unknown', reads: 'any', writes: 'any' },
} as const satisfies Readonly<Record<string, Effects>>;

/** Spellings of the first targets. */
export const early = {
  flushing: { single: undefined, double: undefined, isFlushing: true },
  fused: { single: undefined, double: 'rn', isFlushing: true },
  accurate: { single: 'approx', double: 'rn', isFlushing: true },
  approximate: { single: 'approx', double: 'approx', isFlushing: true },
} as const;

const PLAIN: Syntax = {
  writes: 'always',
  isWider: false,
  isNegatable: false,
  isMove: false,
  hasSelectors: false,
  early: { single: undefined, double: undefined, isFlushing: false },
  carry: undefined,
  rule: 'vector',
  hints: undefined,
  isBraced: false,
  rewritten: undefined,
};

/** How an instruction is written: as most are, but for what is said. */
export function syntax(differences: Partial<Syntax> = {}): Syntax {
  return { ...PLAIN, ...differences };
}

export const UNTAINTED: Taint = { kind: 'none' };
export const TAINTED: Taint = { kind: 'always' };

/** A row, whose kind of effect its type keeps. */
export function row<const E extends Effects>(
  of: E,
  told: Omit<Row, 'effects'>,
): Row & { readonly effects: E } {
  return { ...told, effects: of };
}

type Told = Pick<Row, 'forms' | 'counted' | 'cost' | 'registers' | 'isUniform' | 'nanBits' | 'pointers'>;

/** A row of what computes registers from registers: what follows of that, and what differs between such rows. */
export function computes({
  syntax: differences,
  heldBy = 'vectors',
  ...told
}: Told & { readonly syntax?: Partial<Syntax>; readonly heldBy?: HeldBy }) {
  return row(effects.pure, {
    ...told,
    syntax: syntax(differences),
    taint: UNTAINTED,
    watch: 'nothing',
    heldBy,
  });
}
