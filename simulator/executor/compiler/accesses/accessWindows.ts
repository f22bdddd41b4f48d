import type { FunctionBuilder } from '../../../wasm/index.js';
import type { AccessGroup } from '../analysis/index.js';
import { CACHE } from '../area/index.js';

/** Locals that hold one access cache inside a function. */
export interface CacheLocals {
  readonly base: number;
  readonly limit: number;
  readonly offset: number;
}

/** Reads an access cache from the area, at a function's start and after it was replaced. */
export function loadCache(f: FunctionBuilder, { cacheAt }: AccessGroup, locals: CacheLocals): void {
  f.area()
    .memory('i64Load', cacheAt + CACHE.base)
    .set(locals.base);
  f.area()
    .memory('i64Load', cacheAt + CACHE.limit)
    .set(locals.limit);
  f.area()
    .memory('i32Load', cacheAt + CACHE.offset)
    .set(locals.offset);
}

/** Places of `bytes` bytes in memory of some size; an access of that size may start at each. */
export function placesIn(extent: number, bytes: number): number {
  return Math.floor(extent / bytes);
}

/**
 * Makes the offset on the stack the number of its place. Rotating it right by log2 of the size turns low bits that are set
 * (a misaligned access) into high ones, so that one unsigned compare with the number of places checks alignment and bounds.
 */
export function placeOf(f: FunctionBuilder, bytes: number, type: 'i32' | 'i64'): FunctionBuilder {
  if (bytes === 1) return f;
  const log2 = Math.log2(bytes);
  return type === 'i32' ? f.i32(log2).op('i32Rotr') : f.i64(log2).op('i64Rotr');
}
