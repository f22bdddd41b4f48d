import { comparisons, form, since } from './form.js';

const half = 'f16|f16x2';
/** bfloat16: neither flushes nor saturates. */
const brain = 'bf16|bf16x2';

const addition = [
  ...since('4.2', 53, form(half, 'rn|ftz|sat', 'T <- T T')),
  ...since('7.8', 90, form(brain, 'rn', 'T <- T T')),
];
const signs = [
  ...since('6.0', 53, form(half, 'ftz', 'T <- T')),
  ...since('7.0', 80, form(brain, '', 'T <- T')),
];
const extremes = [
  ...since('7.0', 80, form(half, 'ftz|NaN', 'T <- T T'), form(brain, 'NaN', 'T <- T T')),
  ...since(
    '7.2',
    86,
    form(half, 'ftz|NaN|xorsign|abs', 'T <- T T', 'xorsign', 'abs'),
    form(brain, 'NaN|xorsign|abs', 'T <- T T', 'xorsign', 'abs'),
  ),
];
const compare = `${comparisons}|and|or|xor`;
const compared = '[bus](?:16|32|64)|f32|f64';

/** Arithmetic and comparison of binary16 and bfloat16, alone and in pairs. */
export const halfForms = {
  add: addition,
  sub: addition,
  mul: addition,
  fma: [
    ...since('4.2', 53, form(half, 'rn|ftz|sat', 'T <- T T T', 'rn')),
    ...since(
      '7.0',
      80,
      form(half, 'rn|ftz|relu', 'T <- T T T', 'rn', 'relu'),
      form(brain, 'rn|relu', 'T <- T T T', 'rn'),
    ),
  ],
  neg: signs,
  abs: signs,
  min: extremes,
  max: extremes,
  ex2: [
    ...since('7.0', 75, form(half, 'approx', 'T <- T', 'approx')),
    ...since('7.8', 90, form(brain, 'approx|ftz', 'T <- T', 'approx', 'ftz')),
  ],
  tanh: since('7.0', 75, form(`${half}|${brain}`, 'approx', 'T <- T', 'approx')),
  setp: since(
    '4.2',
    53,
    form('f16', `${compare}|ftz`, 'p <- T T {p}', comparisons),
    form('bf16', compare, 'p <- T T {p}', comparisons),
    form('f16x2', `${compare}|ftz`, 'p|p <- T T {p}', comparisons),
    form('bf16x2', compare, 'p|p <- T T {p}', comparisons),
  ),
  set: since(
    '4.2',
    53,
    form(`(?:f16|[us]16|[us]32)\\.f16`, `${compare}|ftz`, 'T1 <- T T {p}', comparisons),
    form(`(?:bf16|[us]16|[us]32)\\.bf16`, compare, 'T1 <- T T {p}', comparisons),
    form(`(?:f16x2|[us]32)\\.f16x2`, `${compare}|ftz`, 'T1 <- T T {p}', comparisons),
    form(`(?:bf16x2|[us]32)\\.bf16x2`, compare, 'T1 <- T T {p}', comparisons),
    form(`(?:f16|bf16)\\.(?:${compared})`, `${compare}|ftz`, 'T1 <- T T {p}', comparisons),
  ),
};
