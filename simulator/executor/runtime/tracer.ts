import {
  ReferenceInterpreter,
  addressSlice,
  type InterpreterObserver,
  type SlicePart,
  type Warp,
} from '../interpreter/index.js';
import { blocksTogether } from '../clusters.js';
import { usesHeap } from '../deviceRuntime/index.js';
import type { BlockRange, ExecutorLaunch, RunResult, TraceSink } from '../types.js';
import { waitLeaver } from './waitLeaver.js';
import { WriteJournal } from './writeJournal.js';

/** Steps of a warp before the next has its turn: what one warp brings into a cache, its neighbours must find there. */
const STEPS_PER_TURN = 32;

type Kind = 'load' | 'store' | 'atomic';

/**
 * Runs of blocks in the reference interpreter what decides paths and addresses, for a sink, and takes every write to global memory back afterwards.
 *
 * @param fuel thread-instructions a block; a trace that spends it ends silently, as after a fault.
 */
export function traceBlocks(
  launch: ExecutorLaunch,
  blocks: readonly number[],
  sink: TraceSink,
  fuel: number,
): void {
  const { kernel, module } = launch;
  const journal = new WriteJournal(module.space);
  const restoreHeap = usesHeap(kernel) ? module.space.openHeap().mark() : undefined;
  const slice = addressSlice(kernel);
  const observer = new SinkObserver(sink, { journal, slice });
  const options = {
    observer,
    turn: sink.turn ?? STEPS_PER_TURN,
    inTurn: true,
    slice: () => slice,
    steer: waitLeaver(kernel),
  };
  try {
    const interpreter = new ReferenceInterpreter(options);
    const together = blocksTogether(launch);
    if (together === 1) interpreter.runBlocks(launch, blocks, fuel);
    // Of a cluster all blocks run, and the sink sees one.
    else {
      for (const block of blocks) {
        if (sink.full) break;
        observer.only = block;
        const first = block - (block % together);
        const cluster = Array.from({ length: together }, (_, rank) => first + rank);
        interpreter.runBlocks(launch, cluster, fuel);
      }
    }
    observer.flush();
  } finally {
    journal.rollBack();
    restoreHeap?.();
  }
}

/**
 * Runs blocks in the reference interpreter for a sink, for good: memory is changed as by any run, and a fault is told.
 * Blocks that may wait for one another run together. Ends early, as if done, once the sink is full.
 *
 * @param fuel thread-instructions that each block may execute
 */
export function traceRange(
  launch: ExecutorLaunch,
  range: BlockRange,
  sink: TraceSink,
  fuel: number,
): RunResult {
  const observer = new SinkObserver(sink);
  const result = new ReferenceInterpreter({ observer }).run(launch, range, 'fast', fuel);
  observer.flush();
  return result;
}

/** The lanes of one instruction's access to one space, gathered until the next instruction. */
class GatheredAccess {
  readonly addresses = new Float64Array(32);
  mask = 0;
  warp = 0;
  index = 0;
  kind: Kind = 'load';
  bytes = 0;
}

type GatheredSpace = 'global' | 'shared' | 'local' | 'remote';

/** Gathers the lanes of one instruction's access into one call of the sink. */
class SinkObserver implements InterpreterObserver {
  private readonly global = new GatheredAccess();
  private readonly shared = new GatheredAccess();
  private readonly local = new GatheredAccess();
  private readonly remote = new GatheredAccess();
  /** The block that the sink is to see; all that run without. */
  only: number | undefined;

  /** @param undo remembers writes to global memory, where they are to be taken back; accesses in part write nothing */
  constructor(
    private readonly sink: TraceSink,
    private readonly undo?: { readonly journal: WriteJournal; readonly slice: readonly SlicePart[] },
  ) {}

  get full(): boolean {
    return this.sink.full;
  }

  get hasBlock(): boolean {
    return this.sink.hasBlock === true;
  }

  private isSeen(block: number): boolean {
    return this.only === undefined || this.only === block;
  }

