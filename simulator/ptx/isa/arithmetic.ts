import { form, type FormTable, type InstructionForm, integers, rounding } from './formRule.js';

const addition = [
  form(integers, '', 'T <- T T'),
  form('s32', 'sat', 'T <- T T', 'sat'),
  form('f32', `${rounding}|ftz|sat`, 'T <- T T'),
  form('f64', rounding, 'T <- T T'),
];

/** Additions that write the condition code; `addc` and `subc` read it as well. */
const withCarryOut = form('[us](?:32|64)', 'cc', 'T <- T T', 'cc');
const withCarryIn = [form('[us](?:32|64)', 'cc', 'T <- T T')];

const signs = [form('s(?:16|32|64)', '', 'T <- T'), form('f32', 'ftz', 'T <- T'), form('f64', '', 'T <- T')];

const extremes = [
  form(`${integers}|[us]16x2`, '', 'T <- T T'),
  form('s32|s16x2', 'relu', 'T <- T T', 'relu'),
  form('f32', 'ftz|NaN', 'T <- T T'),
  form('f32', 'ftz|NaN|xorsign|abs', 'T <- T T', 'xorsign', 'abs'),
  form('f64', '', 'T <- T T'),
];

const approximate: InstructionForm[] = [form('f32', 'approx|ftz', 'T <- T', 'approx')];

/** Integer and binary32/64 arithmetic. */
export const arithmeticForms: FormTable = {
  add: [...addition, withCarryOut, form('[us]16x2', '', 'T <- T T')],
  addc: withCarryIn,
  sub: [...addition, withCarryOut],
  subc: withCarryIn,
  mul: [
    form(integers, 'lo|hi', 'T <- T T', 'lo|hi'),
    form('[us](?:16|32)', 'wide', 'W <- T T', 'wide'),
    form('f32', `${rounding}|ftz|sat`, 'T <- T T'),
    form('f64', rounding, 'T <- T T'),
  ],
  mad: [
    form(integers, 'lo|hi', 'T <- T T T', 'lo|hi'),
    form('s32', 'hi|sat', 'T <- T T T', 'hi', 'sat'),
    form('[us](?:16|32)', 'wide', 'W <- T T W', 'wide'),
    form('[us](?:32|64)', 'lo|hi|cc', 'T <- T T T', 'lo|hi', 'cc'),
    form('f32', `${rounding}|ftz|sat`, 'T <- T T T'),
    form('f64', rounding, 'T <- T T T', rounding),
  ],
  madc: [form('[us](?:32|64)', 'lo|hi|cc', 'T <- T T T', 'lo|hi')],
  fma: [
    form('f32', `${rounding}|ftz|sat`, 'T <- T T T', rounding),
    form('f64', rounding, 'T <- T T T', rounding),
  ],
  mul24: [form('[us]32', 'lo|hi', 'T <- T T', 'lo|hi')],
  mad24: [form('[us]32', 'lo|hi', 'T <- T T T', 'lo|hi'), form('s32', 'hi|sat', 'T <- T T T', 'hi', 'sat')],
  sad: [form(integers, '', 'T <- T T T')],
  div: [
    form(integers, '', 'T <- T T'),
    form('f32', `approx|full|${rounding}|ftz`, 'T <- T T', `approx|full|${rounding}`),
    form('f64', rounding, 'T <- T T', rounding),
  ],
  rem: [form(integers, '', 'T <- T T')],
  neg: signs,
  abs: signs,
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
};
