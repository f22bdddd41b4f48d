import { mayTravel, type Evaluation } from './evaluation.js';
import type { KillingSources } from './killingSources.js';
import { SourceLane } from './sourceLane.js';

/**
 * Inputs of sources that are not trusted to take no replica down, at the replica that tries them. Whoever has shown most is next: a
 * newcomer that has answered one input does not wait behind those that have shown nothing. Sources that have killed come
 * last, and not before their time.
 */
export class TrialLane extends SourceLane {
  constructor(private readonly killing: KillingSources) {
    super();
  }

  /** When the next may be tried; -Infinity: at once, Infinity: nobody waits. */
  dueNs(nowNs: number): number {
    const next = this.next(nowNs);
    if (next === undefined) return Infinity;
    return this.killing.hasKilled(next, nowNs) ? this.killing.killersDueNs : -Infinity;
  }

  /** The next that may travel together, of those that still wait. */
  take(most: number, nowNs: number): Evaluation[] {
    const group: Evaluation[] = [];
    const source = this.next(nowNs);
    const own = source === undefined ? undefined : this.bySource.get(source);
    if (source === undefined || own === undefined) return group;
    let room = most;
    while (own.length > 0 && group.length < room) {
      const [evaluation] = own;
      if (evaluation.state === 'queued') {
        room = Math.min(room, evaluation.mostTogether);
        if (group.length > 0 && (group.length >= room || !mayTravel(group[0], evaluation))) break;
        group.push(evaluation);
      }
      this.shift(own);
    }
    this.putLast(source, own);
    return group;
  }

  private next(nowNs: number): object | undefined {
    let best: object | undefined;
    let most = -Infinity;
    for (const source of this.bySource.keys()) {
      const shown = this.killing.hasKilled(source, nowNs) ? -1 : this.killing.shown(source);
      if (shown <= most) continue;
      best = source;
      most = shown;
    }
    return best;
  }
}
