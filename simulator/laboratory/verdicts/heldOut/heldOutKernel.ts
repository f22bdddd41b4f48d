import {
  float,
  indices,
  integer,
  reads,
  struct,
  updates,
  writes,
  type KernelManifest,
  type ManifestParameter,
} from '../corpus/manifest.js';

export { float, indices, integer, reads, struct, updates, writes };

export type GivenSizes = Readonly<Record<string, number>>;

/** A held-out kernel and the sizes with which it is launched. */
export interface HeldOutKernel extends Omit<KernelManifest, 'family' | 'sizes' | 'weight'> {
  /** File of its source: the family of the table. */
  readonly source: Source;
  /** Sizes of its launches: with the first its buffers lie in every way, with the others apart and adjacent. */
  readonly sizes: readonly GivenSizes[];
}

export const SOURCES = ['frameworks', 'suites', 'fused', 'tiles', 'primitives', 'handWritten'] as const;
export type Source = (typeof SOURCES)[number];

export type Shape = Pick<HeldOutKernel, 'grid' | 'block' | 'sharedBytes'>;

/** Blocks of `threads` threads that cover a count. */
export const over = (count: string, threads = 64): Shape => ({
  grid: [`${count}/${threads}`],
  block: [threads],
});

export function kernels(source: Source) {
  return (
    entry: string,
    sizes: readonly GivenSizes[],
    shape: Shape,
    parameters: readonly ManifestParameter[],
  ): HeldOutKernel => ({ source, entry, sizes, ...shape, parameters });
}

export const f32 = (count: string | number) => reads('f32', count);
export const toF32 = (count: string | number) => writes('f32', count);
export const i32 = (count: string | number) => reads('i32', count);
export const toI32 = (count: string | number) => writes('i32', count);
/** Floats that are read and written in 8 or 16 bytes at once. */
export const vec = (count: string | number, align = 16) => reads('f32', count, { align });
export const toVec = (count: string | number, align = 16) => writes('f32', count, { align });

/** The sizes n = 0, 1 and around a block, after one of some blocks. */
export const counts = (first: number, block = 64): readonly GivenSizes[] =>
  [first, 0, 1, block - 1, block + 1].map((n) => ({ n }));
