import {
  MOST_KILLS,
  contextSwitch,
  killRestart,
  klevel,
  type LaunchView,
  type PreemptionChoice,
  type PreemptionCosts,
} from '../../../simulator/scheduling/index.js';

/** What is known of launches: nothing, which kernels are idempotent whatever their arguments, or which launches are. */
export type Knowledge = 'nothing' | 'kernels' | 'launches';

/** A way to preempt, and what it does with a launch that it may not kill. */
export interface Scheme {
  readonly knowledge: Knowledge;
  /** Copying out only, as in PICKER's study; or what is cheaper of that and waiting, as in Chimera. */
  readonly otherwise: 'switch' | 'cheaper';
  readonly choice: PreemptionChoice;
}

/** A launch is killed where it may be, however little is left of it, and else copied out. */
function killOrSwitch(name: string, isKnown: (launch: LaunchView) => boolean): PreemptionChoice {
  return {
    name,
    choose: (launch, costs) =>
      isKnown(launch) && costs.canKill && launch.kills < MOST_KILLS ? 'kill' : 'save',
    mayKill: isKnown,
  };
}

function cheaper({ saveNs, drainNs }: PreemptionCosts): 'save' | 'drain' {
  return saveNs < drainNs ? 'save' : 'drain';
}

const isIdempotent = ({ verdict }: LaunchView): boolean => verdict?.idempotent === true;

export const SCHEMES: readonly Scheme[] = [
  { knowledge: 'nothing', otherwise: 'switch', choice: contextSwitch },
  {
    knowledge: 'kernels',
    otherwise: 'switch',
    choice: killOrSwitch('kernels', (launch) => isIdempotent(launch) && launch.verdict?.of === 'kernel'),
  },
  { knowledge: 'launches', otherwise: 'switch', choice: killOrSwitch('launches', isIdempotent) },
  {
    knowledge: 'nothing',
    otherwise: 'cheaper',
    choice: { name: 'cheaper', choose: (_launch, costs) => cheaper(costs) },
  },
  { knowledge: 'kernels', otherwise: 'cheaper', choice: klevel },
  { knowledge: 'launches', otherwise: 'cheaper', choice: killRestart },
];
