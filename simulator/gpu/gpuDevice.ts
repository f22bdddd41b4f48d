import { clusterBlocks } from '../executor/index.js';
import type { Agenda, AgendaTarget } from './agenda.js';
import type { DeviceObserver } from './deviceObserver.js';
import { functionalSource, type DeviceExecution, type DeviceListener } from './deviceSurroundings.js';
import { emptyDevice, type DeviceState } from './deviceState.js';
import { DeviceContexts } from './deviceContexts.js';
import { checkClock, checkMemoryClock, checkPowerLimit, deviceReadings } from './deviceControls.js';
import { DeviceCourse } from './deviceCourse.js';
import { DevicePace } from './devicePace.js';
import { DeviceWatch } from './deviceWatch.js';
import { GpuError } from './gpuError.js';
import {
  BlockEngine,
  BlockSources,
  CostedExecution,
  Dispatcher,
  FaultWatch,
  l2Key,
  refuseHeld,
  launchRecord,
  type KeptProfiles,
  type LaunchRequest,
  type ParkedBlocks,
  type PreemptionTotals,
  type ResidentGroup,
} from './dispatch/index.js';
import { PowerMeter, type DeviceReadings } from './power/index.js';
import type { DeviceProfile } from './profiles/index.js';
import type { LaunchVerdict, SchedulingPolicy } from '../scheduling/index.js';
import type { SmCounts } from './smActivity.js';
import { forgetSegment } from './timing/index.js';
import { UsageMeter, type DeviceUsage } from './usage/index.js';

/** One simulated GPU's compute side: launches in, ends out, on the agenda's time. */
export class GpuDevice implements AgendaTarget {
  /** What each context may have of it. */
  readonly contexts: DeviceContexts;
  private readonly dispatcher: Dispatcher;
  private readonly power: PowerMeter;
  private readonly meter: UsageMeter;
  private readonly faults: FaultWatch;
  private readonly watch: DeviceWatch;
  private readonly pace: DevicePace;
  private readonly course: DeviceCourse;

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
    this.contexts = new DeviceContexts(profile, state);
    const power = (this.power = new PowerMeter(profile, state.power));
    const meter = (this.meter = new UsageMeter(state.launches, agenda.nowNs()));
    const watch = (this.watch = new DeviceWatch(state));
    const engine = new BlockEngine(
      profile,
      state.engine,
      (group, done) => this.onLeave(group, done),
      false,
      (work) => power.energyOf(work),
    );
    const pace = (this.pace = new DevicePace(engine, power));
    const dispatcher = (this.dispatcher = new Dispatcher(
      profile,
      engine,
      new BlockSources(
        new CostedExecution(profile, execution.source, state.l2),
        functionalSource(profile, execution, state),
      ),
      policy,
      state,
      {
        later: (end, launch, atNs) => agenda.schedule(name, atNs, end, launch),
        onKilled: (record) => this.listener.onLaunchKilled?.(record),
        onPreempted: (event) => watch.onPreempted(event),
        isAtFrontEnd: (context) => this.listener.isAtFrontEnd?.(context) === true,
      },
    ));
    const faults = (this.faults = new FaultWatch(state.launches, engine));
    const parts = { profile, state, engine, dispatcher, pace, power, meter, faults, watch };
    this.course = new DeviceCourse(parts, name, agenda, listener);
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
    const tpcMask = this.contexts.withinShare(request.context, request.tpcMask);
    if (request.cooperative === true || clusterBlocks(request.shape) > 1)
      this.checkTogether(request, tpcMask);
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

  /** Drops a context's launches, with no end told. */
  killContext(context: number): void {
    const nowNs = this.agenda.nowNs();
    this.course.advance(nowNs);
    for (const record of [...this.state.launches.values()]) {
      if (record.context !== context) continue;
      record.phase = 'killed';
      this.dispatcher.drop(record);
    }
    this.course.onRoom(nowNs);
  }

  /**
   * Sets the application clock of all SMs; running blocks go on at the new pace. The power limit may hold the clock below it.
   * @throws GpuError `invalidClock`
   */
  setClock(clockHz: number): void {
    checkClock(this.profile, clockHz);
    const nowNs = this.agenda.nowNs();
    this.course.advance(nowNs);
    this.pace.setClock(clockHz);
    this.course.settle(nowNs);
  }

