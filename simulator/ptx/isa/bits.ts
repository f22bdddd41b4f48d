import { bitTypes, comparisons, form, type FormTable } from './formRule.js';

const logic = [form(`pred|${bitTypes}`, '', 'T <- T T')];
const selected = '[bus](?:16|32|64)|f32|f64';

/** Moves, logic, shifts, bit fields, comparison and selection. */
export const bitForms: FormTable = {
  mov: [form('pred|[bus](?:16|32|64)|f32|f64', '', 'vT <- vT')],
  and: logic,
  or: logic,
  xor: logic,
  not: [form(`pred|${bitTypes}`, '', 'T <- T')],
  cnot: [form(bitTypes, '', 'T <- T')],
  lop3: [form('b32', '', 'T <- T T T i'), form('b32', 'and|or', 'T|p <- T T T i p', 'and|or')],
  shl: [form(bitTypes, '', 'T <- T i')],
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
  setp: [form(selected, `${comparisons}|and|or|xor|ftz`, 'p|p <- T T {p}', comparisons)],
  set: [
    form(`(?:[bus]32|f32)\\.(?:${selected})`, `${comparisons}|and|or|xor|ftz`, 'T1 <- T T {p}', comparisons),
  ],
  selp: [form(selected, '', 'T <- T T p')],
  slct: [form(`(?:${selected})\\.(?:s32|f32)`, 'ftz', 'T1 <- T1 T1 T')],
};
