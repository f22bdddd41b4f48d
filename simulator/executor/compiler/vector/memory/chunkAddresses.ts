import type { IrOperand } from '../../../../ptx/index.js';
import { SHARED_WINDOW_HIGH } from '../../../memory/index.js';
import type { FunctionBuilder } from '../../../../wasm/index.js';
import { loadCache, placeOf, placesIn } from '../../accesses/index.js';
import { countsDynamically, type DynamicBytes } from '../../instructions/index.js';
import { AREA, LANES } from '../../area/index.js';
import { NO_LANE, NO_STRIDE, REACH, REACH_TO } from '../../library/index.js';
import type { VectorOperands } from '../operands/index.js';
import { pushIndexed, useIndexed } from './indexRange.js';
import { globalCounters, type ChunkAccess, type ChunkMemory } from './chunkAccess.js';

/** Which lanes touch memory: all, or those whose bits a local holds. */
export interface ActiveLanes {
  readonly bits: number | undefined;
}

/**
 * Checks and translates the addresses of a whole chunk at once. What no check of the whole allows (a cached segment that
 * has to be replaced, lanes in several segments, a fault) is reached lane by lane in `reachLanes`.
 */
export class ChunkAddresses {
  private readonly f: FunctionBuilder;
  /** Locals with the addresses of each group's lanes. */
  private readonly groups: number[] = [];

  constructor(
    private readonly v: VectorOperands,
    private readonly around: ChunkMemory,
  ) {
    this.f = v.f;
  }

  /** Local with the address in the node's memory of lane 0 of strided accesses. */
  get first(): number {
    return this.v.temporary('chunk address', 'i32');
  }

  /** v128 local with the addresses in the node's memory of four lanes of varying accesses. */
  ofGroup(group: number): number {
    return (this.groups[group] ??= this.f.local('v128'));
  }

  /** Bytes between lanes in the node's memory. */
  strideInMemory({ space, stride = 0 }: ChunkAccess): number {
    return space === 'local' ? stride + this.around.localLayout.bytes : stride;
  }

  /** Of a strided access: sets `first`; leaves 1 when the lanes have to be reached one by one. */
  pushStrided(access: ChunkAccess, active: ActiveLanes): void {
    const { f } = this;
    const { stride = 0, bytes } = access;
    if (stride % bytes !== 0) {
      f.i32(1);
      return;
    }
    switch (access.space) {
      case 'shared':
        this.pushFirstNarrow(access);
        this.stridedShared(access);
        return;
      case 'local':
        this.pushFirstNarrow(access);
        this.stridedLocal(access);
        return;
      case 'global':
      case 'const':
      case 'param':
        this.pushFirstWide(access);
        this.stridedGlobal(access);
        return;
      case 'generic':
        this.stridedGeneric(access, active);
    }
  }

  /**
   * Of accesses side by side, at all constants from `least` to `most`: sets `at` to where the first of them lies in the
   * node's memory; leaves 1 when they have to be reached one by one.
   */
  pushSpan(access: ChunkAccess, least: number, most: number, at: number): void {
    const beside = { ...access, stride: access.bytes };
    this.pushFirstWide({ ...beside, address: { ...access.address, offset: least } });
    this.stridedGlobal(beside, at, this.reach(beside) + (most - least) / access.bytes);
  }

  /** Of a varying access: leaves whether all lanes' addresses lie side by side. */
  pushIsBeside(access: ChunkAccess): void {
    const { f, v } = this;
    const base = this.baseOf(access);
    const first = v.temporary('first address', 'v128');
    v.use(base, 'u64', 0, 0);
    f.tee(first).get(first).shuffleWords(0, 1, 0, 1).set(first);
    for (let group = 0; group < v.groups; group++)
      for (const half of [0, 1] as const) {
        const at = (4 * group + 2 * half) * access.bytes;
        v.use(base, 'u64', group, half);
        f.get(first)
          .simd('i64x2Sub')
          .v128(at, 0, at + access.bytes, 0)
          .simd('v128Xor');
        if (group + half > 0) f.simd('v128Or');
      }
    f.simd('v128AnyTrue').op('i32Eqz');
  }

