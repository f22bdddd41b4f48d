import { LAUNCH_CLASSES, type LaunchClass, type LaunchView } from './policy.js';

const RANKS: Readonly<Record<LaunchClass, number>> = {
  critical: LAUNCH_CLASSES.length - 1,
  standard: 1,
  bestEffort: 0,
};

/** Of its class: launches of a higher rank may preempt those of a lower one. */
export function rankOf({ launchClass }: LaunchView): number {
  return RANKS[launchClass ?? 'standard'];
}

/** Higher priority first, then the older. */
export function isBefore(a: LaunchView, b: LaunchView): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.arrivedNs !== b.arrivedNs) return a.arrivedNs < b.arrivedNs;
  return a.id < b.id;
}

/** Puts a launch where it belongs among others, which mostly come in order. */
export function insert(
  launch: LaunchView,
  into: LaunchView[],
  before: (a: LaunchView, b: LaunchView) => boolean,
): void {
  let place = into.length;
  into.push(launch);
  for (; place > 0 && before(launch, into[place - 1]); place--) into[place] = into[place - 1];
  into[place] = launch;
}
