import { dispatchInOrder } from './orderedDispatch.js';
import type { DeviceView, LaunchView, SchedulingDecision, SchedulingPolicy } from './policy.js';
import { insert, isBefore } from './urgency.js';

/** About the slice of a driver without MPS, `timing.contextSliceNs` of the card that was measured. */
export const SLICE_NS = 2_000_000;

/** Plain data. */
interface Turn {
  context: number | undefined;
  sinceNs: number;
}

/**
 * Contexts in turn, whatever their classes: each has the device for a slice while others wait, then what it has on the SMs is
 * copied out until its next turn. Between two kernels of a stream the turn stays: the device's queue has the next one already. A
 * context whose queues are empty, or wait for a copy or the host, gives its turn away at once. Two processes that launch a
 * kernel of 49 us and wait for it do so every 406 us on the card: 49 us and a switch each, and no slice.
 */
export class TimeSlicePolicy implements SchedulingPolicy {
  readonly name = 'timeSlice';
  readonly preempts = true;
  readonly takesTurns = true;
  private readonly own: LaunchView[] = [];
  private turn: Turn = { context: undefined, sinceNs: 0 };

  constructor(private readonly sliceNs = SLICE_NS) {}

  decide(view: DeviceView): SchedulingDecision {
    const { own } = this;
    const others = this.pass(view);
    const { context, sinceNs } = this.turn;
    own.length = 0;
    for (const launch of view.launches) {
      if (launch.context === context) insert(launch, own, isBefore);
      else if (launch.residentBlocks > 0 && !launch.isMoving) return { kind: 'save', launch: launch.id };
    }
    const decision = dispatchInOrder(own, view);
    if (decision !== undefined) return decision;
    return others ? { kind: 'hold', untilNs: sinceNs + this.sliceNs } : HOLD;
  }

  snapshot(): Turn {
    return { ...this.turn };
  }

  restore(state: unknown): void {
    this.turn = { ...(state as Turn) };
  }

  /** Passes the turn on where it is time to. @returns whether others wait */
  private pass(view: DeviceView): boolean {
    const { turn, sliceNs } = this;
    const { nowNs } = view;
    const wanting = [...new Set(view.launches.map(({ context }) => context))].sort((a, b) => a - b);
    const others = wanting.filter((context) => context !== turn.context);
    if (others.length === 0) return false;
    if (nowNs < turn.sinceNs + sliceNs && this.hasWork(wanting, view)) return true;
    turn.context = others.find((context) => context > (turn.context ?? -1)) ?? others[0];
    turn.sinceNs = nowNs;
    return wanting.length > 1;
  }

  /** Whether the context whose turn it is has something to run, or will have at once. */
  private hasWork(wanting: readonly number[], view: DeviceView): boolean {
    const { context } = this.turn;
    return context !== undefined && (wanting.includes(context) || view.comes(context));
  }
}

const HOLD: SchedulingDecision = { kind: 'hold' };