  /** Of a varying access: sets the addresses of all groups; leaves 1 when the lanes have to be reached one by one. */
  pushVarying(access: ChunkAccess, active: ActiveLanes): void {
    const { space } = access;
    if (space === 'shared' || space === 'local') {
      this.varyingWindow(access, active);
      return;
    }
    if (access.indexed !== undefined)
      pushIndexed(this.v, this.around, access, (group) => this.ofGroup(group));
    else this.varyingGlobal(access, active);
    if (space !== 'generic') return;
    const { f } = this;
    const fails = this.v.temporary('chunk fails', 'i32');
    f.tee(fails).op('i32Eqz').if();
    for (const what of globalCounters(access)) this.count(what, access.bytes, active);
    f.end().get(fails);
  }

  /**
   * Moves the bytes of active lanes between memory and the area, lane by lane; leaves the chunk when one may not. The
   * area then stands for memory: lane after lane, side by side. For updates it has the lanes' addresses.
   */
  reachLanes(access: ChunkAccess, active: ActiveLanes): void {
    const { f, v } = this;
    const { group, space, bytes, purpose } = access;
    if (access.stride === undefined) this.storeAddresses(access);
    if (active.bits === undefined) f.i32(v.width === 32 ? -1 : (1 << v.width) - 1);
    else f.get(active.bits);
    if (access.stride === undefined) f.i64(0).i32(NO_STRIDE);
    else {
      this.pushFirstWide(access);
      f.i32(access.stride);
    }
    f.i32(space === 'shared' || space === 'local' || space === 'generic' ? REACH[space] : REACH.global);
    if (group === undefined) f.i32(0);
    else f.area().i32(group.cacheAt).op('i32Add');
    f.i32(bytes).i32(REACH_TO[purpose]);
    const { localLayout } = this.around;
    if (localLayout.bytes > 0) f.get(this.around.localBase());
    else f.i32(0);
    f.i32(localLayout.bytes);
    const lane = v.temporary('failing lane', 'i32');
    f.call(v.library.index('reachLanes')).tee(lane).i32(NO_LANE).op('i32Ne').if();
    this.around.leaveLaneWithFault(access.instruction, lane);
    f.end();
    if (space === 'generic') {
      this.countReached(LANES.inShared, 'shared', bytes);
      for (const what of globalCounters(access)) this.countReached(LANES.inGlobal, what, bytes);
    }
    if (group === undefined) return;
    loadCache(f, group, this.around.caches.cacheLocals(group));
  }

  /** Makes `first` the place in the area. */
  pointAtArea(): void {
    this.f.area().i32(LANES.bytes).op('i32Add').set(this.first);
  }

  /** Makes the addresses of all groups the lanes' places in the area. */
  pointLanesAtArea({ bytes }: ChunkAccess): void {
    const { f, v } = this;
    const origin = v.temporary('origin', 'v128');
    f.area().i32(LANES.bytes).op('i32Add').simd('i32x4Splat').set(origin);
    for (let group = 0; group < v.groups; group++) {
      const at = 4 * group * bytes;
      f.get(origin).v128(at, at + bytes, at + 2 * bytes, at + 3 * bytes);
      f.simd('i32x4Add').set(this.ofGroup(group));
    }
  }

  /** Of an update: leaves the addresses of all lanes, four to a group, wherever they lie. */
  reachAll(access: ChunkAccess, active: ActiveLanes): void {
    const { f, v } = this;
    if (access.stride === undefined) this.pushVarying(access, active);
    else this.pushStrided(access, active);
    f.if();
    this.reachLanes(access, active);
    for (let group = 0; group < v.groups; group++)
      f.area()
        .simdMemory('v128Load', LANES.bytes + 16 * group)
        .set(this.ofGroup(group));
    if (access.stride !== undefined) {
      const stride = this.strideInMemory(access);
      f.else();
      for (let group = 0; group < v.groups; group++) {
        const at = 4 * group * stride;
        f.get(this.first)
          .simd('i32x4Splat')
          .v128(at, at + stride, at + 2 * stride, at + 3 * stride);
        f.simd('i32x4Add').set(this.ofGroup(group));
      }
    }
    f.end();
  }

