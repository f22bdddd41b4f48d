import { ReferenceInterpreter, type InterpreterObserver, type Warp } from '../interpreter/index.js';
import { usesHeap } from '../deviceRuntime/index.js';
import type { ExecutorLaunch, TraceSink } from '../types.js';
import { WriteJournal } from './writeJournal.js';

/** Steps of a warp before the next has its turn: what one warp brings into a cache, its neighbours must find there. */
const STEPS_PER_TURN = 32;

type Kind = 'load' | 'store' | 'atomic';

/**
 * Runs blocks in the reference interpreter for a sink and takes every write to global memory back afterwards.
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
  const observer = new SinkObserver(sink, journal);
  try {
    new ReferenceInterpreter({ observer, turn: STEPS_PER_TURN, inTurn: true }).runBlocks(
      launch,
      blocks,
      fuel,
    );
    observer.flush();
  } finally {
    journal.rollBack();
    restoreHeap?.();
  }
}

/** Gathers the lanes of one instruction's access into one call of the sink. */
class SinkObserver implements InterpreterObserver {
  private readonly addresses = new Float64Array(32);
  private mask = 0;
  private warp = 0;
  private index = 0;
  private space: 'global' | 'shared' = 'global';
  private kind: Kind = 'load';
  private bytes = 0;

  constructor(
    private readonly sink: TraceSink,
    private readonly journal: WriteJournal,
  ) {}

  get full(): boolean {
    return this.sink.full;
  }

  onBlock(block: number): void {
    this.flush();
    this.sink.onBlock(block);
  }

  onStep(warp: Warp, pc: number, _lanes: number, active: number): void {
    this.flush();
    this.sink.onInstruction(warp.index, pc, active);
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
    if (space === 'local' || space === 'param') return;
    if (space === 'global' && kind !== 'load') this.journal.remember(address, bytes);
    // Lanes of one instruction may name different spaces by generic addresses.
    if (this.mask !== 0 && space !== this.space) this.flush();
    this.warp = warp.index;
    this.index = pc;
    this.space = space;
    this.kind = kind;
    this.bytes = bytes;
    this.mask |= 1 << lane;
    this.addresses[lane] = address;
  }

  flush(): void {
    if (this.mask === 0) return;
    const { warp, index, space, kind, bytes, mask } = this;
    this.mask = 0;
    this.sink.onAccess(warp, index, space, kind, bytes, mask, this.addresses);
  }
}
