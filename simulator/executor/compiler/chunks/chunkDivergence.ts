import type { IrInstruction } from '../../../ptx/index.js';
import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import type { FlowNode } from '../analysis/index.js';
import { RECORD, REGION_RESULT, WARP_SIZE } from '../area/index.js';
import type { Resume } from '../regions/index.js';
import type { ChunkCounters } from './chunkCounters.js';
import type { ChunkThreads } from './chunkThreads.js';
import type { PartingRegisters } from './partingRegisters.js';

/** Functions for lanes that do not run in chunks, by index. */
export interface PartedFunctions {
  /** (warp, lanes): from the region's start; (warp, lanes, start) where there is a point that stands for it. */
  readonly lanes: number;
  readonly start?: number;
  /** (warp, lanes, point): from where they left their chunk. */
  readonly resume: number;
}

/** Locals of what lanes have come to and may spend. */
export interface ProgressLocals {
  /** i64 local: what the block may still spend. */
  readonly fuel: number;
  /** Local with the state that lanes have come to. */
  readonly status: number;
  /** Local with the index of the point at which the chunk's lanes part. */
  readonly point: number;
}

/** Where the lanes of a chunk go different ways: the chunk is given up, and each goes on by itself in another function. */
export class ChunkDivergence {
  /** The node at which they may. */
  private node: FlowNode | undefined;
  private label: Label = 0;
  private faulted: Label = 0;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly threads: ChunkThreads,
    private readonly counters: ChunkCounters,
    private readonly locals: ProgressLocals,
    readonly registers: PartingRegisters,
    private readonly resume: Resume,
    private readonly functions: PartedFunctions,
  ) {}

  /** Before all code of the function: whoever opens it ends it where lanes by themselves have faulted. */
  openFunction(): void {
    this.faulted = this.f.block();
  }

  /** Before a chunk's code: whoever opens it ends it where lanes part. */
  open(): void {
    this.label = this.f.block();
  }

  beginNode(node: FlowNode): void {
    this.node = node;
  }

  /** Takes an i32 that tells whether the lanes have to part before an instruction of the node. */
  before(instruction: IrInstruction): void {
    this.part(this.node?.body.indexOf(instruction.index) ?? 0);
  }

  /** The same at the node's end. @param first writes what lanes need there that is not written yet */
  atEnd(first?: () => void): void {
    this.part(this.node?.body.length ?? 0, first);
  }

  private part(at: number, first?: () => void): void {
    const { f, node } = this;
    const { points } = this.resume;
    const index = points.findIndex((point) => point.node === node?.index && point.at === at);
    const point = points[index];
    if (point === undefined) throw new RangeError('lanes part where it was not foreseen');
    f.if();
    f.i32(index).set(this.locals.point);
    first?.();
    this.registers.clearUnneeded(point);
    f.br(this.label).end();
  }

  /** Where lanes have parted: their registers go to memory, and each on from there. @param width lanes of a chunk */
  emitParted(width: number): void {
    const { f } = this;
    const { lane } = this.threads.first;
    this.registers.spill();
    this.counters.part(true, lane);
    this.call(() => {
      f.i32(width === WARP_SIZE ? -1 : (1 << width) - 1)
        .get(lane)
        .op('i32Shl')
        .get(this.locals.point)
        .call(this.functions.resume);
    });
  }

  /** Runs lanes of the warp, as bits in a local, from the region's start; their state is in `status`. */
  callLanes(lanes: number): void {
    const { f, functions } = this;
    this.counters.part(false, this.threads.first.lane);
    this.call(() => {
      f.get(lanes);
      if (functions.start !== undefined) f.i32(functions.start);
      f.call(functions.lanes);
    });
  }

  private call(call: () => void): void {
    const { f } = this;
    const { fuel, status } = this.locals;
    f.area().get(fuel).memory('i64Store', RECORD.fuel);
    f.get(this.threads.first.warp);
    call();
    f.tee(status).i32(REGION_RESULT.fault).op('i32Eq').brIf(this.faulted);
    f.area().memory('i64Load', RECORD.fuel).set(fuel);
  }
}
