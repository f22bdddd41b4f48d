import type { LaunchVerdict } from '../scheduling/index.js';
import { FaultError } from './faultError.js';

/**
 * What is done so that a launch that was struck can run again (Asymmetric Resilience, as PICKER uses it, sections 2.1 and 7.4).
 *
 * - `none`: nothing; a fault ends the launch and its context.
 * - `restore`: before every launch all memory that it can reach is saved; it is restored before the launch runs again.
 * - `klevel`: nothing is saved of kernels all of whose launches are idempotent; of others as `restore`.
 * - `verdicts`: nothing is saved of launches that are proved idempotent; of others what they may overwrite of what they read.
 */
export const RECOVERY_SCHEMES = ['none', 'restore', 'klevel', 'verdicts'] as const;
export type RecoveryScheme = (typeof RECOVERY_SCHEMES)[number];

/** @throws FaultError `unknownScheme` */
export function recoveryScheme(name: string): RecoveryScheme {
  const found = RECOVERY_SCHEMES.find((each) => each === name);
  if (found !== undefined) return found;
  throw new FaultError('unknownScheme', `recovery: '${name}'; there are: ${RECOVERY_SCHEMES.join(', ')}`);
}

/** Where saved memory lies: on the GPU beside what is allocated, or behind the bus in the host's memory, as in Asymmetric Resilience. */
export const SAVE_PLACES = ['device', 'host'] as const;
export type SavePlace = (typeof SAVE_PLACES)[number];

/** @throws FaultError `unknownPlace` */
export function savePlace(name: string): SavePlace {
  const found = SAVE_PLACES.find((each) => each === name);
  if (found !== undefined) return found;
  throw new FaultError('unknownPlace', `saveTo: '${name}'; there are: ${SAVE_PLACES.join(', ')}`);
}

/** Whether somebody must judge launches for it. */
export function asksVerdicts(scheme: RecoveryScheme): boolean {
  return scheme === 'klevel' || scheme === 'verdicts';
}

/** Whether a launch with this verdict runs again as it is, with nothing saved. */
export function runsAgainAsItIs(scheme: RecoveryScheme, verdict: LaunchVerdict | undefined): boolean {
  if (verdict?.idempotent !== true) return false;
  return scheme === 'verdicts' || (scheme === 'klevel' && verdict.of === 'kernel');
}
