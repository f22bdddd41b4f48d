import type { Evaluation } from './evaluation.js';
import { LoadTree } from './loadTree.js';
import type { ReplicaQueue } from './replicaQueue.js';

/** Longer than any wait. */
const OVERDUE_NS = 1e15;
/** So many are looked at for one that is idle before the others' loads are put in order. */
const FIRST_LOOKS = 8;
const IN_TIME_LOOKS = 64;
/** What an idle one's wait counts as: less than none of somebody who is at work. */
const IDLE_NS = -1;
/** Weight of one replica's batches in their usual size. */
const SIZE_WEIGHT = 0.02;

/** The replicas of one model that serve everybody, and which of them an evaluation goes to. */
export class ReplicaChoice {
  private readonly all: ReplicaQueue[] = [];
  /** Where the search for the least busy replica starts, so that equals take turns. */
  private turn = 0;
  /** What each has before it, by place; undefined: to be made from all of them. */
  private tree: LoadTree | undefined;
  /** By place. */
  private itemNs: (number | undefined)[] = [];
  /** How large their batches are: at this size they are compared. 0: nobody knows. */
  private usualSize = 0;
  /** Those that have answered. */
  private measured = 0;
  /** By place: 1 where the tree does not know its load of now. */
  private isStale = new Uint8Array(0);
  private readonly stale: ReplicaQueue[] = [];
  /** Overdue by what a batch takes their siblings, which may change. */
  private readonly doubtful = new Set<ReplicaQueue>();

  get queues(): readonly ReplicaQueue[] {
    return this.all;
  }

  add(queue: ReplicaQueue): void {
    queue.place = this.all.length;
    this.all.push(queue);
    this.tree = undefined;
  }

  /** @returns whether it was one of them */
  remove(queue: ReplicaQueue): boolean {
    const at = this.all.indexOf(queue);
    if (at < 0) return false;
    this.all.splice(at, 1);
    queue.place = -1;
    for (let place = at; place < this.all.length; place++) this.all[place].place = place;
    this.tree = undefined;
    return true;
  }

  /** What one of them has before it, or what it is seen to need, is another than before. */
  onLoad(queue: ReplicaQueue): void {
    const { place } = queue;
    if (this.tree === undefined || place < 0 || this.isStale[place] === 1) return;
    this.isStale[place] = 1;
    this.stale.push(queue);
  }

  /** The replica with the least expected wait among those that have room; any of them when none has. No wait is less than none. */
  leastWait(nowNs: number): ReplicaQueue | undefined {
    const { all } = this;
    this.turn = (this.turn + 1) % Math.max(all.length, 1);
    const looks = Math.min(FIRST_LOOKS, all.length);
    for (let step = 0; step < looks; step++) {
      const queue = all[(this.turn + step) % all.length];
      // With nothing in flight it cannot hang either.
      if (queue.backlog === 0 && !queue.full) return queue;
    }
    return all.length === 0 ? undefined : this.leastBusy(nowNs);
  }

  /** The least time in which one of them is expected to answer what comes now; undefined where none of those looked at can tell. */
  expectedNs(nowNs: number): number | undefined {
    const { all, turn } = this;
    let leastNs: number | undefined;
    for (let step = 0; step < Math.min(FIRST_LOOKS, all.length); step++) {
      const ns = all[(turn + step) % all.length].forecast.expectedNs(nowNs);
      if (ns !== undefined && (leastNs === undefined || ns < leastNs)) leastNs = ns;
    }
    return leastNs;
  }

  private leastBusy(nowNs: number): ReplicaQueue {
    const tree = this.loads(nowNs);
    for (;;) {
      const place = this.leastPlace(tree);
      const queue = this.all[place];
      if (this.isKnownOverdue(tree, place) || !queue.forecast.isOverdue(nowNs, tree.longestBatchNs)) {
        return queue;
      }
      // It may hang: better anybody else who has room.
      this.show(tree, queue, OVERDUE_NS);
      if (queue.forecast.batchNs === 0) this.doubtful.add(queue);
    }
  }

