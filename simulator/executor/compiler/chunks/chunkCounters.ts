import type { FunctionBuilder } from '../../../wasm/index.js';
import type { DynamicBytes } from '../instructions/index.js';
import { ByteCounters, addToCounter, passesOf } from '../counters/index.js';
import { COUNTER_BYTES, PASSES, RECORD } from '../area/index.js';
import type { Library } from '../library/index.js';
import type { RegionFlow } from '../analysis/index.js';
import { clearMaskedPasses, MaskedPasses } from '../predication/index.js';

/**
 * Counts passes as PassCounters does, for chunks whose lanes go together: one increment for all lanes. Sums of threads and
 * warps stay in locals until the function ends. Lanes that run apart leave their passes in the area, and the warp adds them.
 */
export class ChunkCounters {
  /** Passes of the running chunk; of classes that do not repeat, of the warp's chunks so far. */
  private readonly passes: number[] = [];
  /** Most passes of any lane of the warp; only for classes that repeat, otherwise -1. */
  private readonly most: number[] = [];
  private readonly threads: number[] = [];
  private readonly warps: number[] = [];
  private readonly countedAt = new Map<number, number>();
  private readonly bytes: ByteCounters;
  /** Whether lanes of the warp have run apart. */
  private readonly haveParted: number;
  /** i64 local: instructions that idle lanes would have done under masks. */
  private readonly idle: number;
  private readonly sum: number;
  private readonly masked = new Map<number, MaskedPasses>();

