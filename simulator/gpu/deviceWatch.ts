import type { DeviceObserver } from './deviceObserver.js';
import type { DeviceState } from './deviceState.js';
import type { PreemptionEvent, ResidentGroup } from './dispatch/index.js';
import { SmActivity, type SmCounts } from './smActivity.js';

/** Whoever watches a device. No part of its state: watching changes nothing that is simulated. */
export class DeviceWatch {
  private observer: DeviceObserver | undefined;
  private activity: SmActivity | undefined;

  constructor(private readonly state: Pick<DeviceState, 'engine' | 'launches' | 'use'>) {}

  /** Nobody does. */
  get isIdle(): boolean {
    return this.activity === undefined && this.observer === undefined;
  }

  /** One observer at a time; undefined: none. */
  observe(observer: DeviceObserver | undefined, nowNs: number): void {
    this.observer = observer;
    observer?.onSettled(nowNs);
  }

  /** Begins to count the activity of SMs afresh, or stops. */
  watchSms(watched: boolean, nowNs: number): void {
    this.activity = watched ? new SmActivity(this.state.use.blocks.length, nowNs) : undefined;
  }

  /** What the SMs have done since `watchSms(true)`; undefined when they are not watched. */
  smCounts(nowNs: number): SmCounts | undefined {
    this.advance(nowNs);
    return this.activity?.counts();
  }

  /** What is resident has been so until `nowNs`. */
  advance(nowNs: number): void {
    this.activity?.advance(this.state.use.blocks, nowNs);
  }

  /** Blocks leave their SMs, `done` of each. */
  onLeave(group: ResidentGroup, done: number): void {
    if (this.observer === undefined) return;
    const launch = this.state.launches.get(group.launch);
    if (launch !== undefined) this.observer.onBlocksLeave(launch, group, done, this.state.engine.asOfNs);
  }

  onPreempted(event: PreemptionEvent): void {
    this.observer?.onPreempted?.(event);
  }

  onSettled(): void {
    this.observer?.onSettled(this.state.engine.asOfNs);
  }
}
