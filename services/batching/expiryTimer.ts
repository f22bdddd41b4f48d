import type { Clock } from '../../simulator/time/index.js';
import type { PredictionFailure } from '../cache/index.js';
import type { ClassQueue } from './classQueue.js';
import { failEvaluation, type Evaluation } from './evaluation.js';

const EXPIRED: PredictionFailure = {
  reason: 'expired',
  message: 'it waited in the queue until its deadline',
};

const HOPELESS: PredictionFailure = {
  reason: 'expired',
  message: 'it waited too long in the queue to be answered by its deadline',
};

/** Ends one that is late, or would be. */
export function failLate(evaluation: Evaluation, nowNs: number): void {
  failEvaluation(evaluation, evaluation.expiresNs > nowNs ? HOPELESS : EXPIRED);
}

/** One timer for all who wait: takes out those that nobody waits for any more. */
export class ExpiryTimer {
  /** When it fires; Infinity when it is not set. */
  private timerNs = Infinity;
  private timer = -1;

  /** @param port gets the event `expire` when somebody may have expired. */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly waiting: ClassQueue,
  ) {}

  /** Somebody came, or left. */
  arm(): void {
    const first = this.waiting.first();
    if (first === undefined || this.timerNs <= first.expiresNs) return;
    if (this.timerNs !== Infinity) this.clock.cancel(this.timer);
    this.timerNs = first.expiresNs;
    this.timer = this.clock.schedule(this.port, first.expiresNs, 'expire');
  }

  onExpire(nowNs: number): void {
    this.timerNs = Infinity;
    for (;;) {
      const first = this.waiting.first();
      if (first === undefined || first.expiresNs > nowNs) break;
      this.waiting.remove(first);
      failEvaluation(first, EXPIRED);
    }
    this.arm();
  }
}
