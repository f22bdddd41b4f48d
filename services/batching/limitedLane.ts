import { mayTravel, type Evaluation } from './evaluation.js';
import { SourceLane } from './sourceLane.js';

/** Inputs of bad sources, at one replica: sources take turns, each first come first served. */
export class LimitedLane extends SourceLane {
  /** The next that may travel together, of those that still wait. */
  take(most: number): Evaluation[] {
    const group: Evaluation[] = [];
    let room = most;
    for (const [source, own] of this.bySource) {
      if (group.length >= room) break;
      const [evaluation] = own;
      if (evaluation.state === 'queued') {
        room = Math.min(room, evaluation.mostTogether);
        // As many as the most suspected of them may be.
        if (group.length > 0 && (group.length >= room || !mayTravel(group[0], evaluation))) break;
        group.push(evaluation);
      }
      this.shift(own);
      this.putLast(source, own);
    }
    return group;
  }
}
