import type { HostedModel, ModelRecord } from '../registry/index.js';
import { BackOffPace, TrialPace, type BackOff } from './restartPace.js';
import { Replica, type ReplicaContext, type ReplicaState, type ReplicaStatus } from './replica.js';

/** Which goes first when there are too many: what serves nobody. */
const FIRST_TO_GO: Readonly<Record<ReplicaState, number>> = {
  down: 0,
  starting: 1,
  warming: 2,
  up: 3,
  draining: 4,
};

/** A replica that others are to take the place of answers until one of them does, and for so long at most. */
const LINGERS_MS = 10_000;

/** The replicas of one model version. A replica keeps its number for life, through every restart. */
export class ReplicaSet<M extends ModelRecord = HostedModel> {
  /** In order of their numbers. */
  private replicas: Replica<M>[] = [];
  /** Tries what may take a replica down; not among the others. */
  private apart: Replica<M> | undefined;
  private hasBeenReady = false;
  /** That go once others answer, and since when. */
  private readonly lingering = new Map<Replica<M>, number>();

  /** @param isTaken whether a number has an owner elsewhere: a replica of an earlier registration that is being drained. */
  constructor(
    readonly model: M,
    private readonly context: ReplicaContext<M>,
    private readonly backOff: BackOff,
    private readonly isTaken: (number: number) => boolean,
  ) {}

  /**
   * It can serve in place of another version: one replica is up, and the first time also none of the others is still on
   * its way, so that a switch does not put the load of many replicas on the first.
   */
  isReady(): boolean {
    const states = this.replicas.map((replica) => replica.status().state);
    if (!states.includes('up')) return false;
    this.hasBeenReady ||= !states.some((state) => state === 'starting' || state === 'warming');
    return this.hasBeenReady;
  }

  /** Nothing is left, draining replicas included. */
  get isEmpty(): boolean {
    return this.replicas.length === 0;
  }

  has(number: number): boolean {
    return this.apart?.number === number || this.replicas.some((replica) => replica.number === number);
  }

  /** Without the one that is apart. */
  statuses(): ReplicaStatus[] {
    return this.replicas.map((replica) => replica.status());
  }

  /** Whether a replica more runs, apart from the others. */
  setApart(isWanted: boolean): void {
    if (isWanted === (this.apart !== undefined)) return;
    const { apart } = this;
    if (apart !== undefined) {
      this.apart = undefined;
      apart.drain(() => undefined);
      return;
    }
    this.apart = new Replica(this.model, this.freeNumber(), this.context, new TrialPace(this.backOff), true);
    this.apart.start();
  }

  /** Starts or drains replicas until so many are left. @param onGone called for each one that has ended. */
  scale(count: number, onGone: () => void): void {
    const staying = this.replicas.filter((replica) => replica.status().state !== 'draining');
    for (let missing = count - staying.length; missing > 0; missing--) this.add();
    const leaving = [...staying]
      .sort((a, b) => FIRST_TO_GO[a.status().state] - FIRST_TO_GO[b.status().state] || b.number - a.number)
      .slice(0, Math.max(0, staying.length - count));
    for (const replica of leaving) this.drain(replica, onGone);
  }

  /**
   * Starts and drains replicas until those with these numbers are left. Must be called again from time to time while one
   * lingers (`lingers`), and after `onGone`: a number that is being drained has no other replica meanwhile.
   */
  run(numbers: readonly number[], onGone: () => void): void {
    const wanted = new Set(numbers);
    // The one that is apart has a number that nobody places.
    const isInTheWay = this.apart !== undefined && wanted.has(this.apart.number);
    if (isInTheWay) this.setApart(false);
    for (const number of wanted) {
      if (!this.has(number) && !this.isTaken(number)) this.add(number);
    }
    if (isInTheWay) this.setApart(true);
    const isUp = (replica: Replica<M>): boolean => replica.status().state === 'up';
    const isServed = this.replicas.some((replica) => wanted.has(replica.number) && isUp(replica));
    const nowMs = performance.now();
    for (const replica of this.replicas) {
      if (wanted.has(replica.number)) {
        this.lingering.delete(replica);
        replica.stay();
        continue;
      }
      if (replica.status().state === 'draining') continue;
      const sinceMs = this.lingering.get(replica) ?? nowMs;
      this.lingering.set(replica, sinceMs);
      const lingers = wanted.size > 0 && !isServed && isUp(replica) && nowMs - sinceMs < LINGERS_MS;
      if (lingers) replica.linger();
      else this.drain(replica, onGone);
    }
  }

  /** Some replicas are to go, and have not. */
  get lingers(): boolean {
    return this.lingering.size > 0;
  }

  /** There may be places for those that wait for one. */
  retry(): void {
    for (const replica of this.replicas) replica.retry();
  }

  /** Ends every replica at once. */
  stop(): void {
    for (const replica of this.replicas) replica.stop();
    this.apart?.stop();
    this.apart = undefined;
    this.replicas = [];
    this.lingering.clear();
  }

  private drain(replica: Replica<M>, onGone: () => void): void {
    this.lingering.delete(replica);
    replica.drain(() => {
      this.replicas = this.replicas.filter((other) => other !== replica);
      onGone();
    });
  }

  private add(number = this.freeNumber()): void {
    const replica = new Replica(this.model, number, this.context, new BackOffPace(this.backOff));
    this.replicas = [...this.replicas, replica].sort((a, b) => a.number - b.number);
    replica.start();
  }

  private freeNumber(): number {
    let number = 0;
    while (this.has(number) || this.isTaken(number)) number += 1;
    return number;
  }
}
