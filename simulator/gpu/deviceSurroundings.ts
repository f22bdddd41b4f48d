import {
  LaunchExecution,
  ProfileCache,
  type BlockReport,
  type ExecutionOptions,
  type LaunchRecord,
} from './dispatch/index.js';
import type { DeviceState } from './deviceState.js';
import type { DeviceProfile } from './profiles/index.js';

/** Whoever launched: told of ends after the device's own state is in order. */
export interface DeviceListener {
  onLaunchEnd(record: LaunchRecord, nowNs: number): void;
  onBlocksDone(reports: readonly BlockReport[]): void;
  /** A launch was killed and will run again. */
  onLaunchKilled?(record: LaunchRecord): void;
  /** Whether the device's front end is at work for a context: a time stamp, a small fill. Asked where contexts take turns. */
  isAtFrontEnd?(context: number): boolean;
}

/** Without an executor a device only keeps time. */
export type DeviceExecution = Omit<ExecutionOptions, 'executor'> &
  Partial<Pick<ExecutionOptions, 'executor'>>;

/** Undefined: the device executes nothing, and each launch has a cost. */
export function functionalSource(
  profile: DeviceProfile,
  { executor, ...options }: DeviceExecution,
  state: DeviceState,
): LaunchExecution | undefined {
  if (executor === undefined) return undefined;
  const profiles = new ProfileCache(profile, executor, state.profiles, (record) =>
    options.source.moduleIdentity(record),
  );
  return new LaunchExecution(profile, { ...options, executor }, profiles, state.l2);
}