  /** Which has the least wait, the first from the turn on. */
  private leastPlace(tree: LoadTree): number {
    const { turn } = this;
    const { leastWaitNs, leastUnmeasuredBacklog } = tree;
    const unmeasuredNs =
      leastUnmeasuredBacklog === Infinity ? Infinity : this.unmeasuredNs(tree, leastUnmeasuredBacklog);
    if (leastWaitNs < unmeasuredNs) return tree.leastWaitFrom(turn);
    if (unmeasuredNs < leastWaitNs) return tree.leastUnmeasuredFrom(turn);
    // None has room.
    if (unmeasuredNs === Infinity) return turn;
    const one = tree.leastWaitFrom(turn);
    const other = tree.leastUnmeasuredFrom(turn);
    const steps = (place: number): number => (place - turn + tree.size) % tree.size;
    return steps(one) < steps(other) ? one : other;
  }

  /** What a replica that has answered nothing yet is taken to need: as much as its siblings do. */
  private unmeasuredNs(tree: LoadTree, backlog: number): number {
    const meanNs = this.measured === 0 ? 1 : tree.sumOfItemNs / this.measured;
    return backlog < OVERDUE_NS ? backlog * meanNs : (backlog - OVERDUE_NS) * meanNs + OVERDUE_NS;
  }

  private isKnownOverdue(tree: LoadTree, place: number): boolean {
    return tree.isAtLeast(place, OVERDUE_NS);
  }

  /** The tree, with all loads of now. */
  private loads(nowNs: number): LoadTree {
    if (this.tree === undefined) return this.loadsOfAll();
    const { tree, stale, doubtful } = this;
    for (const queue of stale) {
      // One may have left since.
      if (queue.place < 0) continue;
      this.isStale[queue.place] = 0;
      this.show(tree, queue, 0);
    }
    stale.length = 0;
    for (const queue of doubtful) {
      if (queue.forecast.batchNs === 0 && queue.forecast.isOverdue(nowNs, tree.longestBatchNs)) continue;
      doubtful.delete(queue);
      this.show(tree, queue, 0);
    }
    return tree;
  }

  private loadsOfAll(): LoadTree {
    const tree = new LoadTree(this.all.length);
    this.tree = tree;
    this.itemNs = new Array<number | undefined>(this.all.length).fill(undefined);
    this.measured = 0;
    this.isStale = new Uint8Array(this.all.length);
    this.stale.length = 0;
    this.doubtful.clear();
    for (const queue of this.all) this.show(tree, queue, 0);
    return tree;
  }

  /** @param moreNs than by its load. */
  private show(tree: LoadTree, queue: ReplicaQueue, moreNs: number): void {
    const { place, backlog, full, forecast } = queue;
    const { meanSize, batchNs } = forecast;
    if (meanSize !== undefined) {
      this.usualSize += (this.usualSize === 0 ? 1 : SIZE_WEIGHT) * (meanSize - this.usualSize);
    }
    const itemNs = forecast.itemNsAt(this.usualSize);
    if (this.itemNs[place] === undefined && itemNs !== undefined) this.measured += 1;
    this.itemNs[place] = itemNs;
    const isIdle = backlog === 0;
    const isMeasured = isIdle || itemNs !== undefined;
    const waitNs = full ? Infinity : isIdle ? IDLE_NS : backlog * (itemNs ?? 0) + moreNs;
    const unmeasured = full ? Infinity : backlog + moreNs;
    tree.set(place, isMeasured ? waitNs : Infinity, isMeasured ? Infinity : unmeasured, itemNs ?? 0, batchNs);
  }

  /**
   * A replica that can still be in time, where the one with the least wait cannot: it may serve in larger batches. Of
   * hundreds only some are looked at: in overload everybody asks, and none may be.
   */
  inTime(evaluation: Evaluation, nowNs: number): ReplicaQueue | undefined {
    const { all, turn } = this;
    const looks = Math.min(IN_TIME_LOOKS, all.length);
    for (let step = 0; step < looks; step++) {
      const queue = all[(turn + step) % all.length];
      if (!queue.full && queue.forecast.lateByNs(evaluation, nowNs) <= 0) return queue;
    }
    return undefined;
  }
}
