import { GpuError } from '../gpuError.js';
import type { DeviceView, SchedulingPolicy } from '../../scheduling/index.js';
import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES, type BlockWork } from '../timing/index.js';
import type { BlockEngine } from './blockEngine.js';
import type { BlockSource } from './blockSource.js';
import { ContextTurns, type BlockStage, type TurnState } from './contextTurns.js';
import { strike } from './faultWatch.js';
import { alikeBlocks, knownFrom, runAt } from './knownWork.js';
import type { BlockReport, LaunchRecord } from './launchRecord.js';
import type { PlacedBlocks } from './placing.js';
import { haveRoom, keepsStores, preemptionCosts, ranNs, type PreemptionState } from './preemption.js';
import { Preemptor, type MovedBlocks, type PreemptionListener } from './preemptor.js';
import { RampedWorks } from './rampedWorks.js';
import { blockAt, roundRobin, type ResidentGroup } from './residentGroup.js';
import {
  allowedSms,
  emptySmUse,
  fillRanks,
  occupy,
  placeBlocks,
  room,
  roomOn,
  type SmUse,
} from './smPool.js';
import { VacatedPlaces, type Places } from './vacatedPlaces.js';

const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');

/**
 * Owns the blocks that are not dispatched yet: asks the policy who is next, places blocks within occupancy and the
 * launch's TPCs, runs them functionally and hands them to the engine as resident work.
 */
export class Dispatcher implements BlockStage, MovedBlocks {
  readonly preemptor: Preemptor;
  private readonly contextTurns: ContextTurns | undefined;
  /** An SM that holds nothing. */
  private readonly nothing = emptySmUse(1);

  private readonly tpcs: number;
  private readonly ramped: RampedWorks;
  private readonly vacated: VacatedPlaces;
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

