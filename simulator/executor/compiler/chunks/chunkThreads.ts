import type { FunctionBuilder } from '../../../wasm/index.js';
import { RECORD, WARP_SIZE } from '../area/index.js';
import { startTid, type ThreadLocals } from '../regions/index.js';

/** Which lanes run: the locals of a chunk's first lane, and of one lane where code is written lane by lane. */
export class ChunkThreads {
  readonly first: ThreadLocals;
  readonly one: ThreadLocals;
  /** First thread of the warp, in its block. */
  readonly firstThread: number;
  /** Address of the local memory of the chunk's first lane, and of the one lane. */
  readonly localMemory: number;
  readonly oneLocalMemory: number;
  /** Threads of the warp. */
  readonly lanes: number;
  private readonly threads: number;
  private readonly extents: readonly [number, number];

  /** @param localBytes of a thread's local memory */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly localBytes: number,
    private readonly width: number,
  ) {
    const i32 = (): number => f.local('i32');
    this.first = { warp: i32(), lane: i32(), tid: [i32(), i32(), i32()] };
    const [, y, z] = this.first.tid;
    this.one = { warp: this.first.warp, lane: i32(), tid: [i32(), y, z] };
    this.firstThread = i32();
    this.localMemory = i32();
    this.oneLocalMemory = i32();
    this.lanes = i32();
    this.threads = i32();
    this.extents = [i32(), i32()];
  }

  /** At the function's start. */
  load(): void {
    const { f } = this;
    f.area().memory('i32Load', RECORD.threads).set(this.threads);
    this.extents.forEach((extent, axis) =>
      f
        .area()
        .memory('i32Load', RECORD.ntid + 4 * axis)
        .set(extent),
    );
  }

  /** To the block's first thread. */
  startBlock(): void {
    const { f, first } = this;
    for (const each of [first.warp, this.firstThread, ...first.tid]) f.i32(0).set(each);
    if (this.localBytes > 0) f.area().memory('i32Load', RECORD.locals).set(this.localMemory);
    this.startLanes();
  }

  /** To the first thread of the warp that `first.warp` names. */
  startAtWarp(): void {
    const { f, first } = this;
    f.get(first.warp).i32(WARP_SIZE).op('i32Mul').set(this.firstThread);
    startTid(f, first, this.firstThread);
    if (this.localBytes > 0)
      f.area()
        .memory('i32Load', RECORD.locals)
        .get(this.firstThread)
        .i32(this.localBytes)
        .op('i32Mul')
        .op('i32Add')
        .set(this.localMemory);
    this.startLanes();
  }

  /** On to the next warp, when all chunks of this one have been passed; leaves 1 when there is one in the block. */
  pushNextWarp(): void {
    const { f, first } = this;
    f.get(first.warp).i32(1).op('i32Add').set(first.warp);
    f.get(this.firstThread).i32(WARP_SIZE).op('i32Add').set(this.firstThread);
    this.startLanes();
    f.get(this.firstThread).get(this.threads).op('i32LtU');
  }

  private startLanes(): void {
    const { f } = this;
    const left = this.lanes;
    f.get(this.threads).get(this.firstThread).op('i32Sub').tee(left);
    f.i32(WARP_SIZE).get(left).i32(WARP_SIZE).op('i32LtU').op('select').set(this.lanes);
    f.i32(0).set(this.first.lane);
  }

  /** On to the next chunk: a row of threads holds whole chunks, unless the block is one row. */
  advance(): void {
    const { f, width, localBytes } = this;
    const [x, y, z] = this.first.tid;
    const [extentX, extentY] = this.extents;
    f.get(this.first.lane).i32(width).op('i32Add').set(this.first.lane);
    if (localBytes > 0)
      f.get(this.localMemory)
        .i32(width * localBytes)
        .op('i32Add')
        .set(this.localMemory);
    f.get(x).i32(width).op('i32Add').tee(x).get(extentX).op('i32Eq').if();
    f.i32(0).set(x).get(y).i32(1).op('i32Add').tee(y).get(extentY).op('i32Eq').if();
    f.i32(0).set(y).get(z).i32(1).op('i32Add').set(z).end().end();
  }

  /** For code of one lane that looks at special registers. */
  setOne(lane: number): void {
    const { f, first, one } = this;
    f.get(first.lane).i32(lane).op('i32Add').set(one.lane);
    f.get(first.tid[0]).i32(lane).op('i32Add').set(one.tid[0]);
  }

  /** For code of one lane that reaches its local memory. */
  setOneLocalMemory(lane: number): void {
    if (this.localBytes === 0) return;
    this.f
      .get(this.localMemory)
      .i32(lane * this.localBytes)
      .op('i32Add')
      .set(this.oneLocalMemory);
  }
}
