import { GpuError } from '../gpuError.js';
import type { DeviceView, SchedulingPolicy } from '../../scheduling/index.js';
import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES } from '../timing/index.js';
import type { BlockEngine } from './blockEngine.js';
import { BlockPlacer } from './blockPlacer.js';
import type { BlockSource } from './blockSource.js';
import { ContextTurns, type BlockStage, type TurnState } from './contextTurns.js';
import { strike } from './faultWatch.js';
import { alikeBlocks, runAt } from './knownWork.js';
import type { BlockReport, LaunchRecord } from './launchRecord.js';
import { haveRoom, keepsStores, preemptionCosts, ranNs, type PreemptionState } from './preemption.js';
import { Preemptor, type MovedBlocks, type PreemptionListener } from './preemptor.js';
import { blockAt, type ResidentGroup } from './residentGroup.js';
import { occupy, type SmUse } from './smPool.js';

const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');

/** What of the device's state is the dispatcher's. */
export interface DispatchState {
  readonly launches: Map<number, LaunchRecord>;
  readonly use: SmUse;
  /** Of a card that runs one context at a time. */
  readonly turns?: TurnState | undefined;
  readonly preemption: PreemptionState;
}

export interface DispatchListener extends PreemptionListener {
  /** Whether the device's front end is at work for a context, which launches may be behind. */
  isAtFrontEnd(context: number): boolean;
}

/** Owns the blocks that are not dispatched yet: asks the policy who is next, has blocks placed, and counts those that end. */
export class Dispatcher implements BlockStage, MovedBlocks {
  readonly preemptor: Preemptor;
  private readonly contextTurns: ContextTurns | undefined;

  private readonly tpcs: number;
  private readonly placer: BlockPlacer;
  /** Launches that have ended since somebody asked. */
  private spent: LaunchRecord[] = [];
  /** Those of the view, as long as none starts or goes. */
  private readonly running: LaunchRecord[] = [];
  private isStale = true;
  /** All room that has come free since the last round of decisions went to who was next in line, and is so still. */
  private isHeld = false;
  /** Next in line, see `SchedulingPolicy`. */
  private line: LaunchRecord | undefined;
  private readonly shown: { nowNs: number } & DeviceView;
  private readonly launches: Map<number, LaunchRecord>;
  private readonly use: SmUse;

  constructor(
    private readonly profile: DeviceProfile,
    private readonly engine: BlockEngine,
    private readonly execution: BlockSource,
    private readonly policy: SchedulingPolicy,
    { launches, use, turns, preemption }: DispatchState,
    private readonly listener: DispatchListener,
  ) {
    this.launches = launches;
    this.use = use;
    this.tpcs = profile.sms / profile.smsPerTpc;
    this.placer = new BlockPlacer(profile, launches, use, engine, execution);
    this.shown = {
      nowNs: 0,
      tpcs: this.tpcs,
      launches: this.running,
      comes: (context) => this.comes(context),
      fits: (launch, tpcMask) => this.placer.fits(this.launches.get(launch), tpcMask),
      canRestore: (launch) => this.preemptor.canRestore(this.recordOf(launch)),
      costs: (launch) => {
        this.placer.giveUpVacated();
        engine.dropFinished();
        return preemptionCosts(profile, this.recordOf(launch), engine.state.groups, engine.state.asOfNs);
      },
    };
    this.preemptor = new Preemptor(profile, preemption, launches, engine, execution, this, listener);
    this.contextTurns = turns === undefined ? undefined : new ContextTurns(profile, turns, launches, this);
  }

  /** Passes the card on to another context where it is time to. @returns when to look again */
  settleTurns(nowNs: number): number | undefined {
    return this.contextTurns?.settle(nowNs);
  }

  /** Contexts have the device in turn: what comes behind a launch must show before a turn is passed on. */
  get takesTurns(): boolean {
    return this.contextTurns !== undefined || this.policy.takesTurns === true;
  }

  comes(context: number): boolean {
    for (const record of this.launches.values()) {
      if (record.context === context && record.phase === 'starting') return true;
    }
    return this.listener.isAtFrontEnd(context);
  }

  park(context: number): ResidentGroup[] {
    const groups = this.engine.park((group) => this.launches.get(group.launch)?.context === context);
    for (const group of groups) this.occupyAgain(group, -1);
    return groups;
  }

  hold(group: ResidentGroup, sign: 1 | -1): void {
    this.placer.vacated.fullFor = undefined;
    this.occupyAgain(group, sign);
  }

  hasRoom(groups: readonly ResidentGroup[], block: BlockFootprint): boolean {
    this.placer.giveUpVacated();
    return haveRoom(this.profile, this.use, groups, block);
  }

  putBack(groups: readonly ResidentGroup[]): void {
    for (const group of groups) this.occupyAgain(group, 1);
    this.engine.putBack(groups);
  }

  /** A launch may give blocks from now on. */
  start(record: LaunchRecord): void {
    record.phase = 'running';
    if (keepsStores(record, this.policy)) record.isObserved = true;
    this.isStale = true;
    this.line = undefined;
    if (record.next >= record.hi) this.spent.push(record);
  }

