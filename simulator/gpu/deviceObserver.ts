import type { LaunchRecord, PreemptionEvent, ResidentGroup } from './dispatch/index.js';

/** Watches one device; what it is shown is the device's own state, to read and to let be. */
export interface DeviceObserver {
  /** Blocks leave their SMs: `done` is 1 at their end, and less when their launch is dropped. The launch itself ends later. */
  onBlocksLeave(launch: LaunchRecord, group: ResidentGroup, done: number, nowNs: number): void;
  /** What is resident, and how fast it goes, stands until the next call. */
  onSettled(nowNs: number): void;
  /** A launch has been taken off the SMs by the scheduling policy: told when they are free. */
  onPreempted?(event: PreemptionEvent): void;
}
