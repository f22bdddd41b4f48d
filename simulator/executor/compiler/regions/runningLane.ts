import type { FunctionBuilder } from '../../../wasm/index.js';
import type { ContextLocals } from '../analysis/index.js';
import { RECORD, WARP_SIZE } from '../area/index.js';
import type { KernelPlan } from '../plan/index.js';
import { advanceTid, startTid, type ThreadLocals } from './specialRegisters.js';

/** What a function does with lanes. */
export interface LaneUse {
  /** Whether it runs lanes of one warp only: its first parameters are the warp and the lanes, as bits. */
  readonly isOneWarp: boolean;
  readonly readsTid: boolean;
  /** Whether lanes run in another order than that of their numbers. */
  readonly isReordered: boolean;
}

/** The lane that runs: who it is, and where its context and its local memory lie. */
export class RunningLane {
  readonly thread: ThreadLocals;
  /** Local with the lanes that run, as bits. */
  readonly mask: number;
  /** Local with the warp's first thread, in its block. */
  readonly firstThread: number;
  /** Local with the number of lanes of the warp. */
  readonly count: number;
  readonly context: ContextLocals;
  readonly localMemory: number;
  /** Local with the lane's own thread, where lanes run in another order. */
  private readonly reordered: number;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly plan: KernelPlan,
    private readonly use: LaneUse,
  ) {
    const i32 = (): number => f.local('i32');
    this.thread = { warp: use.isOneWarp ? 0 : i32(), lane: i32(), tid: [i32(), i32(), i32()] };
    this.mask = use.isOneWarp ? 1 : i32();
    this.firstThread = i32();
    this.count = i32();
    const narrow = i32();
    this.context = { narrow, wide: plan.context.hasWide ? i32() : narrow };
    this.localMemory = i32();
    this.reordered = use.isReordered ? i32() : this.firstThread;
  }

  /** Who is in the warp that `thread.warp` names. */
  countLanes(): void {
    const { f, count } = this;
    f.get(this.thread.warp).i32(WARP_SIZE).op('i32Mul').set(this.firstThread);
    f.area().memory('i32Load', RECORD.threads).get(this.firstThread).op('i32Sub').tee(count);
    f.i32(WARP_SIZE).get(count).i32(WARP_SIZE).op('i32LtU').op('select').set(count);
  }

  /** To the warp's first lane, but for its number. */
  goToFirst(): void {
    if (this.use.readsTid) startTid(this.f, this.thread, this.firstThread);
    if (this.hasContexts) this.pointAtContexts();
    this.pointAtLocalMemory(this.firstThread);
  }

  /** To the lane whose number is set. */
  goTo(): void {
    const { f, reordered } = this;
    const { lane } = this.thread;
    const { narrow, wide } = this.context;
    this.pointAtContexts();
    f.get(narrow).get(lane).i32(4).op('i32Mul').op('i32Add').set(narrow);
    if (wide !== narrow) f.get(wide).get(lane).i32(8).op('i32Mul').op('i32Add').set(wide);
    f.get(this.firstThread).get(lane).op('i32Add').set(reordered);
    if (this.use.readsTid) startTid(f, this.thread, reordered);
    this.pointAtLocalMemory(reordered);
  }

  /** On to the next lane. */
  advance(): void {
    const { f } = this;
    if (this.use.readsTid) advanceTid(f, this.thread);
    if (this.hasContexts) {
      const { narrow, wide } = this.context;
      f.get(narrow).i32(4).op('i32Add').set(narrow);
      if (wide !== narrow) f.get(wide).i32(8).op('i32Add').set(wide);
    }
    const { bytes } = this.plan.localLayout;
    if (bytes > 0) f.get(this.localMemory).i32(bytes).op('i32Add').set(this.localMemory);
    f.get(this.thread.lane).i32(1).op('i32Add').set(this.thread.lane);
  }

  /** Leaves whether the lane whose number is set is to run. */
  pushRuns(): void {
    this.f.get(this.mask).get(this.thread.lane).op('i32ShrU').i32(1).op('i32And');
  }

  /** Of the lanes that are to run, only those below this one are left. */
  keepBelow(): void {
    const { f, mask } = this;
    f.get(mask).i32(1).get(this.thread.lane).op('i32Shl').i32(1).op('i32Sub').op('i32And').set(mask);
  }

  private get hasContexts(): boolean {
    return this.plan.graph.syncPoints.length > 0;
  }

  private pointAtContexts(): void {
    const { narrow, wide } = this.context;
    this.f
      .area()
      .memory('i32Load', RECORD.contexts)
      .get(this.thread.warp)
      .i32(this.plan.context.warpBytes)
      .op('i32Mul')
      .op('i32Add')
      .set(narrow);
    if (wide !== narrow) this.f.get(narrow).set(wide);
  }

  private pointAtLocalMemory(thread: number): void {
    const { f } = this;
    const { bytes } = this.plan.localLayout;
    if (bytes === 0) return;
    f.area().memory('i32Load', RECORD.locals).get(thread).i32(bytes).op('i32Mul').op('i32Add');
    f.set(this.localMemory);
  }
}
