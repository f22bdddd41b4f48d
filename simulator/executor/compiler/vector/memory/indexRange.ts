import type { VectorOperands } from '../operands/index.js';
import type { ChunkAccess, ChunkMemory } from './chunkAccess.js';
import type { IndexedAddress } from './indexedAddress.js';

/** Bases farther than this from the segment have no index that leads into it. */
const LOG2_FAR = 36;

/**
 * Sets the addresses of lanes whose address is a base plus an index, and leaves 1 when they have to be reached one by one.
 * The segment is turned into the range of indices that lead into it, so that lanes compare words of 32 bits.
 */
export function pushIndexed(
  v: VectorOperands,
  around: ChunkMemory,
  { address, bytes, group: cached, indexed, instruction }: ChunkAccess,
  ofGroup: (group: number) => number,
): void {
  const { f } = v;
  if (cached === undefined || indexed === undefined)
    throw new RangeError(`line ${instruction.line} has no index`);
  const cache = around.caches.cacheLocals(cached);
  const { log2Scale, isSigned } = indexed;
  const from = v.temporary('base in segment', 'i64');
  const [least, most] = [v.temporary('least index', 'i64'), v.temporary('most index', 'i64')];
  v.scalar.use(indexed.base, 'u64');
  if (address.offset !== 0) f.i64(address.offset).op('i64Add');
  f.get(cache.base).op('i64Sub').set(from);
  // from + index · scale is to be 0 at least, and (limit - 1) · bytes at most.
  f.i64(2 ** log2Scale - 1)
    .get(from)
    .op('i64Sub')
    .i64(log2Scale)
    .op('i64ShrS')
    .set(least);
  f.get(cache.limit).i64(1).op('i64Sub').i64(Math.log2(bytes)).op('i64Shl').get(from).op('i64Sub');
  f.i64(log2Scale).op('i64ShrS').set(most);
  const [lowest, highest] = isSigned ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
  f.get(least).i64(lowest).get(least).i64(lowest).op('i64GtS').op('select').set(least);
  f.get(most).i64(highest).get(most).i64(highest).op('i64LtS').op('select').set(most);

  const [first, origin] = [v.temporary('first index', 'v128'), v.temporary('origin', 'v128')];
  const [low, high] = [v.temporary('low indices', 'v128'), v.temporary('high indices', 'v128')];
  const index = v.temporary('indices', 'v128');
  f.get(least).op('i32WrapI64').simd('i32x4Splat').set(first);
  f.get(from).op('i32WrapI64').get(cache.offset).op('i32Add').simd('i32x4Splat').set(origin);
  for (let group = 0; group < v.groups; group++) {
    v.use(indexed.index, isSigned ? 's32' : 'u32', group);
    if (v.isMasked) {
      f.get(first);
      v.pushMask(group);
      f.simd('v128Bitselect');
    }
    f.set(index);
    if (group > 0) f.get(low);
    f.get(index);
    if (group > 0) f.simd(isSigned ? 'i32x4MinS' : 'i32x4MinU');
    f.set(low);
    if (group > 0) f.get(high);
    f.get(index);
    if (group > 0) f.simd(isSigned ? 'i32x4MaxS' : 'i32x4MaxU');
    f.set(high);
    f.get(index);
    if (log2Scale > 0) f.i32(log2Scale).simd('i32x4Shl');
    f.get(origin).simd('i32x4Add').set(ofGroup(group));
  }
  f.get(low)
    .get(first)
    .simd(isSigned ? 'i32x4LtS' : 'i32x4LtU');
  f.get(high).get(most).op('i32WrapI64').simd('i32x4Splat');
  f.simd(isSigned ? 'i32x4GtS' : 'i32x4GtU')
    .simd('v128Or')
    .simd('v128AnyTrue');
  f.get(least).get(most).op('i64GtS').op('i32Or');
  f.get(from)
    .i64(2 ** LOG2_FAR)
    .op('i64Add')
    .i64(LOG2_FAR + 1)
    .op('i64ShrU')
    .i64(0)
    .op('i64Ne')
    .op('i32Or');
  if (bytes > 1)
    f.get(from)
      .i64(bytes - 1)
      .op('i64And')
      .i64(0)
      .op('i64Ne')
      .op('i32Or');
}

/** Pushes the addresses of two lanes, without the constant. */
export function useIndexed(v: VectorOperands, indexed: IndexedAddress, group: number, half: 0 | 1): void {
  const { f } = v;
  v.use(indexed.index, indexed.isSigned ? 's64' : 'u64', group, half);
  if (indexed.log2Scale > 0) f.i32(indexed.log2Scale).simd('i64x2Shl');
  v.scalar.use(indexed.base, 'u64');
  f.simd('i64x2Splat').simd('i64x2Add');
}
