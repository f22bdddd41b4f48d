/**
 * The instruction forms that the simulator runs, by rule. A form says which types the instruction ends in (joined by
 * dots), which other modifiers it may and must have, and the types of its operands: a type of its own, `T` for its last
 * type, `S` for the one before, `W` for twice the width of T, `a` for an address, `i` for any 32-bit integer, `p` for a
 * predicate. Braces mark what may be absent; `v` before a type allows a vector of it, `|p` a predicate beside it.
 */
export interface InstructionForm {
  /** Of the whole list of types, joined by dots. */
  readonly types: RegExp;
  /** Every modifier that is no type must match this. */
  readonly allowed: RegExp;
  /** Some modifier must match each of these. */
  readonly required: readonly RegExp[];
  readonly destinations: readonly string[];
  readonly sources: readonly string[];
}

function form(types: string, modifiers: string, operands: string, ...required: string[]): InstructionForm {
  const [destinations = '', sources = ''] = operands.split('<-').map((side) => side.trim());
  return {
    types: new RegExp(`^(?:${types})$`),
    allowed: new RegExp(`^(?:${modifiers === '' ? '(?!)' : modifiers})$`),
    required: required.map((each) => new RegExp(`^(?:${each})$`)),
    destinations: destinations === '' ? [] : destinations.split(' '),
    sources: sources === '' ? [] : sources.split(' '),
  };
}

const int = '[us](?:16|32|64)';
const bits = 'b(?:16|32|64)';
const rounding = 'rn|rz|rm|rp';
const any = '[bus](?:8|16|32|64)|f32|f64';
const compare = 'eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan';
const spaces = 'global|shared|shared::cta|local|param|param::entry|param::func|const';
const order = 'weak|relaxed|acquire|release|acq_rel|volatile|cta|cluster|gpu|sys';
const caching = 'ca|cg|cs|lu|cv|wb|wt|L1::\\w+|L2::(?:64B|128B|256B)';

const arithmetic = (extra: InstructionForm[] = []): InstructionForm[] => [
  form(int, '', 'T <- T T'),
  form('f32', `${rounding}|ftz|sat`, 'T <- T T'),
  form('f64', rounding, 'T <- T T'),
  ...extra,
];

const extremes = [form(int, '', 'T <- T T'), form('f32', 'ftz|NaN', 'T <- T T'), form('f64', '', 'T <- T T')];

const multiplyAdd = [
  form(int, 'lo|hi', 'T <- T T T', 'lo|hi'),
  form('s32', 'hi|sat', 'T <- T T T', 'hi', 'sat'),
  form('[us](?:16|32)', 'wide', 'W <- T T W', 'wide'),
  form('f32', `${rounding}|ftz|sat`, 'T <- T T T'),
  form('f64', rounding, 'T <- T T T', rounding),
];

const logic = [form(`pred|${bits}`, '', 'T <- T T')];
const approximate = [form('f32', 'approx|ftz', 'T <- T', 'approx')];