  /**
   * @param base address of the region's first counter. @param width lanes of a chunk
   * @param maskedSlots where parted lanes find what each has passed, of the classes that are counted under masks
   */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly flow: RegionFlow,
    private readonly base: number,
    private readonly width: number,
    private readonly library: Library,
    private readonly maskedSlots: ReadonlyMap<number, number> = new Map(),
  ) {
    this.bytes = new ByteCounters(f);
    for (let index = 0; index < flow.classCount; index++) {
      this.passes.push(f.local('i32'));
      this.most.push(flow.isRepeated[index] === true ? f.local('i32') : -1);
      this.threads.push(f.local('i64'));
      this.warps.push(f.local('i64'));
    }
    this.haveParted = f.local('i32');
    this.idle = f.local('i64');
    this.sum = f.local('i32');
    for (const [index, slot] of maskedSlots)
      this.masked.set(index, new MaskedPasses(f, width / 4, this.passes[index] ?? 0, slot));
    flow.classOf.forEach((each, position) => {
      if (!this.countedAt.has(each)) this.countedAt.set(each, position);
    });
  }

  /**
   * At the start of each node; one node of each class counts for all of them.
   * @param mask the lanes that pass, unless all do
   */
  pass(position: number, mask?: readonly number[]): void {
    const each = this.flow.classOf[position] ?? 0;
    const passes = this.passes[each];
    if (passes === undefined || this.countedAt.get(each) !== position) return;
    if (this.masked.has(each)) {
      // What the lanes do of it is subtracted when their passes are added.
      this.f
        .get(this.idle)
        .i64(this.width * this.sizeOf(each))
        .op('i64Add')
        .set(this.idle);
    }
    if (mask !== undefined) {
      this.masked.get(each)?.pass(mask);
      return;
    }
    this.f.get(passes).i32(1).op('i32Add').set(passes);
  }

  countBytes(what: DynamicBytes, bytes: number | (() => void)): void {
    this.bytes.add(what, bytes);
  }

  /**
   * Before lanes run apart: tells them what they have passed.
   * @param isChunk whether they were a chunk until now. @param firstLane local with the first of them
   */
  part(isChunk: boolean, firstLane: number): void {
    const { f } = this;
    f.i32(1).set(this.haveParted);
    this.passes.forEach((passes, index) => {
      if ((this.most[index] ?? -1) < 0) return;
      const masked = this.masked.get(index);
      if (masked !== undefined) {
        if (isChunk) masked.leave(firstLane);
        else clearMaskedPasses(f, this.maskedSlots.get(index) ?? 0);
        return;
      }
      f.area();
      if (isChunk) f.get(passes);
      else f.i32(0);
      f.memory('i32Store', passesOf(index) + PASSES.before);
    });
  }

  /** After a chunk. */
  endChunk(): void {
    const { f } = this;
    this.passes.forEach((passes, index) => {
      const most = this.most[index] ?? -1;
      if (most < 0) return;
      const masked = this.masked.get(index);
      if (masked === undefined) this.addThreads(index);
      else this.takeMasked(index, masked);
      f.get(passes).get(most).get(passes).get(most).op('i32GtU').op('select').set(most);
      f.i32(0).set(passes);
    });
  }

  /** After a warp. */
  endWarp(): void {
    const { f } = this;
    for (const [index, masked] of this.masked) {
      if ((this.most[index] ?? -1) >= 0) continue;
      masked.pushSum();
      f.set(this.sum);
      this.subtractIdle(index, () => f.get(this.sum).op('i64ExtendI32U'));
      masked.clear();
      f.get(this.sum).set(this.passes[index] ?? 0);
    }
    f.get(this.haveParted).if();
    this.addParted();
    f.end();
    this.passes.forEach((passes, index) => {
      const most = this.most[index] ?? -1;
      const warps = this.warps[index] ?? 0;
      f.get(warps);
      if (most < 0) f.get(passes).i32(0).op('i32Ne');
      else f.get(most);
      f.op('i64ExtendI32U').op('i64Add').set(warps);
      if (most < 0) this.addThreads(index);
      f.i32(0).set(most < 0 ? passes : most);
    });
    this.bytes.flush();
  }

  /** Before the function returns: everything to memory. */
  flush(): void {
    const { f } = this;
    this.threads.forEach((threads, index) => {
      const at = this.base + index * COUNTER_BYTES;
      addToCounter(f, at, () => f.get(threads));
      addToCounter(f, at + 8, () => f.get(this.warps[index] ?? 0));
    });
    if (this.masked.size > 0) addToCounter(f, RECORD.instructionsIdle, () => f.get(this.idle));
  }

  /** Adds what the lanes have passed, and leaves in `passes` what the one has that passed most. */
  private takeMasked(index: number, masked: MaskedPasses): void {
    const { f } = this;
    const threads = this.threads[index] ?? 0;
    masked.pushSum();
    f.set(this.sum);
    f.get(threads).get(this.sum).op('i64ExtendI32U').op('i64Add').set(threads);
    this.subtractIdle(index, () => f.get(this.sum).op('i64ExtendI32U'));
    masked.pushMost();
    f.set(this.sum);
    masked.clear();
    f.get(this.sum).set(this.passes[index] ?? 0);
  }

  private addThreads(index: number): void {
    const { f } = this;
    const threads = this.threads[index] ?? 0;
    f.get(threads)
      .get(this.passes[index] ?? 0)
      .i32(this.masked.has(index) ? 1 : this.width)
      .op('i32Mul')
      .op('i64ExtendI32U')
      .op('i64Add')
      .set(threads);
  }

  /** Takes what parted lanes of the warp have left. */
  private addParted(): void {
    const { f } = this;
    f.i32(0).set(this.haveParted);
    this.passes.forEach((passes, index) => {
      const most = this.most[index] ?? -1;
      const known = most < 0 ? passes : most;
      f.i32(passesOf(index))
        .i32(this.base + index * COUNTER_BYTES)
        .i32(this.sizeOf(index));
      f.i32(most < 0 ? 0 : 1)
        .get(known)
        .call(this.library.index('addParted'));
      f.set(most < 0 ? this.sum : most);
    });
  }

  private subtractIdle(index: number, pushPasses: () => void): void {
    const { f } = this;
    f.get(this.idle);
    pushPasses();
    f.i64(this.sizeOf(index)).op('i64Mul').op('i64Sub').set(this.idle);
  }

  private sizeOf(index: number): number {
    return this.flow.classSizes[index] ?? 0;
  }
}
