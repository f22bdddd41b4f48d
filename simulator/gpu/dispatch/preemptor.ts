import { clusterBlocks } from '../../executor/index.js';
import type { Replay, SchedulingDecision } from '../../scheduling/index.js';
import { GpuError } from '../gpuError.js';
import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import type { BlockEngine } from './blockEngine.js';
import type { BlockSource } from './blockSource.js';
import type { ParkedBlocks } from './contextTurns.js';
import type { LaunchRecord } from './launchRecord.js';
import {
  canKill,
  contextBytes,
  lowestBlock,
  ranNs,
  saveNs,
  type PreemptionEvent,
  type PreemptionState,
} from './preemption.js';
import type { ResidentGroup } from './residentGroup.js';

/** What comes due of blocks that move: their SMs are free, or they are back on them. */
export type MoveEnd = 'vacated' | 'restored';

/** The SMs' side of it. */
export interface MovedBlocks {
  /** What a group's blocks held is taken (1) or free (-1). */
  hold(group: ResidentGroup, sign: 1 | -1): void;
  /** Whether they would fit where they were. */
  hasRoom(groups: readonly ResidentGroup[], block: BlockFootprint): boolean;
}

/** Who hears of preemptions. */
export interface PreemptionListener {
  /** Asks for `onMoved` at a moment. */
  later(end: MoveEnd, launch: number, atNs: number): void;
  /** A launch was killed, and has not completed. */
  onKilled(record: LaunchRecord): void;
  onPreempted(event: PreemptionEvent): void;
}

/**
 * Takes launches off the SMs in the middle and brings them back. A kill throws away all that is on the SMs and what was not
 * stored yet; a save keeps it. Either way the SMs are taken until the cost in time is over.
 */
export class Preemptor {
  constructor(
    private readonly profile: DeviceProfile,
    private readonly state: PreemptionState,
    private readonly launches: ReadonlyMap<number, LaunchRecord>,
    private readonly engine: BlockEngine,
    private readonly source: BlockSource,
    private readonly blocks: MovedBlocks,
    private readonly listener: PreemptionListener,
  ) {}

  /** @throws GpuError `unsafeKill`, `invalidDecision` */
  carryOut(
    decision: Exclude<SchedulingDecision, { readonly kind: 'dispatch' | 'hold' }>,
    record: LaunchRecord,
    nowNs: number,
  ): void {
    switch (decision.kind) {
      case 'kill':
        this.kill(record, decision.replay ?? 'unfinished', nowNs);
        return;
      case 'save':
        this.save(record, nowNs);
        return;
      case 'restore':
        this.restore(record, nowNs);
        return;
      case 'drain':
        this.drain(record, nowNs);
        return;
      default:
        throw new GpuError(
          'invalidDecision',
          `a policy decided '${String((decision as { kind: unknown }).kind)}'; there are: dispatch, hold, kill, save, restore, drain`,
        );
    }
  }

  private kill(record: LaunchRecord, replay: Replay, nowNs: number): void {
    this.checkResident(record, 'kill');
    if (!canKill(record)) throw unsafeKill(record);
    const bytes = contextBytes(record);
    const groups = this.engine.takeLaunch(record.id);
    const all = [...groups, ...this.takeSaved(record, nowNs)];
    let wastedBlockNs = 0;
    let firstUnfinished = record.next;
    for (const group of all) {
      wastedBlockNs += ranNs(group, nowNs) * group.count;
      firstUnfinished = Math.min(firstUnfinished, lowestBlock(group));
    }
    this.source.takeBack?.(record, all);
    // Blocks of a cluster run together again, though some may have come to their ends.
    const cluster = clusterBlocks(record.shape);
    const from = replay === 'all' ? record.lo : firstUnfinished - (firstUnfinished % cluster);
    wastedBlockNs += forgetDone(record, from - record.lo);
    record.ranUntil = Math.max(record.ranUntil, record.next);
    record.next = from;
    record.residentBlocks = 0;
    record.kills += 1;
    const { totals } = this.state;
    totals.kills += 1;
    totals.wastedBlockNs += wastedBlockNs;
    this.leave(record, groups, 'kill', bytes, wastedBlockNs, this.profile.timing.killNs, nowNs);
    this.listener.onKilled(record);
  }

