import type { Clock } from '../../simulator/time/index.js';
import { ClassQueue } from './classQueue.js';
import type { Evaluation } from './evaluation.js';
import { ExpiryTimer } from './expiryTimer.js';
import type { SuspectLanes } from './suspectLanes.js';

/** Who waits for one replica: how many may, where each stands, and until when. */
export class WaitingEvaluations {
  /** Those whom nothing is held against. */
  readonly others = new ClassQueue();
  private readonly expiry: ExpiryTimer;

  /**
   * @param port gets the event `expire` when somebody may have expired.
   * @param lanes of those who travel apart.
   * @param most that may wait.
   */
  constructor(
    clock: Clock,
    port: string,
    readonly lanes: SuspectLanes,
    private readonly most: number,
  ) {
    this.expiry = new ExpiryTimer(clock, port, this.others);
  }

  get size(): number {
    return this.others.size + this.lanes.size;
  }

  get isFull(): boolean {
    return this.size >= this.most;
  }

  /** Whether no more inputs of this source, which is a bad one, may wait. */
  isFullFor(source: object): boolean {
    return this.lanes.isFullFor(source, this.most);
  }

  push(evaluation: Evaluation): void {
    if (isSuspect(evaluation)) this.lanes.push(evaluation);
    else this.others.push(evaluation);
  }

  /** How many are answered before one that comes now. */
  countBefore(evaluation: Evaluation): number {
    return this.lanes.countBefore(evaluation, this.others);
  }

  /** Somebody came, or left: the first to expire may be another one. */
  armExpiry(): void {
    this.expiry.arm();
  }

  onExpire(nowNs: number): void {
    this.expiry.onExpire(nowNs);
  }

  /** Takes all out: most urgent first. */
  clear(): Evaluation[] {
    return [...this.lanes.clear(), ...this.others.clear()];
  }
}

/** Whether it has been in a batch that was spoilt, or is of a source that sends what spoils batches: it travels among its like. */
export function isSuspect({ mostTogether }: Evaluation): boolean {
  return mostTogether !== Infinity;
}