  /** Blocks that have finished by now leave. */
  retireFinished(nowNs: number, reports: BlockReport[]): void {
    this.isHeld = false;
    const only = this.engine.onlyFinished();
    if (only === -1) return;
    const keepsPlaces = this.contextTurns === undefined && this.engine.areApart;
    if (only >= 0 && this.passesOn && this.passOn(only)) return;
    const finished = this.engine.takeFinished(keepsPlaces);
    for (let index = 0; index < finished.length; index++) {
      this.retire(finished[index], keepsPlaces, nowNs, reports);
    }
  }

  /** Whether the room that comes free goes to one launch, as `passOn` gives it, until that has no block left. */
  get passesOn(): boolean {
    return (
      this.line?.known !== undefined &&
      this.contextTurns === undefined &&
      this.engine.areApart &&
      this.placer.canTakeOver(this.line, undefined)
    );
  }

  /** There is nothing to ask or tell since the last `passOn`. */
  get isSettled(): boolean {
    return this.isHeld && this.spent.length === 0;
  }

  /**
   * The blocks that are next in line take the places of a group that has finished, where there are as many alike. What most
   * ends of blocks come to: nothing is asked, and nothing that is occupied changes. Call while `passesOn`. @returns whether
   */
  passOn(position: number): boolean {
    const { line } = this;
    if (line?.known === undefined) return false;
    const group = this.engine.state.groups[position];
    const record = this.launches.get(group.launch);
    if (record === undefined || record.reportBlocks || !this.placer.vacated.holdsAllRoom(record.block))
      return false;
    const { count } = group;
    const { next } = line;
    if (count > line.hi - next) return false;
    const run = runAt(line.known, next);
    if (alikeBlocks(line.known, run, next, count) < count) return false;
    const { work } = line.known[run];
    this.count(record, group);
    this.engine.passOn(position, line.id, next === line.lo ? this.placer.ramped.of(work, count) : work, next);
    if (next === line.lo && line.launchClass === 'critical')
      this.preemptor.started(line, this.engine.state.asOfNs);
    line.next = next + count;
    line.residentBlocks += count;
    this.isHeld = line.next < line.hi;
    return true;
  }

  /** Takes the launches off whose blocks are all over, in order of arrival. */
  takeEnded(): readonly LaunchRecord[] {
    const { spent } = this;
    if (spent.length === 0) return NONE;
    if (spent.length > 1) spent.sort((a, b) => a.id - b.id);
    for (const record of spent) this.forget(record);
    this.spent = [];
    return spent;
  }

  /**
   * Dispatches until the policy holds. @returns the launches that faulted meanwhile, and when the policy wants to be
   * asked again.
   */
  fill(nowNs: number): Filled {
    if (this.isHeld) return FILLED;
    let filled = FILLED;
    if (this.launches.size === 0) this.policy.onIdle?.(nowNs);
    else filled = this.dispatchAll(nowNs);
    this.placer.giveUpVacated();
    this.engine.dropFinished();
    return filled;
  }

  private dispatchAll(nowNs: number): Filled {
    if (this.placer.vacated.blocks > 0 && this.isPassedOn()) return FILLED;
    let faulted: LaunchRecord[] | undefined;
    let view = this.view(nowNs);
    for (;;) {
      const decision = this.policy.decide(view);
      if (decision.kind === 'hold') {
        if (faulted === undefined && decision.untilNs === undefined) {
          const { nextInLine } = this.policy;
          this.line = nextInLine === undefined ? undefined : this.launches.get(nextInLine);
          return FILLED;
        }
        return { faulted: faulted ?? NONE, wakeNs: decision.untilNs };
      }
      const record = this.recordOf(decision.launch);
      if (decision.kind !== 'dispatch') {
        this.placer.giveUpVacated();
        this.preemptor.carryOut(decision, record, nowNs);
        continue;
      }
      const dispatched = this.dispatch(record, decision.blocks, decision.tpcMask);
      if (record.fault !== undefined) {
        record.phase = 'faulted';
        record.endNs = nowNs;
        this.drop(record);
        if (faulted === undefined) faulted = [record];
        else faulted.push(record);
        view = this.view(nowNs);
      } else if (dispatched === 0) {
        return faulted === undefined ? FILLED : { faulted, wakeNs: undefined };
      }
    }
  }

  private recordOf(launch: number): LaunchRecord {
    const record = this.launches.get(launch);
    if (record !== undefined) return record;
    throw new GpuError(
      'invalidDecision',
      `policy '${this.policy.name}' chose launch ${launch}, which is not there`,
    );
  }

  /** Whether all room there is went to the launch that is next in line, and more of its blocks wait. */
  private isPassedOn(): boolean {
    const { line } = this;
    if (line === undefined || line.next >= line.hi || !this.placer.canTakeOver(line, undefined)) return false;
    this.placer.takeOver(line, Infinity);
    return line.fault === undefined && this.placer.vacated.blocks === 0 && line.next < line.hi;
  }

