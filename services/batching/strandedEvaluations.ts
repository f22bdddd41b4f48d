import type { LaunchClass } from '../../containers/protocol/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';
import { ClassQueue } from './classQueue.js';
import type { Evaluation, EvaluationHolder } from './evaluation.js';
import { ExpiryTimer } from './expiryTimer.js';

/** What the last replica of a model left behind when it was lost: it waits for the next one that comes up. */
export class StrandedEvaluations implements EventSink, EvaluationHolder {
  private readonly waiting = new ClassQueue();
  private readonly expiry: ExpiryTimer;
  private isAttached = false;

  /** @param port its name on the clock, on which it is only while somebody waits. */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
  ) {
    this.expiry = new ExpiryTimer(clock, port, this.waiting);
  }

  get size(): number {
    return this.waiting.size;
  }

  add(evaluation: Evaluation): void {
    if (!this.isAttached) this.clock.attach(this.port, this);
    this.isAttached = true;
    evaluation.state = 'queued';
    evaluation.queue = this;
    this.waiting.push(evaluation);
    this.expiry.arm();
  }

  extend(
    evaluation: Evaluation,
    deadlineNs: number,
    expiresNs: number,
    priority: number,
    launchClass: LaunchClass,
  ): void {
    this.waiting.extend(evaluation, deadlineNs, expiresNs, priority, launchClass);
  }

  cancel(evaluation: Evaluation): void {
    this.waiting.remove(evaluation);
    evaluation.state = 'done';
  }

  /** Takes all out: most urgent first. */
  take(): Evaluation[] {
    return this.waiting.clear();
  }

  /** Leaves the clock. @returns who still waited. */
  close(): Evaluation[] {
    if (this.isAttached) this.clock.detach(this.port);
    this.isAttached = false;
    return this.take();
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    this.expiry.onExpire(nowNs);
  }
}