  /** Adds the bytes of guarded accesses to a known space. */
  countStatic(access: ChunkAccess, active: ActiveLanes): void {
    const { instruction, space, bytes } = access;
    if (space === 'generic' || !countsDynamically(instruction)) return;
    if (space === 'shared') this.count('shared', bytes, active);
    if (space !== 'global' && space !== 'const') return;
    for (const what of globalCounters(access)) this.count(what, bytes, active);
  }

  /** Adds the bytes of the active lanes to a counter. */
  count(what: DynamicBytes, bytes: number, { bits }: ActiveLanes): void {
    const { f } = this;
    if (bits === undefined) this.around.countBytes(what, bytes * this.v.width);
    else this.around.countBytes(what, () => f.get(bits).op('i32Popcnt').i32(bytes).op('i32Mul'));
  }

  private countReached(place: number, what: DynamicBytes, bytes: number): void {
    const { f } = this;
    this.around.countBytes(what, () => f.area().memory('i32Load', place).i32(bytes).op('i32Mul'));
  }

  // --- strided ---

  private pushFirstWide({ address }: ChunkAccess): void {
    const { f, v } = this;
    const { base, offset } = address;
    if (typeof base === 'number') {
      const isVarying = v.shapeOfRegister(base).kind === 'varying';
      if (isVarying) f.get(v.localsOf(base)[0] ?? 0).simdLane('i64x2ExtractLane', 0);
      else v.scalar.use({ kind: 'register', register: base }, 'u64');
      if (offset !== 0) f.i64(offset).op('i64Add');
    } else if (base === undefined) f.i64(offset);
    else v.scalar.use({ kind: 'symbol', name: base, offset }, 'u64');
  }

  private pushFirstNarrow({ address }: ChunkAccess): void {
    const { f, v } = this;
    const { base, offset } = address;
    if (typeof base === 'number') {
      v.scalar.use({ kind: 'register', register: base }, 'u32');
      if (offset !== 0) f.i32(offset).op('i32Add');
    } else if (base === undefined) f.i32(offset);
    else v.scalar.use({ kind: 'symbol', name: base, offset }, 'u32');
  }

  /** Takes lane 0's i64 address. */
  private stridedGlobal(access: ChunkAccess, first = this.first, reach = this.reach(access)): void {
    const { f, v } = this;
    const { bytes, group } = access;
    if (group === undefined) throw new RangeError(`line ${access.instruction.line} has no access group`);
    const cache = this.around.caches.cacheLocals(group);
    const place = v.temporary('chunk offset', 'i64');
    f.get(cache.base).op('i64Sub').tee(place).op('i32WrapI64');
    f.get(cache.offset).op('i32Add').set(first);
    placeOf(f.get(place), bytes, 'i64');
    if (reach !== 0) f.tee(place);
    f.get(cache.limit).op('i64GeU');
    // The first lane's place is small when it is allowed, so that adding the reach never wraps into what is allowed.
    if (reach !== 0) f.get(place).i64(reach).op('i64Add').get(cache.limit).op('i64GeU').op('i32Or');
  }

  /** Takes lane 0's i32 offset. */
  private stridedShared(access: ChunkAccess): void {
    const { f } = this;
    const log2 = Math.log2(access.bytes);
    this.stridedWindow(access, () => f.get(this.around.caches.sharedLimit(log2)));
    f.get(this.first).area().op('i32Add').i32(AREA.shared).op('i32Add').set(this.first);
  }