  private save(record: LaunchRecord, nowNs: number): void {
    this.checkResident(record, 'save');
    const bytes = contextBytes(record);
    const groups = this.engine.park((group) => group.launch === record.id);
    record.residentBlocks = 0;
    this.state.totals.saves += 1;
    this.leave(record, groups, 'save', bytes, 0, saveNs(this.profile, bytes), nowNs);
  }

  canRestore(record: LaunchRecord): boolean {
    const saved = this.state.saved.get(record.id);
    return saved !== undefined && !record.isMoving && this.blocks.hasRoom(saved.groups, record.block);
  }

  private restore(record: LaunchRecord, nowNs: number): void {
    const { saved, restoring, totals } = this.state;
    const blocks = saved.get(record.id);
    if (blocks === undefined || !this.canRestore(record)) {
      throw new GpuError(
        'invalidDecision',
        `restore: launch ${record.id} ('${record.kernel}') has ${blocks === undefined ? 'nothing saved' : 'no room where it was'}; ask canRestore first`,
      );
    }
    saved.delete(record.id);
    restoring.set(record.id, blocks);
    for (const group of blocks.groups) this.blocks.hold(group, 1);
    const bytes = contextBytes({ ...record, residentBlocks: record.savedBlocks });
    record.isMoving = true;
    totals.restores += 1;
    this.listener.later('restored', record.id, nowNs + saveNs(this.profile, bytes));
  }

  /** A policy lets a launch's resident blocks come to their ends. */
  private drain(record: LaunchRecord, nowNs: number): void {
    this.checkResident(record, 'drain');
    if (record.drainSinceNs !== undefined) {
      throw new GpuError(
        'invalidDecision',
        `drain: launch ${record.id} ('${record.kernel}') is drained already`,
      );
    }
    record.drainSinceNs = nowNs;
    record.drainedBytes = contextBytes(record);
  }

  /** Its last resident block has come to its end. */
  drained(record: LaunchRecord, nowNs: number): void {
    const { drainSinceNs: decidedNs, drainedBytes = 0 } = record;
    if (decidedNs === undefined) return;
    record.drainSinceNs = undefined;
    record.drainedBytes = undefined;
    const { totals } = this.state;
    totals.drains += 1;
    totals.drainNs += nowNs - decidedNs;
    this.listener.onPreempted(event(record, 'drain', decidedNs, nowNs, drainedBytes, 0));
  }

  /** The end of a move that was announced with `later`. The engine must be at `nowNs`. */
  onMoved(end: MoveEnd, launch: number, nowNs: number): void {
    const record = this.launches.get(launch);
    if (record === undefined) return;
    record.isMoving = false;
    if (end === 'vacated') this.onVacated(record, nowNs);
    else this.onRestored(record, nowNs);
  }

  /** A launch goes for good. @returns its blocks that have begun and are on no SM any more */
  drop(record: LaunchRecord, nowNs: number): readonly ResidentGroup[] {
    const { leaving, saved, restoring } = this.state;
    const off: ResidentGroup[] = [];
    const left = leaving.get(record.id);
    for (const group of [...(left?.groups ?? []), ...(restoring.get(record.id)?.groups ?? [])]) {
      this.blocks.hold(group, -1);
    }
    for (const parked of [
      left?.kind === 'save' ? left : undefined,
      saved.get(record.id),
      restoring.get(record.id),
    ]) {
      if (parked !== undefined) off.push(...unparked(parked, nowNs));
    }
    for (const state of [leaving, saved, restoring]) state.delete(record.id);
    return off;
  }

  /** Blocks of a critical launch are placed for the first time. */
  started(record: LaunchRecord, nowNs: number): void {
    const { totals } = this.state;
    const waitNs = nowNs - (record.arrivedNs + record.leadNs);
    totals.criticalLaunches += 1;
    totals.criticalWaitNs += waitNs;
    totals.criticalMostWaitNs = Math.max(totals.criticalMostWaitNs, waitNs);
  }

