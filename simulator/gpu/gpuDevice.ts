import type { Agenda, AgendaTarget } from './agenda.js';
import type { DeviceObserver } from './deviceObserver.js';
import { functionalSource, type DeviceExecution, type DeviceListener } from './deviceSurroundings.js';
import { emptyDevice, type DeviceState } from './deviceState.js';
import { checkClock, checkMemoryClock, checkPowerLimit, deviceReadings } from './deviceControls.js';
import { GpuError } from './gpuError.js';
import {
  BlockEngine,
  BlockSources,
  CostedExecution,
  Dispatcher,
  FaultWatch,
  checkSlice,
  giveShare,
  l2Key,
  refuseHeld,
  launchRecord,
  withinShare,
  type BlockReport,
  type KeptProfiles,
  type LaunchRecord,
  type LaunchRequest,
  type ParkedBlocks,
  type PreemptionTotals,
  type ResidentGroup,
  type TurnState,
} from './dispatch/index.js';
import { PowerMeter, type DeviceReadings } from './power/index.js';
import type { DeviceProfile } from './profiles/index.js';
import type { LaunchVerdict, SchedulingPolicy } from '../scheduling/index.js';
import { SmActivity, type SmCounts } from './smActivity.js';
import { forgetSegment, touchSegments } from './timing/index.js';
import { UsageMeter, type DeviceUsage } from './usage/index.js';

/** One simulated GPU's compute side: launches in, ends out, on the agenda's time. */
export class GpuDevice implements AgendaTarget {
  private readonly engine: BlockEngine;
  private readonly dispatcher: Dispatcher;
  private busyInside = false;
  /** A listener dropped launches while the device was settling. */
  private roomMade = false;
  /** There while somebody watches. No part of the state: it changes nothing that is simulated. */
  private activity: SmActivity | undefined;
  private readonly meter: UsageMeter;
  private readonly power: PowerMeter;
  private readonly faults: FaultWatch;
  private observer: DeviceObserver | undefined;
  /** Power has to be looked at whether rates change or not. */
  private isPowerStale = true;
  /** Of blocks that have ended since listeners were told. */
  private reports: BlockReport[] = [];

  constructor(
    readonly profile: DeviceProfile,
    private readonly name: string,
    private readonly agenda: Agenda,
    private readonly policy: SchedulingPolicy,
    execution: DeviceExecution,
    private readonly listener: DeviceListener,
    readonly state: DeviceState = emptyDevice(profile, agenda.nowNs()),
  ) {
    if (state.policy !== undefined) policy.restore(state.policy);
    this.power = new PowerMeter(profile, state.power);
    this.meter = new UsageMeter(state.launches, agenda.nowNs());
    this.engine = new BlockEngine(
      profile,
      state.engine,
      (group, done) => this.onLeave(group, done),
      false,
      (work) => this.power.energyOf(work),
    );
    this.dispatcher = new Dispatcher(
      profile,
      this.engine,
      new BlockSources(
        new CostedExecution(profile, execution.source, state.l2),
        functionalSource(profile, execution, state),
      ),
      policy,
      state,
      {
        later: (end, launch, atNs) => agenda.schedule(name, atNs, end, launch),
        onKilled: (record) => this.listener.onLaunchKilled?.(record),
        onPreempted: (event) => this.observer?.onPreempted?.(event),
        isAtFrontEnd: (context) => this.listener.isAtFrontEnd?.(context) === true,
      },
    );
    this.faults = new FaultWatch(state.launches, this.engine);
    agenda.attach(name, this);
  }

  /**
   * Takes a launch; its first block starts `leadNs` from now at the earliest. What comes beside the request is of this launch
   * alone: equal ones may share a request. @returns its id on this device
   */
  launch(
    request: LaunchRequest,
    leadNs = request.leadNs,
    command = request.command,
    gridWorkspace = request.gridWorkspace,
  ): number {
    const nowNs = this.agenda.nowNs();
    const tpcMask = withinShare(this.state.shares, request.context, request.tpcMask);
    if (request.cooperative === true) this.checkTogether(request, tpcMask);
    const id = this.state.nextLaunch++;
    const millijoules = this.power.millijoulesAt(nowNs);
    const own = { id, command, leadNs, gridWorkspace };
    const record = launchRecord(request, own, nowNs, millijoules, this.state.warmNext, tpcMask);
    this.state.launches.set(id, record);
    this.faults.watch(record);
    this.state.warmNext = false;
    this.agenda.schedule(this.name, nowNs + leadNs, 'start', id);
    return id;
  }

  /**
   * Leaves a context's later launches but a share of the SMs, as MPS does by its percentage of active threads.
   * @throws GpuError `invalidShare`
   */
  giveShare(context: number, percentage: number): void {
    giveShare(this.profile, this.state.shares, context, percentage);
  }