  /** DRAM's clock; its bandwidth goes with it. @throws GpuError `invalidClock` */
  setMemoryClock(clockHz: number): void {
    checkMemoryClock(this.profile, clockHz);
    const nowNs = this.agenda.nowNs();
    this.course.advance(nowNs);
    this.pace.setMemoryClock(clockHz);
    this.course.settle(nowNs);
  }

  /** @throws GpuError `invalidPowerLimit` */
  setPowerLimit(watts: number): void {
    checkPowerLimit(this.profile, watts);
    const nowNs = this.agenda.nowNs();
    this.course.advance(nowNs);
    this.pace.setPowerLimit(watts);
    this.course.settle(nowNs);
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
    if (kind === 'progress') {
      this.course.onProgress(nowNs);
      return;
    }
    if (kind === 'start') {
      const record = this.state.launches.get(payload);
      if (record === undefined) return;
      this.dispatcher.start(record);
    } else if (kind === 'vacated' || kind === 'restored') {
      this.course.advance(nowNs);
      this.dispatcher.preemptor.onMoved(kind, payload, nowNs);
    }
    this.course.settle(nowNs);
  }

  /** Begins to count the activity of SMs afresh, or stops. */
  watchSms(watched: boolean): void {
    this.watch.watchSms(watched, this.agenda.nowNs());
  }

  /** What the SMs have done since `watchSms(true)`; undefined when they are not watched. */
  smCounts(): SmCounts | undefined {
    return this.watch.smCounts(this.agenda.nowNs());
  }

  /** What it has done since it was made; a copy begins anew. @param isAlive false: a context whose sums may be dropped */
  usage(isAlive: (context: number) => boolean = () => true): DeviceUsage {
    this.course.count(this.agenda.nowNs());
    return this.meter.usage(this.state.engine, offSms(this.state), isAlive);
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
    this.course.reconsider(nowNs);
  }

  /** Something comes under way that overlaps the memory of a launch, by its command: it must not be run again any more. */
  keepFromKills(command: number): void {
    for (const record of this.state.launches.values()) {
      if (record.command === command) record.mustNotKill = true;
    }
  }

  /** The front end is done with something for a context: a turn that was kept for what is behind it may pass on. */
  onFrontEndDone(): void {
    if (this.dispatcher.takesTurns) this.course.reconsider(this.agenda.nowNs());
  }

  /** One observer at a time; undefined: none. */
  observe(observer: DeviceObserver | undefined): void {
    this.watch.observe(observer, this.agenda.nowNs());
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

  /** All blocks of a cooperative launch, or of a cluster, must be there at once, in its context's share too. */
  private checkTogether(
    { block, shape, lo, hi, context, cooperative }: LaunchRequest,
    tpcMask: bigint,
  ): void {
    const size = clusterBlocks(shape);
    const most = this.dispatcher.capacity(block, tpcMask, size);
    if (most < size) {
      throw new GpuError(
        'invalidLaunch',
        `cluster: ${size} blocks; they must be on the SMs of one GPC at once, and of context ${context} none has room for them`,
        'cluster',
      );
    }
    if (cooperative !== true || hi - lo <= most) return;
    throw new GpuError(
      'invalidLaunch',
      `grid: ${hi - lo} blocks; a cooperative launch must be on the device all at once, and of context ${context} that holds ${most} such blocks`,
      'grid',
    );
  }

  private onLeave(group: ResidentGroup, done: number): void {
    const { asOfNs, clockHz } = this.state.engine;
    this.meter.leave(group, done, asOfNs);
    if (done === 1) this.power.finish(group, clockHz);
    this.watch.onLeave(group, done);
  }
}

/** Blocks that have begun and are on no SM, or stand still there. */
function* offSms({ turns, preemption }: DeviceState): Generator<ParkedBlocks> {
  if (turns !== undefined) yield* turns.parked.values();
  for (const left of preemption.leaving.values()) if (left.kind === 'save') yield left;
  yield* preemption.saved.values();
  yield* preemption.restoring.values();
}