  private leave(
    record: LaunchRecord,
    groups: ResidentGroup[],
    kind: 'kill' | 'save',
    bytes: number,
    wastedBlockNs: number,
    costNs: number,
    nowNs: number,
  ): void {
    record.isMoving = true;
    record.drainSinceNs = undefined;
    this.state.leaving.set(record.id, { kind, sinceNs: nowNs, groups, contextBytes: bytes, wastedBlockNs });
    this.listener.later('vacated', record.id, nowNs + costNs);
  }

  private onVacated(record: LaunchRecord, nowNs: number): void {
    const { leaving, saved, totals } = this.state;
    const left = leaving.get(record.id);
    if (left === undefined) return;
    leaving.delete(record.id);
    const { kind, sinceNs, groups, contextBytes: bytes, wastedBlockNs } = left;
    for (const group of groups) this.blocks.hold(group, -1);
    if (kind === 'kill') totals.killNs += nowNs - sinceNs;
    else {
      totals.saveNs += nowNs - sinceNs;
      saved.set(record.id, { sinceNs, groups: [...unparked(saved.get(record.id), sinceNs), ...groups] });
      record.savedBlocks += blocksOf(groups);
    }
    this.listener.onPreempted(event(record, kind, sinceNs, nowNs, bytes, wastedBlockNs));
  }

  private onRestored(record: LaunchRecord, nowNs: number): void {
    const blocks = this.state.restoring.get(record.id);
    if (blocks === undefined) return;
    this.state.restoring.delete(record.id);
    record.savedBlocks = 0;
    record.residentBlocks += blocksOf(blocks.groups);
    this.engine.putBack(unparked(blocks, nowNs));
  }

  private takeSaved(record: LaunchRecord, nowNs: number): readonly ResidentGroup[] {
    const groups = unparked(this.state.saved.get(record.id), nowNs);
    this.state.saved.delete(record.id);
    record.savedBlocks = 0;
    this.engine.leaveParked(groups);
    return groups;
  }

  private checkResident(record: LaunchRecord, decision: string): void {
    if (record.residentBlocks > 0 && !record.isMoving) return;
    throw new GpuError(
      'invalidDecision',
      `${decision}: launch ${record.id} ('${record.kernel}') ${record.isMoving ? 'is on its way off the SMs or back' : 'has no blocks on the SMs'}`,
    );
  }
}

/** Ends the time that blocks have spent off the SMs. */
function unparked(parked: ParkedBlocks | undefined, nowNs: number): readonly ResidentGroup[] {
  if (parked === undefined) return [];
  for (const group of parked.groups) group.parkedNs += nowNs - parked.sinceNs;
  return parked.groups;
}

/** Of the blocks that had come to their ends only the first `kept` count. @returns what the others took of the SMs */
function forgetDone(record: LaunchRecord, kept: number): number {
  const { doneBlocks, doneBlockNs } = record;
  const lost = doneBlocks > kept ? (doneBlockNs * (doneBlocks - kept)) / doneBlocks : 0;
  record.doneBlocks = Math.min(doneBlocks, kept);
  record.doneBlockNs -= lost;
  return lost;
}

function blocksOf(groups: readonly ResidentGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

function event(
  { id: launch, command, context, kernel, launchClass }: LaunchRecord,
  kind: PreemptionEvent['kind'],
  decidedNs: number,
  freeNs: number,
  bytes: number,
  wastedBlockNs: number,
): PreemptionEvent {
  return {
    kind,
    launch,
    command,
    context,
    kernel,
    launchClass,
    decidedNs,
    freeNs,
    contextBytes: bytes,
    wastedBlockNs,
  };
}

function unsafeKill({ id, kernel, verdict, cooperative, mustNotKill }: LaunchRecord): GpuError {
  const why =
    verdict?.idempotent !== true
      ? `it is not proved idempotent (${verdict?.cause ?? 'nobody asked'})`
      : cooperative === true
        ? 'its blocks wait for one another'
        : mustNotKill === true
          ? 'something that overlaps its memory is under way'
          : 'its stores were not kept, since the policy said by mayKill that it never kills it';
  return new GpuError(
    'unsafeKill',
    `launch ${id} ('${kernel}') must not be killed: ${why}; save or drain it`,
  );
}