  onBlock(block: number): void {
    if (!this.isSeen(block)) return;
    this.flush();
    this.sink.onBlock(block);
  }

  onStep(warp: Warp, pc: number, lanes: number, active: number): void {
    if (!this.isSeen(warp.block)) return;
    this.flush();
    this.sink.onInstruction(warp.index, pc, active, lanes);
  }

  onDivergence(warp: Warp, pc: number): void {
    if (this.isSeen(warp.block)) this.sink.onDivergence?.(warp.index, pc);
  }

  onBarrierOpen(block: number, id: number): void {
    if (this.isSeen(block)) this.sink.onBarrierOpen?.(block, id);
  }

  onAccess(
    warp: Warp,
    pc: number,
    lane: number,
    space: 'global' | 'shared' | 'local' | 'param',
    address: number,
    bytes: number,
    kind: Kind,
  ): void {
    if (space === 'param' || (space === 'local' && this.sink.onLocalAccess === undefined)) return;
    if (space === 'global' && kind !== 'load' && this.undo?.slice[pc] === 'whole')
      this.undo.journal.remember(address, bytes);
    if (!this.isSeen(warp.block)) return;
    this.gather(space, warp, pc, lane, address, bytes, kind);
  }

  private gather(
    space: GatheredSpace,
    warp: Warp,
    pc: number,
    lane: number,
    address: number,
    bytes: number,
    kind: Kind,
  ): void {
    // Lanes of one instruction may name different spaces by generic addresses, and a copy reaches two.
    const access = this[space];
    const bit = 1 << lane;
    if ((access.mask & bit) !== 0 || (access.mask !== 0 && access.bytes !== bytes)) this.tell(space, access);
    access.warp = warp.index;
    access.index = pc;
    access.kind = kind;
    access.bytes = bytes;
    access.mask |= bit;
    access.addresses[lane] = address;
  }

  onRemoteAccess(
    warp: Warp,
    pc: number,
    lane: number,
    _block: number,
    offset: number,
    bytes: number,
    kind: Kind,
  ): void {
    if (this.isSeen(warp.block)) this.gather('remote', warp, pc, lane, offset, bytes, kind);
  }

  onAccesses(
    warp: Warp,
    pc: number,
    lanes: number,
    space: 'global' | 'shared' | 'local' | 'param',
    addresses: Float64Array,
    bytes: number,
    kind: Kind,
  ): void {
    if (space === 'param' || space === 'local') return;
    if (space === 'global' && kind !== 'load' && this.undo?.slice[pc] === 'whole') {
      for (let rest = lanes; rest !== 0; rest &= rest - 1)
        this.undo.journal.remember(addresses[31 - Math.clz32(rest & -rest)], bytes);
    }
    if (!this.isSeen(warp.block)) return;
    this.sink.onAccess(warp.index, pc, space, kind, bytes, lanes, addresses);
  }

  flush(): void {
    if (this.global.mask !== 0) this.tell('global', this.global);
    if (this.shared.mask !== 0) this.tell('shared', this.shared);
    if (this.remote.mask !== 0) this.tell('remote', this.remote);
    if (this.local.mask !== 0) this.tell('local', this.local);
  }

  private tell(space: GatheredSpace, access: GatheredAccess): void {
    const { warp, index, kind, bytes, mask, addresses } = access;
    access.mask = 0;
    if (space === 'remote') {
      // Shared memory of another block has banks as the own has.
      if (this.sink.onRemoteAccess === undefined)
        this.sink.onAccess(warp, index, 'shared', kind, bytes, mask, addresses);
      else this.sink.onRemoteAccess(warp, index, kind, bytes, mask, addresses);
      return;
    }
    if (space !== 'local') this.sink.onAccess(warp, index, space, kind, bytes, mask, addresses);
    else if (kind !== 'atomic') this.sink.onLocalAccess?.(warp, index, kind, bytes, mask, addresses);
  }
}
