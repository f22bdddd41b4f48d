import { dispatchInOrder } from './orderedDispatch.js';
import type {
  DeviceView,
  LaunchView,
  PreemptionCosts,
  SchedulingDecision,
  SchedulingPolicy,
} from './policy.js';
import { insert, isBefore, rankOf } from './urgency.js';

export type PreemptionKind = 'kill' | 'save' | 'drain';

/** How one policy gets a launch off the SMs. */
export interface PreemptionChoice {
  readonly name: string;
  choose(launch: LaunchView, costs: PreemptionCosts): PreemptionKind;
  readonly mayKill?: (launch: LaunchView) => boolean;
}

/**
 * For so long after launches of a class have ended nothing of a lower one starts: a query is a chain of kernels, and what ran
 * in the gaps between them would have to be preempted at each. Gaps in a stream are 1 to 5 us.
 */
export const QUIET_NS = 10_000;

/** Plain data. */
interface Remembered {
  /** Highest class that had the device last. */
  rank: number;
  /** When the last launch of it was seen to be gone; undefined while there are some. */
  goneNs: number | undefined;
}

/**
 * Launches of the highest class there is have the device to themselves: those of lower classes give no blocks, and what they
 * have on the SMs is taken off where it is in the way, by killing, saving or waiting as the choice says. Within a class the
 * order is by priority, then by age, and nothing is preempted.
 */
export class PreemptivePolicy implements SchedulingPolicy {
  readonly preempts = true;
  private readonly urgent: LaunchView[] = [];
  private readonly victims: LaunchView[] = [];
  private remembered: Remembered = { rank: 0, goneNs: undefined };

  readonly name: string;
  readonly mayKill: ((launch: LaunchView) => boolean) | undefined;

  constructor(private readonly choice: PreemptionChoice) {
    this.name = choice.name;
    this.mayKill = choice.mayKill;
  }

  decide(view: DeviceView): SchedulingDecision {
    const rank = this.sort(view.launches);
    const quietUntilNs = this.quietUntil(rank, view.nowNs);
    if (quietUntilNs !== undefined) return { kind: 'hold', untilNs: quietUntilNs };
    return this.clearWay(view) ?? dispatchInOrder(this.urgent, view) ?? HOLD;
  }

  onIdle(nowNs: number): void {
    this.remembered.goneNs ??= nowNs;
  }

  snapshot(): Remembered {
    return structuredClone(this.remembered);
  }

  restore(state: unknown): void {
    this.remembered = structuredClone(state) as Remembered;
  }

  /** Launches of the highest class in their order, and those of the others that have blocks on the SMs. @returns its rank */
  private sort(launches: readonly LaunchView[]): number {
    const { urgent, victims } = this;
    urgent.length = 0;
    victims.length = 0;
    let rank = 0;
    for (const launch of launches) rank = Math.max(rank, rankOf(launch));
    for (const launch of launches) {
      if (rankOf(launch) === rank) insert(launch, urgent, isBefore);
      else if (launch.residentBlocks > 0 && !launch.isMoving) victims.push(launch);
    }
    return rank;
  }

  /** Until when nothing may start since a higher class has been there; undefined: it may. */
  private quietUntil(rank: number, nowNs: number): number | undefined {
    const { remembered } = this;
    if (rank < remembered.rank) {
      remembered.goneNs ??= nowNs;
      const untilNs = remembered.goneNs + QUIET_NS;
      if (nowNs < untilNs) return untilNs;
    }
    remembered.rank = rank;
    remembered.goneNs = undefined;
    return undefined;
  }

  /** The next launch that has to go, if any is in the way. */
  private clearWay(view: DeviceView): SchedulingDecision | undefined {
    const { victims } = this;
    if (victims.length === 0 || !this.needsRoom(view)) return undefined;
    for (const victim of victims) {
      if (victim.drainSinceNs !== undefined) continue;
      return { kind: this.choice.choose(victim, view.costs(victim.id)), launch: victim.id };
    }
    return undefined;
  }

  private needsRoom(view: DeviceView): boolean {
    return this.urgent.some(({ id, next, hi }) => next < hi && view.fits(id) < hi - next);
  }
}

const HOLD: SchedulingDecision = { kind: 'hold' };
