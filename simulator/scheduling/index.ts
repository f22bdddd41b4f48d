import { FifoPolicy } from './fifo.js';
import { SchedulingError, type SchedulingPolicy } from './policy.js';
import { contextSwitch, drain, killRestart, klevel } from './preemptionChoices.js';
import { PreemptivePolicy } from './preemptive.js';
import { PriorityPolicy } from './priority.js';
import { TimeSlicePolicy } from './timeSlice.js';

export {
  LAUNCH_CLASSES,
  launchClassNamed,
  SchedulingError,
  type DeviceView,
  type LaunchClass,
  type LaunchVerdict,
  type LaunchView,
  type PreemptionCosts,
  type Replay,
  type SchedulingDecision,
  type SchedulingErrorCode,
  type SchedulingPolicy,
} from './policy.js';
export { FifoPolicy } from './fifo.js';
export { MOST_KILLS, contextSwitch, drain, killRestart, klevel } from './preemptionChoices.js';
export { PreemptivePolicy, QUIET_NS, type PreemptionChoice, type PreemptionKind } from './preemptive.js';
export { userPolicy, type PolicyMaker } from './userPolicy.js';

const MAKERS: ReadonlyMap<string, () => SchedulingPolicy> = new Map<string, () => SchedulingPolicy>([
  ['fifo', () => new FifoPolicy()],
  ['timeSlice', () => new TimeSlicePolicy()],
  ['priority', () => new PriorityPolicy()],
  ['drain', () => new PreemptivePolicy(drain)],
  ['contextSwitch', () => new PreemptivePolicy(contextSwitch)],
  ['killRestart', () => new PreemptivePolicy(killRestart)],
  ['klevel', () => new PreemptivePolicy(klevel)],
]);

export const SCHEDULING_POLICY_NAMES: readonly string[] = [...MAKERS.keys()];

/** A fresh policy, one a device. @throws SchedulingError `unknownPolicy`, naming the ones there are. */
export function schedulingPolicy(name: string): SchedulingPolicy {
  const make = MAKERS.get(name);
  if (make !== undefined) return make();
  throw new SchedulingError(
    'unknownPolicy',
    `no scheduling policy '${name}'; there are: ${SCHEDULING_POLICY_NAMES.join(', ')}`,
  );
}