  constructor(
    private readonly profile: DeviceProfile,
    private readonly launches: Map<number, LaunchRecord>,
    private readonly use: SmUse,
    private readonly engine: BlockEngine,
    private readonly execution: BlockSource,
    private readonly policy: SchedulingPolicy,
    /** Of a card that runs one context at a time. */
    turns: TurnState | undefined,
    preemption: PreemptionState,
    listener: PreemptionListener,
    /** Whether the device's front end is at work for a context, which launches may be behind. */
    private readonly isAtFrontEnd: (context: number) => boolean,
  ) {
    this.tpcs = profile.sms / profile.smsPerTpc;
    this.ramped = new RampedWorks(profile.timing.blocksPerCycle);
    this.vacated = new VacatedPlaces(fillRanks(profile));
    this.shown = {
      nowNs: 0,
      tpcs: this.tpcs,
      launches: this.running,
      comes: (context) => this.comes(context),
      fits: this.fits,
      canRestore: (launch) => this.preemptor.canRestore(this.recordOf(launch)),
      costs: (launch) => {
        this.giveUpVacated();
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
    return this.isAtFrontEnd(context);
  }

  park(context: number): ResidentGroup[] {
    const groups = this.engine.park((group) => this.launches.get(group.launch)?.context === context);
    for (const group of groups) this.occupyAgain(group, -1);
    return groups;
  }

  hold(group: ResidentGroup, sign: 1 | -1): void {
    this.vacated.fullFor = undefined;
    this.occupyAgain(group, sign);
  }

  hasRoom(groups: readonly ResidentGroup[], block: BlockFootprint): boolean {
    this.giveUpVacated();
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
      this.canTakeOver(this.line, undefined)
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
    if (record === undefined || record.reportBlocks || !this.vacated.holdsAllRoom(record.block)) return false;
    const { count } = group;
    const { next } = line;
    if (count > line.hi - next) return false;
    const run = runAt(line.known, next);
    if (alikeBlocks(line.known, run, next, count) < count) return false;
    const { work } = line.known[run];
    this.count(record, group);
    this.engine.passOn(position, line.id, next === line.lo ? this.ramped.of(work, count) : work, next);
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
    this.giveUpVacated();
    this.engine.dropFinished();
    return filled;
  }

  private dispatchAll(nowNs: number): Filled {
    if (this.vacated.blocks > 0 && this.isPassedOn()) return FILLED;
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
        this.giveUpVacated();
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
    if (line === undefined || line.next >= line.hi || !this.canTakeOver(line, undefined)) return false;
    this.takeOver(line, Infinity);
    return line.fault === undefined && this.vacated.blocks === 0 && line.next < line.hi;
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
    if (!keepsPlaces) this.giveBack(group, record.block);
    else if (this.vacated.holdsAllRoom(record.block)) this.vacated.add(sms, perSm, record.block);
    else {
      this.engine.leave(sms);
      this.giveBack(group, record.block);
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
    this.giveUpVacated();
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
    this.giveBack(group, record.block);
    record.residentBlocks -= group.count;
  }

  /** What blocks held is free. */
  private giveBack({ sms, perSm }: Places, block: BlockFootprint): void {
    this.vacated.fullFor = undefined;
    for (let index = 0; index < sms.length; index++) occupy(this.use, sms[index], block, -perSm);
  }

  /** Places that nobody has taken over are free as any others. */
  private giveUpVacated(): void {
    const { footprint } = this.vacated;
    if (footprint === undefined) return;
    for (let places = this.vacated.pop(); places !== undefined; places = this.vacated.pop()) {
      this.engine.leave(places.sms);
      this.giveBack(places, footprint);
    }
  }

  private occupyAgain(group: ResidentGroup, sign: 1 | -1): void {
    const record = this.launches.get(group.launch);
    if (record === undefined) return;
    for (const sm of group.sms) occupy(this.use, sm, record.block, sign * group.perSm);
  }

  private dispatch(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    const isFirst = record.launchClass === 'critical' && record.next === record.lo && record.kills === 0;
    const dispatched = record.isMoving ? 0 : this.dispatchNow(record, wanted, narrower);
    if (dispatched > 0) {
      record.drainSinceNs = undefined;
      if (isFirst) this.preemptor.started(record, this.engine.state.asOfNs);
    }
    return dispatched;
  }

  private dispatchNow(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    if (this.vacated.blocks > 0) {
      const taken = this.canTakeOver(record, narrower) ? this.takeOver(record, wanted) : 0;
      if (taken > 0 || record.fault !== undefined) return taken;
      this.giveUpVacated();
    }
    return this.place(record, wanted, narrower);
  }

  /** Whether all the room that there is for the launch is what blocks have just left. */
  private canTakeOver(record: LaunchRecord, narrower: bigint | undefined): boolean {
    return (
      narrower === undefined &&
      record.cooperative !== true &&
      this.vacated.holdsAllRoom(record.block) &&
      record.tpcMask < 0n
    );
  }

  /** The next blocks take the places of others that have just ended. @returns how many; 0 where it is not so simple */
  private takeOver(record: LaunchRecord, wanted: number): number {
    const { next: first } = record;
    const count = Math.min(wanted, record.hi - first, this.vacated.blocks);
    const { known } = record;
    const isAlike =
      known === undefined
        ? this.execution.chunk(record, count) === count
        : alikeBlocks(known, runAt(known, first), first, count) === count;
    const places = isAlike ? this.vacated.take(count) : undefined;
    if (places === undefined) return 0;
    const { sms, perSm } = places;
    let work: BlockWork | undefined;
    if (known === undefined) {
      const capacity = Math.max(1, this.capacityOf(record.block, this.profile.sms));
      work = this.execute(record, inOrder(places), 0, capacity)?.work;
      if (work === undefined) {
        this.engine.leave(sms);
        this.giveBack(places, record.block);
        return 0;
      }
    } else {
      ({ work } = known[runAt(known, first)]);
      record.next += count;
    }
    record.residentBlocks += count;
    const started = first === record.lo ? this.ramped.of(work, count) : work;
    this.engine.refill(
      record.id,
      started,
      sms,
      perSm,
      first,
      perSm > 1 ? roundRobin(sms, perSm, first) : undefined,
    );
    return count;
  }

  private place(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    const sms = this.smsOf(record, narrower);
    // A cooperative launch starts whole or not at all; `fits` has told the policy so.
    const count =
      record.cooperative === true ? record.hi - record.next : Math.min(wanted, record.hi - record.next);
    const first = record.next;
    const chosen = placeBlocks(this.profile, this.use, sms, record.block, count);
    if (record.cooperative === true && chosen.length < count) {
      for (const sm of chosen) occupy(this.use, sm, record.block, -1);
      return 0;
    }
    const capacity = Math.max(1, this.capacityOf(record.block, sms.length));
    const placed: PlacedBlocks[] = [];
    let done = 0;
    while (done < chosen.length) {
      const next =
        record.known === undefined
          ? this.execute(record, chosen, done, capacity)
          : knownFrom(record.known, record.next, chosen.length - done);
      if (next === undefined) break;
      const { work, blocks } = next;
      if (record.known !== undefined) record.next += blocks;
      const started = first === record.lo ? this.ramped.of(work, chosen.length) : work;
      placed.push({ work: started, firstBlock: first + done, sms: chosen.slice(done, done + blocks) });
      done += blocks;
    }
    for (const sm of chosen.slice(done)) occupy(this.use, sm, record.block, -1);
    record.residentBlocks += done;
    this.engine.add(record.id, placed);
    return done;
  }

  /** Runs the next blocks that were given SMs, from the one at `done` on. @returns undefined on a fault */
  private execute(
    record: LaunchRecord,
    chosen: readonly number[],
    done: number,
    capacity: number,
  ): { readonly work: BlockWork; readonly blocks: number } | undefined {
    const blocks = this.execution.chunk(record, chosen.length - done);
    const { asOfNs, clockHz } = this.engine.state;
    const work = this.execution.run(
      record,
      chosen.slice(done, done + blocks),
      asOfNs,
      clockHz,
      capacity,
      this.otherFootprint(record),
    );
    return work === undefined ? undefined : { work, blocks };
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

  private readonly fits = (launch: number, tpcMask?: bigint): number => {
    const record = this.launches.get(launch);
    if (record === undefined || record.phase !== 'running' || record.isMoving) return 0;
    const waiting = record.hi - record.next;
    if (this.canTakeOver(record, tpcMask)) return Math.min(this.vacated.blocks, waiting);
    this.giveUpVacated();
    const free = roomOn(this.profile, this.use, this.smsOf(record, tpcMask), record.block, waiting);
    if (free <= 0 && waiting > 0 && tpcMask === undefined && record.tpcMask < 0n) {
      this.vacated.fullFor = record.block;
    }
    return record.cooperative === true && free < waiting ? 0 : Math.min(free, waiting);
  };

  private smsOf(record: LaunchRecord, narrower: bigint | undefined): readonly number[] {
    const mask =
      narrower === undefined ? record.tpcMask : record.tpcMask < 0n ? narrower : record.tpcMask & narrower;
    return allowedSms(this.profile, mask);
  }

  /** Blocks of this kind that SMs of these TPCs hold when nothing else is there. */
  capacity(block: BlockFootprint, tpcMask: bigint): number {
    return this.capacityOf(block, allowedSms(this.profile, tpcMask).length);
  }

  private capacityOf(block: BlockFootprint, sms: number): number {
    return sms * room(this.profile, this.nothing, 0, block);
  }

  private otherFootprint(record: LaunchRecord): number {
    let bytes = 0;
    for (const other of this.launches.values()) {
      if (other === record || other.phase !== 'running' || other.plan === undefined) continue;
      bytes += other.plan.touched.reduce((sum, segment) => sum + segment.bytes, 0);
    }
    return bytes;
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

/** SM of each block in the order in which blocks are placed: one on each SM, then the next round. */
function inOrder({ sms, perSm }: Places): readonly number[] {
  if (perSm === 1) return sms;
  return Array.from({ length: perSm }, () => sms).flat();
}
