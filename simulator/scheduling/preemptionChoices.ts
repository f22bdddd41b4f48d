import type { LaunchView, PreemptionCosts } from './policy.js';
import type { PreemptionChoice, PreemptionKind } from './preemptive.js';

/** Kills after which a launch is let finish: saved or waited for. */
export const MOST_KILLS = 3;

/** Blocks on the SMs run to their ends, and no more come. */
export const drain: PreemptionChoice = { name: 'drain', choose: () => 'drain' };

/** What is on the SMs is copied out, and back later. */
export const contextSwitch: PreemptionChoice = { name: 'contextSwitch', choose: () => 'save' };

/**
 * A launch that is proved idempotent is killed and run again, unless it is over sooner; for the others Chimera's choice
 * (ASPLOS'15): what is cheaper of switching and waiting. PICKER (EuroSys'26), section on preemptive scheduling.
 */
export const killRestart: PreemptionChoice = {
  name: 'killRestart',
  choose: (launch, costs) =>
    costs.canKill && launch.kills < MOST_KILLS && costs.killNs < costs.drainNs ? 'kill' : cheaper(costs),
  mayKill: ({ verdict }) => verdict?.idempotent === true,
};

/** The same with what is known of whole kernels only: one counts as idempotent when every launch of it is. */
export const klevel: PreemptionChoice = {
  name: 'klevel',
  choose: (launch, costs) =>
    isOfKernel(launch) && costs.canKill && launch.kills < MOST_KILLS && costs.killNs < costs.drainNs
      ? 'kill'
      : cheaper(costs),
  mayKill: isOfKernel,
};

function isOfKernel({ verdict }: LaunchView): boolean {
  return verdict?.idempotent === true && verdict.of === 'kernel';
}

function cheaper({ saveNs, drainNs }: PreemptionCosts): PreemptionKind {
  return saveNs < drainNs ? 'save' : 'drain';
}
