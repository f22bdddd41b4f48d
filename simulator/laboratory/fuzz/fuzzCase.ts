import type { Dim3 } from '../../executor/index.js';

/** A random kernel with everything that a launch of it needs. */
export interface FuzzCase {
  readonly seed: number;
  /** PTX text of a module with one entry, `fuzz(in, out, counters, n, scale)`. */
  readonly text: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly cluster?: Dim3 | undefined;
  readonly dynamicSharedBytes: number;
  /** Read-only words. */
  readonly input: Int32Array;
  /** Bytes of the output: a piece for each thread of the grid. */
  readonly outputBytes: number;
  /** Initial values of the counters that all threads update. */
  readonly counters: Int32Array;
  readonly n: number;
  readonly scale: number;
}

/** Bytes of the output that belong to one thread: a scratch half and a half for the final registers. */
export const threadBytes = 512;
/** Where threads lie side by side: so many planes for every size of 1 to 16 bytes, behind the pieces of all threads. */
export const planes = 4;
const LARGEST = 16;

/** Where the planes of places of `size` bytes begin, behind the pieces; with all threads of the grid in each. */
export function planesOffset(size: number, gridThreads: number): number {
  return 2 * (LARGEST - size) * planes * gridThreads;
}

/** Bytes of all planes. */
export function planesBytes(gridThreads: number): number {
  return (2 * LARGEST - 1) * planes * gridThreads;
}

export const dumpOffset = 256;
/** Where the f64 registers lie among the final ones: behind the 64-bit integers. */
export const doublesDumpOffset = dumpOffset + 6 * 8;
export const doublesDumpBytes = 5 * 8;
export const inputWords = 1024;

/** What each 8-byte counter takes; each in one way only, so that the order of threads does not show. */
export const counterOperations = [
  'add.u32',
  'min.s32',
  'max.u32',
  'and.b32',
  'or.b32',
  'xor.b32',
  'add.u64',
  'inc.u32',
] as const;

/** Further counters, behind those: what each takes. */
export const wideCounterOperations = [
  'min.u32',
  'max.s32',
  'min.u64',
  'max.s64',
  'min.s64',
  'max.u64',
  'and.b64',
  'or.b64',
  'xor.b64',
  'dec.u32',
  'add.f32',
  'add.f64',
  'add.noftz.f16x2',
  'add.noftz.bf16',
] as const;
export const wideCounterOffset = counterOperations.length * 8;
