import type { FunctionBuilder } from '../../../wasm/index.js';
import { AREA, COUNTER_BYTES, PASSES } from '../area/index.js';
import type { DynamicBytes } from '../instructions/index.js';
import { ByteCounters, addToCounter } from './byteCounters.js';
import type { RegionFlow } from '../analysis/index.js';

/** Of lanes that run apart from a chunk. */
export interface PartedPasses {
  /** Local with the running lane. */
  readonly lane: number;
  /** Offset in the area of the lanes' passes until then, of classes that a chunk counts lane by lane. */
  readonly slots: ReadonlyMap<number, number>;
}

/**
 * Counts how often threads and warps pass through each class of a region's nodes: one increment of a local a pass. A warp
 * passes a class as often as the lane that passes it most, which for a class outside loops is once or not at all.
 */
export class PassCounters {
  /** Passes of all lanes of the warp so far. */
  private readonly counts: number[] = [];
  /** The same before the running lane; only for classes that repeat, otherwise -1. */
  private readonly before: number[] = [];
  /** Most passes of any one lane; only for classes that repeat, otherwise -1. */
  private readonly most: number[] = [];
  private readonly passes: number;
  /** Position where each class is counted. */
  private readonly countedAt = new Map<number, number>();
  private readonly bytes: ByteCounters;

  /**
   * @param base address of the region's first counter
   * @param parted of lanes that run apart from a chunk: then what they pass is left for the chunk to add
   */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly flow: RegionFlow,
    private readonly base: number,
    private readonly parted?: PartedPasses,
  ) {
    this.bytes = new ByteCounters(f);
    this.passes = f.local('i32');
    for (let index = 0; index < flow.classCount; index++) {
      const repeats = flow.isRepeated[index] === true;
      this.counts.push(f.local('i32'));
      this.before.push(repeats ? f.local('i32') : -1);
      this.most.push(repeats ? f.local('i32') : -1);
    }
    flow.classOf.forEach((each, position) => {
      if (!this.countedAt.has(each)) this.countedAt.set(each, position);
    });
  }

  /** At the start of each node; one node of each class counts for all of them. */
  pass(position: number): void {
    const each = this.flow.classOf[position] ?? 0;
    const count = this.counts[each];
    if (count === undefined || this.countedAt.get(each) !== position) return;
    this.f.get(count).i32(1).op('i32Add').set(count);
  }

  /** At an access whose bytes are counted where it happens. */
  countBytes(what: DynamicBytes, bytes: number | (() => void)): void {
    this.bytes.add(what, bytes);
  }

  /** Before a warp. */
  reset(): void {
    for (const group of [this.counts, this.before, this.most]) {
      for (const local of group) if (local >= 0) this.f.i32(0).set(local);
    }
  }

  /** After a lane. */
  endLane(): void {
    const { f, passes } = this;
    this.counts.forEach((count, index) => {
      const before = this.before[index] ?? -1;
      const most = this.most[index] ?? -1;
      if (before < 0) return;
      f.get(count).get(before).op('i32Sub');
      if (this.parted !== undefined) {
        this.pushBefore(index, this.parted);
        f.op('i32Add');
      }
      f.tee(passes).get(most);
      f.get(passes).get(most).op('i32GtU').op('select').set(most);
      f.get(count).set(before);
    });
  }

  /** Pushes how often the lane has passed a class in its chunk. */
  private pushBefore(index: number, { lane, slots }: PartedPasses): void {
    const f = this.f;
    const slot = slots.get(index);
    if (slot === undefined) f.area().memory('i32Load', passesOf(index) + PASSES.before);
    else f.get(lane).i32(2).op('i32Shl').area().op('i32Add').memory('i32Load', slot);
  }

  /** After a warp: everything to memory. */
  endWarp(): void {
    if (this.parted !== undefined) this.leaveForChunk();
    else this.countWarp();
    this.bytes.flush();
  }

  private countWarp(): void {
    const f = this.f;
    this.counts.forEach((count, index) => {
      const at = this.base + index * COUNTER_BYTES;
      const most = this.most[index] ?? -1;
      addToCounter(f, at, () => f.get(count).op('i64ExtendI32U'));
      addToCounter(f, at + 8, () => {
        if (most >= 0) f.get(most);
        else f.get(count).i32(0).op('i32Ne');
        f.op('i64ExtendI32U');
      });
    });
  }

  private leaveForChunk(): void {
    const f = this.f;
    this.counts.forEach((count, index) => {
      const at = passesOf(index);
      f.area()
        .area()
        .memory('i32Load', at + PASSES.count)
        .get(count)
        .op('i32Add')
        .memory('i32Store', at + PASSES.count);
      const most = this.most[index] ?? -1;
      if (most < 0) return;
      f.area().get(most);
      f.area().memory('i32Load', at + PASSES.most);
      f.get(most)
        .area()
        .memory('i32Load', at + PASSES.most)
        .op('i32GtU')
        .op('select')
        .memory('i32Store', at + PASSES.most);
    });
  }
}

/** Where the passes of parted lanes through a class lie. */
export function passesOf(index: number): number {
  return AREA.passes + index * PASSES.bytes;
}
