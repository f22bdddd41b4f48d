import { form, integralRounding, rounding, since } from './form.js';
import { computes, early } from './parts.js';

const int = '[us](?:8|16|32|64)';
const float = 'f16|bf16|f32|f64';

/** `cvt` in all its pairs of types. */
export const conversions = {
  cvt: computes({
    forms: [
      form(`${int}\\.${int}`, 'sat', 'T1 <- T'),
      form(`${int}\\.(?:${float})`, `${integralRounding}|ftz|sat`, 'T1 <- T', integralRounding),
      form(`(?:${float})\\.${int}`, `${rounding}|sat`, 'T1 <- T', rounding),
      form('(?:f32|f16|bf16)\\.f64', `${rounding}|ftz|sat`, 'T1 <- T', rounding),
      form('(?:f16|bf16)\\.f32', `${rounding}|ftz|sat`, 'T1 <- T', rounding),
      ...since('7.0', 80, form('(?:f16|bf16)\\.f32', 'rn|rz|relu|satfinite', 'T1 <- T', 'rn|rz')),
      form('f64\\.(?:f32|f16|bf16)|f32\\.(?:f16|bf16)', 'ftz|sat', 'T1 <- T'),
      ...since('7.8', 90, form('f16\\.bf16|bf16\\.f16', `${rounding}|ftz|sat`, 'T1 <- T')),
      form('f32\\.f32|f64\\.f64|f16\\.f16|bf16\\.bf16', `${integralRounding}|ftz|sat`, 'T1 <- T'),
      ...since('7.0', 80, form('f16x2\\.f32|bf16x2\\.f32', 'rn|rz|relu|satfinite', 'T1 <- T T', 'rn|rz')),
      ...since('7.0', 80, form('tf32\\.f32', 'rna|rn|rz|relu|satfinite', 'T1 <- T', 'rna|rn|rz')),
      ...since('7.8', 90, form('e[45]m[32]x2\\.f32', 'rn|satfinite|relu', 'T1 <- T T', 'rn', 'satfinite')),
      ...since('7.8', 90, form('e[45]m[32]x2\\.f16x2', 'rn|satfinite|relu', 'T1 <- T', 'rn', 'satfinite')),
      ...since('7.8', 90, form('f16x2\\.e[45]m[32]x2', 'rn|relu', 'T1 <- T', 'rn')),
      ...since('6.5', 72, form('[us]16\\.s32', 'pack|sat', 'b32 <- T T', 'pack', 'sat')),
      ...since('6.5', 72, form('[us]8\\.s32\\.b32', 'pack|sat', 'b32 <- s32 s32 T', 'pack', 'sat')),
    ],
    counted: 'convert',
    cost: 'conversion',
    registers: 'plain',
    isUniform: true,
    nanBits: 'asConverted',
    pointers: 'operands',
    syntax: { early: early.flushing, isWider: true, rewritten: 'special' },
  }),
};
