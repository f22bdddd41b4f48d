import type { Agenda } from './agenda.js';
import type { DevicePace } from './devicePace.js';
import type { DeviceState } from './deviceState.js';
import type { DeviceListener } from './deviceSurroundings.js';
import type { DeviceWatch } from './deviceWatch.js';
import type { BlockEngine, BlockReport, Dispatcher, FaultWatch, LaunchRecord } from './dispatch/index.js';
import type { PowerMeter } from './power/index.js';
import type { DeviceProfile } from './profiles/index.js';
import { touchSegments } from './timing/index.js';
import type { UsageMeter } from './usage/index.js';

export interface CourseParts {
  readonly profile: DeviceProfile;
  readonly state: DeviceState;
  readonly engine: BlockEngine;
  readonly dispatcher: Dispatcher;
  readonly pace: DevicePace;
  readonly power: PowerMeter;
  readonly meter: UsageMeter;
  readonly faults: FaultWatch;
  readonly watch: DeviceWatch;
}

/** A device's way from one moment at which something happens on it to the next. */
export class DeviceCourse {
  /** It is settling: whoever is told of something may ask for more. */
  private isInside = false;
  /** A listener dropped launches while the device was settling. */
  private roomMade = false;
  /** Of blocks that have ended since listeners were told. */
  private reports: BlockReport[] = [];
  private readonly state: DeviceState;
  private readonly engine: BlockEngine;
  private readonly dispatcher: Dispatcher;
  private readonly pace: DevicePace;
  private readonly power: PowerMeter;
  private readonly meter: UsageMeter;
  private readonly faults: FaultWatch;
  private readonly watch: DeviceWatch;
  private readonly l2MissCurve: DeviceProfile['timing']['l2MissCurve'];

  /** @param name of the device on the agenda, where `progress` is to be told to it. */
  constructor(
    parts: CourseParts,
    private readonly name: string,
    private readonly agenda: Agenda,
    private readonly listener: DeviceListener,
  ) {
    this.state = parts.state;
    this.engine = parts.engine;
    this.dispatcher = parts.dispatcher;
    this.pace = parts.pace;
    this.power = parts.power;
    this.meter = parts.meter;
    this.faults = parts.faults;
    this.watch = parts.watch;
    this.l2MissCurve = parts.profile.timing.l2MissCurve;
  }

  /** Brings all to `nowNs` as things stand, before they are changed. */
  advance(nowNs: number): void {
    this.watch.advance(nowNs);
    this.count(nowNs);
    this.power.advance(nowNs);
    this.engine.advance(nowNs);
  }

  /** Leaves the engine as it is: whoever looks must not change by a rounding when blocks end. */
  count(nowNs: number): void {
    this.meter.advance(nowNs, this.state.engine, this.state.use.busySms);
  }

  /** Ends what has ended, dispatches, works out rates, arms the next look. What nobody is told of is gone through at once. */
  settle(nowNs: number): void {
    let atNs: number | undefined = nowNs;
    while (atNs !== undefined) atNs = this.glides ? this.glide(atNs) : this.settleAt(atNs);
  }

  /** Launches were dropped. */
  onRoom(nowNs: number): void {
    if (this.isInside) this.roomMade = true;
    else this.settle(nowNs);
  }

  /** Something is to be decided again that stands still; while the device settles it will be anyway. */
  reconsider(nowNs: number): void {
    if (this.isInside) return;
    this.advance(nowNs);
    this.settle(nowNs);
  }

  /** The next look that was planned has come. */
  onProgress(nowNs: number): void {
    this.state.armed = undefined;
    this.settle(nowNs);
  }

  /** Whether all that happens until further notice is that blocks end and those next in line take their places. */
  private get glides(): boolean {
    return (
      this.dispatcher.passesOn && this.watch.isIdle && this.faults.isIdle && this.state.armed === undefined
    );
  }

  /**
   * Goes from one end of blocks to the next while nobody has to be asked or told: what `settleAt` comes to then, without the
   * questions. @returns as `settleAt`
   */
  private glide(nowNs: number): number | undefined {
    const { engine, power, meter, dispatcher, pace } = this;
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
        const soonestNs = pace.rerate();
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
    this.isInside = true;
    this.advance(nowNs);
    this.pace.control(nowNs);
    const struck = this.faults.isIdle ? NONE : this.strike(nowNs);
    this.dispatcher.retireFinished(nowNs, this.reports);
    return this.settleRest(nowNs, struck);
  }

  /** Blocks that have finished are gone, or have passed their places on. */
  private settleRest(nowNs: number, struck: readonly LaunchRecord[]): number | undefined {
    const { reports } = this;
    this.isInside = true;
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
    this.isInside = false;
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

  private takeEnded(nowNs: number): readonly LaunchRecord[] {
    const ended = this.dispatcher.takeEnded();
    for (const record of ended) {
      record.phase = 'done';
      record.endNs = nowNs;
      if (record.plan !== undefined) touchSegments(this.state.l2, record.plan.touched, this.l2MissCurve);
    }
    return ended;
  }

  /** @param maySkip nobody was told of anything: time may go on at once. @returns the next moment, where it has */
  private arm(wakeNs: number, maySkip: boolean): number | undefined {
    if (this.state.armed !== undefined) this.agenda.cancel(this.state.armed);
    this.state.armed = undefined;
    const soonestNs = this.pace.rerate();
    this.watch.onSettled();
    const faultNs = this.faults.isIdle ? Infinity : this.faults.soonestNs();
    return this.look(Math.min(soonestNs, wakeNs, faultNs), maySkip);
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