  /** Where contexts take turns: how long this one's are from now on. @throws GpuError `invalidShare` */
  giveSlice(context: number, sliceNs: number): void {
    this.checkSlice(sliceNs).slices.set(context, sliceNs);
  }

  /** @throws GpuError `invalidShare` when a context of this device cannot have such turns */
  checkSlice(sliceNs: number): TurnState {
    return checkSlice(this.state.turns, sliceNs);
  }

  /** A context is gone, and its share and its time slice with it. */
  forgetContext(context: number): void {
    this.state.turns?.slices.delete(context);
    this.state.shares.delete(context);
  }

  /** Drops a context's launches, with no end told. */
  killContext(context: number): void {
    const nowNs = this.agenda.nowNs();
    this.advance(nowNs);
    for (const record of [...this.state.launches.values()]) {
      if (record.context !== context) continue;
      record.phase = 'killed';
      this.dispatcher.drop(record);
    }
    if (this.busyInside) this.roomMade = true;
    else this.settle(nowNs);
  }

  /**
   * Sets the application clock of all SMs; running blocks go on at the new pace. The power limit may hold the clock below it.
   * @throws GpuError `invalidClock`
   */
  setClock(clockHz: number): void {
    checkClock(this.profile, clockHz);
    const nowNs = this.agenda.nowNs();
    this.advance(nowNs);
    this.state.power.applicationClockHz = clockHz;
    this.isPowerStale = true;
    this.engine.setClock(clockHz);
    this.settle(nowNs);
  }

  /** DRAM's clock; its bandwidth goes with it. @throws GpuError `invalidClock` */
  setMemoryClock(clockHz: number): void {
    checkMemoryClock(this.profile, clockHz);
    const nowNs = this.agenda.nowNs();
    this.advance(nowNs);
    this.engine.setMemoryClock(clockHz);
    this.settle(nowNs);
  }

  /** @throws GpuError `invalidPowerLimit` */
  setPowerLimit(watts: number): void {
    checkPowerLimit(this.profile, watts);
    const nowNs = this.agenda.nowNs();
    this.advance(nowNs);
    this.state.power.limitWatts = watts;
    this.isPowerStale = true;
    this.settle(nowNs);
  }

  /** What its sensors show now. Looking changes nothing that is simulated. */
  readings(): DeviceReadings {
    const atNs = this.agenda.nowNs();
    return deviceReadings(this.profile, this.state, this.power, atNs);
  }

  /** A segment was freed: nothing of it is in L2 any more. */
  forget(context: number, segment: number): void {
    forgetSegment(this.state.l2, l2Key(context, segment));
  }

  /** The next launch finds caches as an equal launch right before it would have left them. */
  warmNextLaunch(): void {
    this.state.warmNext = true;
  }

  onDue(kind: string, payload: number, nowNs: number): void {
    if (kind === 'start') {
      const record = this.state.launches.get(payload);
      if (record === undefined) return;
      this.dispatcher.start(record);
    } else if (kind === 'progress') {
      this.state.armed = undefined;
    } else if (kind === 'vacated' || kind === 'restored') {
      this.advance(nowNs);
      this.dispatcher.preemptor.onMoved(kind, payload, nowNs);
    }
    this.settle(nowNs);
  }

  /** Begins to count the activity of SMs afresh, or stops. */
  watchSms(watched: boolean): void {
    this.activity = watched ? new SmActivity(this.profile.sms, this.agenda.nowNs()) : undefined;
  }

  /** What the SMs have done since `watchSms(true)`; undefined when they are not watched. */
  smCounts(): SmCounts | undefined {
    this.activity?.advance(this.state.use.blocks, this.agenda.nowNs());
    return this.activity?.counts();
  }

  /** What it has done since it was made; a copy begins anew. @param isAlive false: a context whose sums may be dropped */
  usage(isAlive: (context: number) => boolean = () => true): DeviceUsage {
    this.count(this.agenda.nowNs());
    return this.meter.usage(this.state.engine, this.offSms(), isAlive);
  }

  /** What scheduling has taken off the SMs so far, and how long critical launches waited. */
  preemptions(): PreemptionTotals {
    return { ...this.state.preemption.totals };
  }

  /** Nothing is due any more. @throws GpuError `invalidDecision` when launches wait that the policy alone keeps back */
  refuseHeld(): void {
    refuseHeld(this.policy.name, this.state.launches.values());
  }

  /** More is known of a launch, by its command, than when it began: what a policy had decided of it, it decides again. */
  giveVerdict(command: number, verdict: LaunchVerdict): void {
    const nowNs = this.agenda.nowNs();
    for (const record of this.state.launches.values()) {
      if (record.command !== command) continue;
      record.verdict = verdict;
      record.drainSinceNs = undefined;
      record.drainedBytes = undefined;
    }
    if (this.busyInside) return;
    this.advance(nowNs);
    this.settle(nowNs);
  }

