import { comparisons, form, type FormTable, type InstructionForm } from './formRule.js';

const three = '[us]32\\.[us]32\\.[us]32';
const two = '[us]32\\.[us]32';

/** Scalar: `d, a, b` or, with a second operation or a selected part of d, `d, a, b, c`. */
const scalar: InstructionForm[] = [form(three, 'sat|add|min|max', 'i <- i i {i}')];

/** SIMD of two halves or four bytes: c is always there; `.add` accumulates, without `.sat`. */
const simd = [form(three, 'sat', 'i <- i i i'), form(three, 'add', 'i <- i i i', 'add')];
const simdCompare = [form(two, `${comparisons}|add`, 'i <- i i i', comparisons)];

/**
 * Video instructions. The parts that operands select (`%r1.b0`, `-%r2.h1`) are in `IrInstruction.selectors`.
 */
export const videoForms: FormTable = {
  vadd: scalar,
  vsub: scalar,
  vabsdiff: scalar,
  vmin: scalar,
  vmax: scalar,
  vshl: [form('[us]32\\.[us]32\\.u32', 'sat|add|min|max|clamp|wrap', 'i <- i i {i}', 'clamp|wrap')],
  vshr: [form('[us]32\\.[us]32\\.u32', 'sat|add|min|max|clamp|wrap', 'i <- i i {i}', 'clamp|wrap')],
  vmad: [form(three, 'sat|po|shr7|shr15', 'i <- i i i')],
  vset: [form(two, `${comparisons}|add|min|max`, 'i <- i i {i}', comparisons)],
  vadd2: simd,
  vsub2: simd,
  vavrg2: simd,
  vabsdiff2: simd,
  vmin2: simd,
  vmax2: simd,
  vset2: simdCompare,
  vadd4: simd,
  vsub4: simd,
  vavrg4: simd,
  vabsdiff4: simd,
  vmin4: simd,
  vmax4: simd,
  vset4: simdCompare,
};