export const instructionForms: Readonly<Record<string, readonly InstructionForm[]>> = {
  mov: [form('pred|[bus](?:16|32|64)|f32|f64', '', 'vT <- vT')],
  ld: [form(any, `${spaces}|${order}|${caching}|nc|v2|v4`, 'vT <- a')],
  ldu: [form(any, 'global|v2|v4', 'vT <- a')],
  st: [form(any, `global|shared|shared::cta|local|param|param::func|${order}|${caching}|v2|v4`, '<- a vT')],
  cvta: [form('u64', 'to|global|shared|shared::cta|local|const', 'T <- T')],
  isspacep: [form('', 'global|shared|shared::cta|local|const', 'p <- u64')],
  cvt: [
    form('[us](?:8|16|32|64)\\.[us](?:8|16|32|64)', 'sat', 'T1 <- T'),
    form(
      '[us](?:8|16|32|64)\\.(?:f16|bf16|f32|f64)',
      'rni|rzi|rmi|rpi|ftz|sat',
      'T1 <- T',
      'rni|rzi|rmi|rpi',
    ),
    form('(?:f16|bf16|f32|f64)\\.[us](?:8|16|32|64)', `${rounding}|sat`, 'T1 <- T', rounding),
    form('f32\\.f64|f16\\.f64', `${rounding}|ftz|sat`, 'T1 <- T', rounding),
    form('f16\\.f32|bf16\\.f32', `${rounding}|ftz|sat|relu`, 'T1 <- T', rounding),
    form('f64\\.(?:f32|f16|bf16)|f32\\.(?:f16|bf16)', 'ftz|sat', 'T1 <- T'),
    form('f32\\.f32|f64\\.f64|f16\\.f16', 'rni|rzi|rmi|rpi|ftz|sat', 'T1 <- T'),
    form('f16x2\\.f32|bf16x2\\.f32', 'rn|rz|relu', 'T1 <- T T', 'rn|rz'),
  ],
  add: arithmetic([form('s32', 'sat', 'T <- T T', 'sat')]),
  sub: arithmetic([form('s32', 'sat', 'T <- T T', 'sat')]),
  mul: [
    form(int, 'lo|hi', 'T <- T T', 'lo|hi'),
    form('[us](?:16|32)', 'wide', 'W <- T T', 'wide'),
    form('f32', `${rounding}|ftz|sat`, 'T <- T T'),
    form('f64', rounding, 'T <- T T'),
  ],
  mad: multiplyAdd,
  fma: [
    form('f32', `${rounding}|ftz|sat`, 'T <- T T T', rounding),
    form('f64', rounding, 'T <- T T T', rounding),
  ],
  mul24: [form('[us]32', 'lo|hi', 'T <- T T', 'lo|hi')],
  mad24: [form('[us]32', 'lo|hi', 'T <- T T T', 'lo|hi'), form('s32', 'hi|sat', 'T <- T T T', 'hi', 'sat')],
  sad: [form(int, '', 'T <- T T T')],
  div: [
    form(int, '', 'T <- T T'),
    form('f32', `approx|full|${rounding}|ftz`, 'T <- T T', `approx|full|${rounding}`),
    form('f64', rounding, 'T <- T T', rounding),
  ],
  rem: [form(int, '', 'T <- T T')],
  neg: [form('s(?:16|32|64)', '', 'T <- T'), form('f32', 'ftz', 'T <- T'), form('f64', '', 'T <- T')],
  abs: [form('s(?:16|32|64)', '', 'T <- T'), form('f32', 'ftz', 'T <- T'), form('f64', '', 'T <- T')],
  min: extremes,
  max: extremes,
  copysign: [form('f32|f64', '', 'T <- T T')],
  testp: [form('f32|f64', 'finite|infinite|number|notanumber|normal|subnormal', 'p <- T', '\\w+')],
  rcp: [
    form('f32', `approx|${rounding}|ftz`, 'T <- T', `approx|${rounding}`),
    form('f64', rounding, 'T <- T', rounding),
    form('f64', 'approx|ftz', 'T <- T', 'approx', 'ftz'),
  ],
  sqrt: [
    form('f32', `approx|${rounding}|ftz`, 'T <- T', `approx|${rounding}`),
    form('f64', rounding, 'T <- T', rounding),
  ],
  rsqrt: [form('f32|f64', 'approx|ftz', 'T <- T', 'approx')],
  sin: approximate,
  cos: approximate,
  lg2: approximate,
  ex2: approximate,
  tanh: [form('f32', 'approx', 'T <- T', 'approx')],
  and: logic,
  or: logic,
  xor: logic,
  not: [form(`pred|${bits}`, '', 'T <- T')],
  cnot: [form(bits, '', 'T <- T')],
  lop3: [form('b32', '', 'T <- T T T i')],
  shl: [form(bits, '', 'T <- T i')],
  shr: [form('[bus](?:16|32|64)', '', 'T <- T i')],
  shf: [form('b32', 'l|r|clamp|wrap', 'T <- T T i', 'l|r', 'clamp|wrap')],
  bfe: [form('[us](?:32|64)', '', 'T <- T i i')],
  bfi: [form('b32|b64', '', 'T <- T T i i')],
  bfind: [form('[us](?:32|64)', 'shiftamt', 'u32 <- T')],
  popc: [form('b32|b64', '', 'u32 <- T')],
  clz: [form('b32|b64', '', 'u32 <- T')],
  brev: [form('b32|b64', '', 'T <- T')],
  bmsk: [form('b32', 'clamp|wrap', 'T <- i i', 'clamp|wrap')],
  szext: [form('[us]32', 'clamp|wrap', 'T <- T i', 'clamp|wrap')],
  fns: [form('b32', '', 'T <- T i i')],
  prmt: [form('b32', 'f4e|b4e|rc8|ecl|ecr|rc16', 'T <- T T i')],
  dp4a: [form('[us]32\\.[us]32', '', 'i <- i i i')],
  dp2a: [form('[us]32\\.[us]32', 'lo|hi', 'i <- i i i', 'lo|hi')],
  setp: [form('[bus](?:16|32|64)|f32|f64', `${compare}|and|or|xor|ftz`, 'p|p <- T T {p}', compare)],
  set: [
    form(
      '(?:[bus]32|f32)\\.(?:[bus](?:16|32|64)|f32|f64)',
      `${compare}|and|or|xor|ftz`,
      'T1 <- T T {p}',
      compare,
    ),
  ],
  selp: [form('[bus](?:16|32|64)|f32|f64', '', 'T <- T T p')],
  slct: [form('(?:[bus](?:16|32|64)|f32|f64)\\.(?:s32|f32)', 'ftz', 'T1 <- T1 T1 T')],
  bra: [form('', 'uni', '<- l')],
  ret: [form('', 'uni', '<-')],
  exit: [form('', '', '<-')],
  trap: [form('', '', '<-')],
  bar: [form('', 'cta|sync', '<- i', 'sync'), form('', 'warp|sync', '<- i', 'warp', 'sync')],
  barrier: [form('', 'cta|sync|aligned', '<- i', 'sync')],
  membar: [form('', 'cta|gl|sys', '<-')],
  fence: [form('', 'sc|acq_rel|acquire|release|cta|cluster|gpu|sys', '<-')],
  nanosleep: [form('u32', '', '<- i')],
  prefetch: [form('', 'global|local|L1|L2|L2::\\w+', '<- a')],
  activemask: [form('b32', '', 'T <-')],
  shfl: [form('b32', 'sync|up|down|bfly|idx', 'T|p <- T i i i', 'sync', 'up|down|bfly|idx')],
  vote: [
    form('pred', 'sync|all|any|uni', 'p <- p i', 'sync', 'all|any|uni'),
    form('b32', 'sync|ballot', 'T <- p i', 'sync', 'ballot'),
  ],
  match: [
    form('b32|b64', 'sync|any', 'u32 <- T i', 'sync', 'any'),
    form('b32|b64', 'sync|all', 'u32|p <- T i', 'sync', 'all'),
  ],
  redux: [
    form('[us]32', 'sync|add|min|max', 'T <- T i', 'sync', 'add|min|max'),
    form('b32', 'sync|and|or|xor', 'T <- T i', 'sync', 'and|or|xor'),
  ],
  atom: [
    ...atomics('T <- a T'),
    form('b32|b64', `global|shared|shared::cta|${order}|exch`, 'T <- a T', 'exch'),
    form('b32|b64|[us](?:32|64)', `global|shared|shared::cta|${order}|cas`, 'T <- a T T', 'cas'),
  ],
  red: atomics('<- a T'),
};

function atomics(operands: string): InstructionForm[] {
  const where = `global|shared|shared::cta|${order}`;
  return [
    form('[us](?:32|64)', `${where}|add|min|max`, operands, 'add|min|max'),
    form('f32|f64', `${where}|add`, operands, 'add'),
    form('u32', `${where}|inc|dec`, operands, 'inc|dec'),
    form('b32|b64', `${where}|and|or|xor`, operands, 'and|or|xor'),
  ];
}
