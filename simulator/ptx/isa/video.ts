import { comparisons, form, type InstructionForm, since } from './form.js';
import { computes } from './parts.js';

const three = '[us]32\\.[us]32\\.[us]32';
const two = '[us]32\\.[us]32';

/** Scalar: `d, a, b` or, with a second operation or a selected part of d, `d, a, b, c`. */
const scalar: InstructionForm[] = [form(three, 'sat|add|min|max', 'i <- i i {i}')];

/** SIMD of two halves or four bytes: c is always there; `.add` accumulates, without `.sat`. */
const simd = [form(three, 'sat', 'i <- i i i'), form(three, 'add', 'i <- i i i', 'add')];
const simdCompare = [form(two, `${comparisons}|add`, 'i <- i i i', comparisons)];

function video(forms: readonly InstructionForm[], cost: 'video' | 'packedVideo' = 'video') {
  return computes({
    forms: cost === 'video' ? since('2.0', 20, ...forms) : since('3.0', 30, ...forms),
    counted: 'byType',
    cost,
    registers: 'plain',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'none',
    syntax: { hasSelectors: true, rule: 'video' },
  });
}

/**
 * Video instructions. The parts that operands select (`%r1.b0`, `-%r2.h1`) are in `IrInstruction.selectors`.
 */
export const videos = {
  vadd: video(scalar),
  vsub: video(scalar),
  vabsdiff: video(scalar),
  vmin: video(scalar),
  vmax: video(scalar),
  vshl: video([form('[us]32\\.[us]32\\.u32', 'sat|add|min|max|clamp|wrap', 'i <- i i {i}', 'clamp|wrap')]),
  vshr: video([form('[us]32\\.[us]32\\.u32', 'sat|add|min|max|clamp|wrap', 'i <- i i {i}', 'clamp|wrap')]),
  vmad: video([form(three, 'sat|po|shr7|shr15', 'i <- i i i')]),
  vset: video([form(two, `${comparisons}|add|min|max`, 'i <- i i {i}', comparisons)]),
  vadd2: video(simd, 'packedVideo'),
  vsub2: video(simd, 'packedVideo'),
  vavrg2: video(simd, 'packedVideo'),
  vabsdiff2: video(simd, 'packedVideo'),
  vmin2: video(simd, 'packedVideo'),
  vmax2: video(simd, 'packedVideo'),
  vset2: video(simdCompare, 'packedVideo'),
  vadd4: video(simd, 'packedVideo'),
  vsub4: video(simd, 'packedVideo'),
  vavrg4: video(simd, 'packedVideo'),
  vabsdiff4: video(simd, 'packedVideo'),
  vmin4: video(simd, 'packedVideo'),
  vmax4: video(simd, 'packedVideo'),
  vset4: video(simdCompare, 'packedVideo'),
};
