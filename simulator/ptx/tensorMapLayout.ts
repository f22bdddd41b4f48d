/**
 * Where the fields of a tensor map lie in its 128 bytes, which CUDA leaves open: this layout is ours, so that a map comes from
 * `simulator/tensorMaps` and nowhere else. Dimensions that a map has not are of one element.
 */
export const TENSOR_MAP = {
  bytes: 128,
  /** It is a kernel's parameter or lies in global memory at a multiple of this. */
  align: 64,
  base: 0,
  type: 8,
  rank: 12,
  /** Logarithm of an element's bytes. */
  sizeLog: 16,
  /** Address bits that are xored into those three places below. */
  swizzle: 20,
  /** What stands for elements outside, as a word. */
  fill: 24,
  /** Of each dimension, innermost first: words. */
  box: 32,
  step: 52,
  last: 72,
  /** Of each dimension but the first: its stride in bytes, 8 bytes each. */
  strides: 96,
} as const;

/** Types of elements, numbered as `CUtensorMapDataType` does. */
export const TENSOR_TYPES = {
  u8: { code: 0, bytes: 1 },
  u16: { code: 1, bytes: 2 },
  u32: { code: 2, bytes: 4 },
  i32: { code: 3, bytes: 4 },
  u64: { code: 4, bytes: 8 },
  i64: { code: 5, bytes: 8 },
  f16: { code: 6, bytes: 2 },
  f32: { code: 7, bytes: 4 },
  f64: { code: 8, bytes: 8 },
  bf16: { code: 9, bytes: 2 },
} as const;

export type TensorType = keyof typeof TENSOR_TYPES;