  /** Something comes under way that overlaps the memory of a launch, by its command: it must not be run again any more. */
  keepFromKills(command: number): void {
    for (const record of this.state.launches.values()) {
      if (record.command === command) record.mustNotKill = true;
    }
  }

  /** Blocks that have begun and are on no SM, or stand still there. */
  private *offSms(): Generator<ParkedBlocks> {
    const { turns, preemption } = this.state;
    if (turns !== undefined) yield* turns.parked.values();
    for (const left of preemption.leaving.values()) if (left.kind === 'save') yield left;
    yield* preemption.saved.values();
    yield* preemption.restoring.values();
  }

  /** The front end is done with something for a context: a turn that was kept for what is behind it may pass on. */
  onFrontEndDone(): void {
    if (!this.dispatcher.takesTurns || this.busyInside) return;
    const nowNs = this.agenda.nowNs();
    this.advance(nowNs);
    this.settle(nowNs);
  }

  /** One observer at a time; undefined: none. */
  observe(observer: DeviceObserver | undefined): void {
    this.observer = observer;
    observer?.onSettled(this.agenda.nowNs());
  }

  /** Kernels' profiles, for a device of the same kind. */
  keptProfiles(): KeptProfiles {
    return this.state.profiles;
  }

  /** Takes over profiles that another device of this kind has made, of kernels that it has not seen itself. */
  takeOverProfiles(profiles: KeptProfiles): void {
    for (const [key, kept] of profiles) {
      if (!this.state.profiles.has(key)) this.state.profiles.set(key, kept);
    }
  }

  /** Saves what the policy remembers into the state; call before a snapshot. */
  save(): void {
    this.state.policy = this.policy.snapshot();
  }

  /** Ends what has ended, dispatches, works out rates, arms the next look. What nobody is told of is gone through at once. */
  private settle(nowNs: number): void {
    let atNs: number | undefined = nowNs;
    while (atNs !== undefined) atNs = this.glides ? this.glide(atNs) : this.settleAt(atNs);
  }

  /** Whether all that happens until further notice is that blocks end and those next in line take their places. */
  private get glides(): boolean {
    return (
      this.dispatcher.passesOn &&
      this.activity === undefined &&
      this.observer === undefined &&
      this.faults.isIdle &&
      this.state.armed === undefined
    );
  }

  /**
   * Goes from one end of blocks to the next while nobody has to be asked or told: what `settleAt` comes to then, without the
   * questions. @returns as `settleAt`
   */
  private glide(nowNs: number): number | undefined {
    const { engine, power, meter, dispatcher } = this;
    const { engine: state, use } = this.state;
    const quietNs = this.agenda.quietUntilNs();
    let atNs = nowNs;
    let skips = 0;
    for (;;) {
      meter.advance(atNs, state, use.busySms);
      power.advance(atNs);
      const position = engine.step(atNs);
      const isPassedOn = position >= 0 && !power.isControlDue(atNs) && dispatcher.passOn(position);
      if (isPassedOn && dispatcher.isSettled) {
        const soonestNs = this.rerate();
        if (soonestNs < quietNs) {
          atNs = soonestNs;
          skips += 1;
          continue;
        }
        if (skips > 0) this.agenda.skipTo(atNs, skips);
        return this.look(soonestNs, true);
      }
      if (skips > 0) this.agenda.skipTo(atNs, skips);
      return isPassedOn ? this.settleRest(atNs, NONE) : this.settleAt(atNs);
    }
  }

  /** @returns the next moment, where the device is at it already */
  private settleAt(nowNs: number): number | undefined {
    this.busyInside = true;
    this.advance(nowNs);
    this.controlClock(nowNs);
    const struck = this.faults.isIdle ? NONE : this.strike(nowNs);
    this.dispatcher.retireFinished(nowNs, this.reports);
    return this.settleRest(nowNs, struck);
  }

  /** Blocks that have finished are gone, or have passed their places on. */
  private settleRest(nowNs: number, struck: readonly LaunchRecord[]): number | undefined {
    const { reports } = this;
    this.busyInside = true;
    let ended = this.takeEnded(nowNs);
    const isToldFirst = this.dispatcher.takesTurns && reports.length + ended.length + struck.length > 0;
    if (isToldFirst) {
      this.tell(ended, struck, nowNs);
      ended = NONE;
      struck = NONE;
    }
    const turnNs = this.dispatcher.settleTurns(nowNs) ?? Infinity;
    const { faulted, wakeNs = Infinity } = this.dispatcher.fill(nowNs);
    const isTold = this.reports.length > 0 || ended.length > 0 || faulted.length > 0 || struck.length > 0;
    if (isTold) this.tell(ended, struck.length === 0 ? faulted : [...struck, ...faulted], nowNs);
    this.busyInside = false;
    if (this.roomMade) {
      this.roomMade = false;
      return nowNs;
    }
    return this.arm(Math.min(wakeNs, turnNs), !isTold && !isToldFirst);
  }

