import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from '../profiles/index.js';
import type { LaunchRecord } from './launchRecord.js';
import type { ResidentGroup } from './residentGroup.js';

/** Whose turn it is on a card that runs one context at a time. Plain data. */
export interface TurnState {
  /** Whose blocks are on the SMs, or will be at `sinceNs`; undefined before the first. */
  context: number | undefined;
  /** When its turn begins, or began. */
  sinceNs: number;
  /** Blocks that were taken off the SMs in the middle, by context. */
  readonly parked: Map<number, ParkedBlocks>;
  /** How long a context's turns are, in nanoseconds, where that was said; the card's own slice otherwise. */
  readonly slices: Map<number, number>;
}

export interface ParkedBlocks {
  readonly sinceNs: number;
  groups: ResidentGroup[];
}

export function emptyTurns(): TurnState {
  return { context: undefined, sinceNs: 0, parked: new Map(), slices: new Map() };
}

/** A turn is to outlast what ends and begins it, and to end. */
const LEAST_SLICE_NS = 1e5;
const MOST_SLICE_NS = 1e9;

/** @throws GpuError `invalidShare` when contexts take no turns, or cannot have such ones */
export function checkSlice(turns: TurnState | undefined, sliceNs: number): TurnState {
  if (turns === undefined) {
    throw new GpuError(
      'invalidShare',
      'timeSliceNs: contexts of this GPU are side by side; only those that take turns have time slices',
      'timeSliceNs',
    );
  }
  if (!(sliceNs >= LEAST_SLICE_NS && sliceNs <= MOST_SLICE_NS)) {
    throw new GpuError(
      'invalidShare',
      `timeSliceNs: ${sliceNs}; a context's time slice is ${LEAST_SLICE_NS} to ${MOST_SLICE_NS} ns`,
      'timeSliceNs',
    );
  }
  return turns;
}

/** Takes a context's blocks off the SMs, and puts them back as they were. */
export interface BlockStage {
  park(context: number): ResidentGroup[];
  putBack(groups: readonly ResidentGroup[]): void;
  /** Whether the context will have a launch to run without anybody's doing. */
  comes(context: number): boolean;
}

/**
 * Contexts of several processes without MPS: each has the whole card for a slice of time, in turn. A context whose queues are
 * empty or wait for something gives its turn away at once, but not between two kernels of a stream. Between two contexts nothing runs.
 */
export class ContextTurns {
  constructor(
    private readonly profile: DeviceProfile,
    private readonly state: TurnState,
    private readonly launches: ReadonlyMap<number, LaunchRecord>,
    private readonly stage: BlockStage,
  ) {}

  /** Whether blocks of this launch may be on the SMs now. */
  hasTurn({ context }: LaunchRecord, nowNs: number): boolean {
    return context === this.state.context && nowNs >= this.state.sinceNs;
  }

  /** Passes the turn on where it is time to. @returns when to look again, if others wait. */
  settle(nowNs: number): number | undefined {
    const { state } = this;
    const wanting = this.wanting();
    if (wanting.length === 0) return undefined;
    if (nowNs < state.sinceNs) return state.sinceNs;
    const isWanted =
      state.context !== undefined && (wanting.includes(state.context) || this.stage.comes(state.context));
    const others = wanting.filter((context) => context !== state.context);
    if (others.length > 0 && (!isWanted || nowNs >= state.sinceNs + this.sliceNs())) {
      this.passTo(nextAfter(others, state.context ?? 0), nowNs);
      if (nowNs < state.sinceNs) return state.sinceNs;
    }
    this.unpark(nowNs);
    return others.length > 0 ? state.sinceNs + this.sliceNs() : undefined;
  }

  /** Of the context whose turn it is. */
  private sliceNs(): number {
    return this.state.slices.get(this.state.context ?? 0) ?? this.profile.timing.contextSliceNs;
  }

  /** A launch is dropped. @returns its blocks that are parked: they hold no SM. */
  drop(launch: number, nowNs: number): ResidentGroup[] {
    const dropped: ResidentGroup[] = [];
    for (const parked of this.state.parked.values()) {
      const groups = parked.groups.filter((group) => group.launch === launch);
      for (const group of groups) group.parkedNs += nowNs - parked.sinceNs;
      dropped.push(...groups);
      parked.groups = parked.groups.filter((group) => group.launch !== launch);
    }
    return dropped;
  }

  private passTo(context: number, nowNs: number): void {
    const { state } = this;
    if (state.context !== undefined) {
      const groups = this.stage.park(state.context);
      if (groups.length > 0) state.parked.set(state.context, { sinceNs: nowNs, groups });
    }
    const switchNs = state.context === undefined ? 0 : this.profile.timing.contextSwitchNs;
    state.context = context;
    state.sinceNs = nowNs + switchNs;
  }

  private unpark(nowNs: number): void {
    const { state } = this;
    const parked = state.context === undefined ? undefined : state.parked.get(state.context);
    if (state.context === undefined || parked === undefined) return;
    state.parked.delete(state.context);
    for (const group of parked.groups) group.parkedNs += nowNs - parked.sinceNs;
    this.stage.putBack(parked.groups);
  }

  /** Contexts that have something to run, by number. */
  private wanting(): number[] {
    const contexts = new Set<number>();
    for (const { phase, context } of this.launches.values()) if (phase === 'running') contexts.add(context);
    return [...contexts].sort((a, b) => a - b);
  }
}

function nextAfter(contexts: readonly number[], context: number): number {
  return contexts.find((other) => other > context) ?? contexts[0];
}
