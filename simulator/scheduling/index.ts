import { FifoPolicy } from './fifo.js';
import { SchedulingError, type SchedulingPolicy } from './policy.js';

export {
  SchedulingError,
  type DeviceView,
  type LaunchView,
  type SchedulingDecision,
  type SchedulingPolicy,
} from './policy.js';
export { FifoPolicy } from './fifo.js';

const MAKERS: ReadonlyMap<string, () => SchedulingPolicy> = new Map([['fifo', () => new FifoPolicy()]]);

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