  /** Launches whose transient fault strikes now leave the device. */
  private strike(nowNs: number): readonly LaunchRecord[] {
    const struck: LaunchRecord[] = [];
    for (let record = this.faults.due(); record !== undefined; record = this.faults.due()) {
      this.dispatcher.fail(record, nowNs);
      struck.push(record);
    }
    return struck;
  }

  private tell(ended: readonly LaunchRecord[], faulted: readonly LaunchRecord[], nowNs: number): void {
    const { reports } = this;
    if (reports.length > 0) {
      this.reports = [];
      this.listener.onBlocksDone(reports);
    }
    for (const record of ended) this.tellEnd(record, nowNs);
    for (const record of faulted) this.tellEnd(record, nowNs);
  }

  private tellEnd(record: LaunchRecord, nowNs: number): void {
    record.energyMillijoules = this.power.millijoulesAt(nowNs) - record.arrivedMillijoules;
    this.listener.onLaunchEnd(record, nowNs);
  }

  private advance(nowNs: number): void {
    this.activity?.advance(this.state.use.blocks, nowNs);
    this.count(nowNs);
    this.power.advance(nowNs);
    this.engine.advance(nowNs);
  }

  private controlClock(nowNs: number): void {
    if (!this.power.isControlDue(nowNs)) return;
    const { clockHz } = this.state.engine;
    this.isPowerStale = true;
    const controlled = this.power.controlledClock(clockHz, nowNs);
    if (controlled !== clockHz) this.engine.setClock(controlled);
  }

  /** All blocks of a cooperative launch must be there at once, in its context's share too. */
  private checkTogether({ block, lo, hi, context }: LaunchRequest, tpcMask: bigint): void {
    const most = this.dispatcher.capacity(block, tpcMask);
    if (hi - lo <= most) return;
    throw new GpuError(
      'invalidLaunch',
      `grid: ${hi - lo} blocks; a cooperative launch must be on the device all at once, and of context ${context} that holds ${most} such blocks`,
      'grid',
    );
  }

  /** Leaves the engine as it is: whoever looks must not change by a rounding when blocks end. */
  private count(nowNs: number): void {
    this.meter.advance(nowNs, this.state.engine, this.state.use.busySms);
  }

  private onLeave(group: ResidentGroup, done: number): void {
    this.meter.leave(group, done, this.state.engine.asOfNs);
    if (done === 1) this.power.finish(group, this.state.engine.clockHz);
    if (this.observer === undefined) return;
    const launch = this.state.launches.get(group.launch);
    if (launch !== undefined) this.observer.onBlocksLeave(launch, group, done, this.state.engine.asOfNs);
  }

  private takeEnded(nowNs: number): readonly LaunchRecord[] {
    const ended = this.dispatcher.takeEnded();
    for (const record of ended) {
      record.phase = 'done';
      record.endNs = nowNs;
      if (record.plan !== undefined)
        touchSegments(this.state.l2, record.plan.touched, this.profile.timing.l2MissCurve);
    }
    return ended;
  }

  /** @param maySkip nobody was told of anything: time may go on at once. @returns the next moment, where it has */
  private arm(wakeNs: number, maySkip: boolean): number | undefined {
    if (this.state.armed !== undefined) this.agenda.cancel(this.state.armed);
    this.state.armed = undefined;
    const soonestNs = this.rerate();
    this.observer?.onSettled(this.state.engine.asOfNs);
    const faultNs = this.faults.isIdle ? Infinity : this.faults.soonestNs();
    return this.look(Math.min(soonestNs, wakeNs, faultNs), maySkip);
  }

  /** Works out rates and power. @returns when the next blocks end or the clock may change, at the earliest */
  private rerate(): number {
    const { engine, power } = this.state;
    const soonestNs = this.engine.rerate() ?? Infinity;
    if (this.engine.hasNewRates || this.isPowerStale) {
      this.isPowerStale = false;
      this.power.rerate(engine, engine.asOfNs, this.engine.drawn);
    }
    const { controlNs } = power;
    return controlNs !== undefined && controlNs < soonestNs ? controlNs : soonestNs;
  }

  /** As `arm`, at a moment that is known. */
  private look(nextNs: number, maySkip: boolean): number | undefined {
    if (nextNs === Infinity) return undefined;
    if (maySkip && this.agenda.skipTo(nextNs)) return nextNs;
    this.state.armed = this.agenda.schedule(this.name, nextNs, 'progress');
    return undefined;
  }
}

const NONE: readonly LaunchRecord[] = [];