  private stridedLocal(access: ChunkAccess): void {
    const { f } = this;
    const limit = placesIn(this.around.localLayout.bytes, access.bytes);
    this.stridedWindow(access, () => f.i32(limit));
    if (limit === 0) return;
    f.get(this.first).get(this.around.localBase()).op('i32Add').set(this.first);
  }

  /** Takes lane 0's i32 offset into `first`; leaves whether it or the last lane's is outside. */
  private stridedWindow(access: ChunkAccess, pushLimit: () => void): void {
    const { f, v } = this;
    const place = v.temporary('chunk place', 'i32');
    const reach = this.reach(access);
    placeOf(f.tee(this.first), access.bytes, 'i32');
    if (reach !== 0) f.tee(place);
    pushLimit();
    f.op('i32GeU');
    if (reach === 0) return;
    f.get(place).i32(reach).op('i32Add');
    pushLimit();
    f.op('i32GeU').op('i32Or');
  }

  private stridedGeneric(access: ChunkAccess, active: ActiveLanes): void {
    const { f, v } = this;
    const wide = v.temporary('chunk generic', 'i64');
    const fails = v.temporary('chunk fails', 'i32');
    const bytes = access.bytes;
    this.pushFirstWide(access);
    f.tee(wide).i64(32).op('i64ShrU').i64(SHARED_WINDOW_HIGH).op('i64Eq').if('i32');
    f.get(wide).op('i32WrapI64');
    this.stridedShared(access);
    f.tee(fails).op('i32Eqz').if();
    this.count('shared', bytes, active);
    f.end().get(fails).else();
    f.get(wide);
    this.stridedGlobal(access);
    f.tee(fails).op('i32Eqz').if();
    for (const what of globalCounters(access)) this.count(what, bytes, active);
    f.end().get(fails).end();
  }

  /** From the first lane's place to the last lane's, in accesses. */
  private reach({ stride = 0, bytes }: ChunkAccess): number {
    return ((this.v.width - 1) * stride) / bytes;
  }

  // --- varying ---

  private varyingGlobal(access: ChunkAccess, active: ActiveLanes): void {
    const { f, v } = this;
    const { bytes, group } = access;
    if (group === undefined) throw new RangeError(`line ${access.instruction.line} has no access group`);
    const cache = this.around.caches.cacheLocals(group);
    const [origin, low, high] = ['origin', 'low words', 'high words'].map((name) =>
      v.temporary(name, 'v128'),
    ) as [number, number, number];
    const seen = this.startSeen();
    f.get(cache.base);
    if (access.address.offset !== 0) f.i64(access.address.offset).op('i64Sub');
    f.simd('i64x2Splat').set(origin);
    f.v128(0, 0, 0, 0).set(high);
    for (let each = 0; each < v.groups; each++) {
      for (const half of [0, 1] as const) {
        v.use(this.baseOf(access), 'u64', each, half);
        f.get(origin).simd('i64x2Sub');
        f.set(v.temporary(`offsets ${half}`, 'v128'));
      }
      const [lower, upper] = [v.temporary('offsets 0', 'v128'), v.temporary('offsets 1', 'v128')];
      f.get(lower).get(upper).shuffleWords(0, 2, 4, 6).set(low);
      f.get(lower).get(upper).shuffleWords(1, 3, 5, 7);
      if (active.bits !== undefined) {
        v.pushMask(each);
        f.simd('v128And').get(low);
        v.pushMask(each);
        f.simd('v128And').set(low);
      }
      f.get(high).simd('v128Or').set(high);
      this.see(seen, low, bytes);
      f.get(low).get(cache.offset).simd('i32x4Splat').simd('i32x4Add').set(this.ofGroup(each));
    }
    f.get(high);
    // The limit counts places of the access size: times the size it is the end of the last.
    this.pushSeen(seen, bytes, () => f.get(cache.limit).op('i32WrapI64').i32(Math.log2(bytes)).op('i32Shl'));
    f.simd('v128Or').simd('v128AnyTrue');
  }