  /** Gives back what a group's blocks held and counts them. */
  private retire(group: ResidentGroup, keepsPlaces: boolean, nowNs: number, reports: BlockReport[]): void {
    const { sms, perSm, count } = group;
    const record = this.launches.get(group.launch);
    if (record === undefined) {
      if (keepsPlaces) this.engine.leave(sms);
      return;
    }
    this.count(record, group);
    if (!keepsPlaces) this.placer.giveBack(group, record.block);
    else if (this.placer.vacated.holdsAllRoom(record.block))
      this.placer.vacated.add(sms, perSm, record.block);
    else {
      this.engine.leave(sms);
      this.placer.giveBack(group, record.block);
    }
    if (!record.reportBlocks) return;
    for (let place = 0; place < count; place++) {
      const sm = sms[Math.floor(place / perSm)];
      const block = blockAt(group, place);
      const { id: launch, command } = record;
      reports.push({ launch, command, block, sm, startNs: group.startNs, endNs: nowNs });
    }
  }

  /** Counts blocks that have come to their end. */
  private count(record: LaunchRecord, group: ResidentGroup): void {
    const { work, count } = group;
    record.residentBlocks -= count;
    record.doneBlocks += count;
    record.dramBytes += work.device[DRAM_BYTES] * count;
    if (this.policy.preempts === true || record.faultPoint !== undefined)
      this.countPreemptable(record, group);
    if (record.residentBlocks === 0 && record.next >= record.hi) this.spent.push(record);
  }

  /** What only matters to launches that may be taken off the SMs, by a policy or a fault. */
  private countPreemptable(record: LaunchRecord, group: ResidentGroup): void {
    const { asOfNs } = this.engine.state;
    record.doneBlockNs += ranNs(group, asOfNs) * group.count;
    this.execution.settle?.(record, group);
    if (record.residentBlocks === 0) this.preemptor.drained(record, asOfNs);
  }

  /** Takes a launch off the device, resident blocks and all. */
  drop(record: LaunchRecord): void {
    this.takeOff(record);
  }

  /** A transient fault strikes a launch: its blocks stop where they are, and all of it leaves the device. */
  fail(record: LaunchRecord, nowNs: number): void {
    this.placer.giveUpVacated();
    this.execution.takeBack?.(record, this.takeOff(record));
    strike(record, nowNs);
  }

  /** @returns its blocks that had begun and were not at their end */
  private takeOff(record: LaunchRecord): ResidentGroup[] {
    const { asOfNs } = this.engine.state;
    const groups = this.engine.takeLaunch(record.id);
    for (const group of groups) this.release(group);
    const off = [
      ...this.preemptor.drop(record, asOfNs),
      ...(this.contextTurns?.drop(record.id, asOfNs) ?? []),
    ];
    this.engine.leaveParked(off);
    this.forget(record);
    return [...groups, ...off];
  }

  private forget(record: LaunchRecord): void {
    this.launches.delete(record.id);
    this.isStale = true;
    if (this.line === record) this.line = undefined;
  }

  private release(group: ResidentGroup): void {
    const record = this.launches.get(group.launch);
    if (record === undefined) return;
    this.placer.giveBack(group, record.block);
    record.residentBlocks -= group.count;
  }

  private occupyAgain(group: ResidentGroup, sign: 1 | -1): void {
    const record = this.launches.get(group.launch);
    if (record === undefined) return;
    for (const sm of group.sms) occupy(this.use, sm, record.block, sign * group.perSm);
  }

  private dispatch(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    const isFirst = record.launchClass === 'critical' && record.next === record.lo && record.kills === 0;
    const dispatched = record.isMoving ? 0 : this.placer.dispatch(record, wanted, narrower);
    if (dispatched > 0) {
      record.drainSinceNs = undefined;
      if (isFirst) this.preemptor.started(record, this.engine.state.asOfNs);
    }
    return dispatched;
  }

  /** Blocks of this kind that SMs of these TPCs hold when nothing else is there. */
  capacity(block: BlockFootprint, tpcMask: bigint, size: number): number {
    return this.placer.capacity(block, tpcMask, size);
  }

  /** One for all decisions of a moment: it shows launches as they are when it is asked. */
  private view(nowNs: number): DeviceView {
    const { running, shown } = this;
    shown.nowNs = nowNs;
    if (!this.isStale && this.contextTurns === undefined) return shown;
    this.isStale = false;
    while (running.length > 0) running.pop();
    for (const record of this.launches.values()) {
      if (record.phase === 'running' && this.contextTurns?.hasTurn(record, nowNs) !== false)
        running.push(record);
    }
    return shown;
  }
}

/** What came of a round of decisions. */
export interface Filled {
  readonly faulted: readonly LaunchRecord[];
  /** When the policy wants to be asked again. */
  readonly wakeNs: number | undefined;
}

const NONE: readonly LaunchRecord[] = [];
const FILLED: Filled = { faulted: NONE, wakeNs: undefined };