  /** Shared and local memory: offsets of 32 bits. */
  private varyingWindow(access: ChunkAccess, active: ActiveLanes): void {
    const { f, v } = this;
    const { bytes, address, space } = access;
    const { localLayout } = this.around;
    const isLocal = space === 'local';
    const origin = v.temporary('origin', 'v128');
    const low = v.temporary('low words', 'v128');
    const seen = this.startSeen();
    if (!isLocal) f.area().i32(AREA.shared).op('i32Add');
    else if (localLayout.bytes > 0) f.get(this.around.localBase());
    else f.i32(0);
    f.simd('i32x4Splat').set(origin);
    for (let each = 0; each < v.groups; each++) {
      v.use(this.baseOf(access), 'u32', each);
      if (address.offset !== 0) f.i32(address.offset).simd('i32x4Splat').simd('i32x4Add');
      if (active.bits !== undefined) {
        v.pushMask(each);
        f.simd('v128And');
      }
      f.set(low);
      this.see(seen, low, bytes);
      f.get(low).get(origin).simd('i32x4Add');
      if (isLocal) {
        const [a, b, c, d] = [0, 1, 2, 3].map((lane) => (4 * each + lane) * localLayout.bytes);
        f.v128(a ?? 0, b ?? 0, c ?? 0, d ?? 0).simd('i32x4Add');
      }
      f.set(this.ofGroup(each));
    }
    this.pushSeen(seen, bytes, () => {
      if (isLocal) f.i32(placesIn(localLayout.bytes, bytes) * bytes);
      else
        f.get(this.around.caches.sharedLimit(Math.log2(bytes)))
          .i32(Math.log2(bytes))
          .op('i32Shl');
    });
    f.simd('v128AnyTrue');
  }

  /** What all offsets of a chunk have in common: the largest, and every bit that any has. */
  private startSeen(): { readonly most: number; readonly any: number } {
    const seen = { most: this.v.temporary('most', 'v128'), any: this.v.temporary('any', 'v128') };
    this.f.v128(0, 0, 0, 0).tee(seen.most).set(seen.any);
    return seen;
  }

  private see(seen: { readonly most: number; readonly any: number }, low: number, bytes: number): void {
    const { f } = this;
    f.get(seen.most).get(low).simd('i32x4MaxU').set(seen.most);
    if (bytes > 1) f.get(seen.any).get(low).simd('v128Or').set(seen.any);
  }

  /** Leaves a v128 with a bit set when any offset is at the end or behind it, or misaligned. */
  private pushSeen(
    seen: { readonly most: number; readonly any: number },
    bytes: number,
    pushEnd: () => void,
  ): void {
    const { f } = this;
    f.get(seen.most);
    pushEnd();
    f.simd('i32x4Splat').simd('i32x4GeU');
    if (bytes === 1) return;
    f.get(seen.any)
      .i32(bytes - 1)
      .simd('i32x4Splat')
      .simd('v128And')
      .simd('v128Or');
  }

  // --- lane by lane ---

  private storeAddresses(access: ChunkAccess): void {
    const { f, v } = this;
    const { address } = access;
    for (let group = 0; group < v.groups; group++)
      for (const half of [0, 1] as const) {
        f.area();
        if (access.indexed === undefined) v.use(this.baseOf(access), 'u64', group, half);
        else useIndexed(v, access.indexed, group, half);
        if (address.offset !== 0) f.i64(address.offset).simd('i64x2Splat').simd('i64x2Add');
        f.simdMemory('v128Store', LANES.addresses + (4 * group + 2 * half) * 8);
      }
  }

  /** The register of an address that varies. */
  private baseOf({ address, instruction }: ChunkAccess): IrOperand {
    if (typeof address.base !== 'number')
      throw new RangeError(`line ${instruction.line}: a constant address`);
    return { kind: 'register', register: address.base };
  }
}
