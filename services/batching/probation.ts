import type { Clock, EventSink } from '../../simulator/time/index.js';
import type { Evaluation } from './evaluation.js';
import type { ReplicaQueue } from './replicaQueue.js';
import { StrandedEvaluations } from './strandedEvaluations.js';

/** After so long without a loss no replica is kept for what may cause one. */
const QUIET_NS = 300e9;

/** Starts a replica apart from the others, or ends it. @returns whether that can be had. */
export type ApartRequest = (isWanted: boolean) => boolean;

/**
 * Where inputs of one model are tried that may take their replica down: at a replica that serves nobody else, which is asked
 * for when the first was lost with work in hand, and given back when none was for a while.
 */
export class Probation implements EventSink {
  /** The replica's, while it is up. */
  queue: ReplicaQueue | undefined;
  private readonly stranded: StrandedEvaluations;
  private open = false;
  private quietNs = 0;

  /** @param port its name on the clock, on which it is while it is open. */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly request: ApartRequest,
  ) {
    this.stranded = new StrandedEvaluations(clock, `${port}/stranded`);
  }

  /** Whether what may take a replica down goes there, though it may have to wait until the replica is up. */
  get isOpen(): boolean {
    return this.open;
  }

  /** Those who wait for the replica. */
  get waiting(): number {
    return this.stranded.size;
  }

  /** A replica was lost with work in hand. */
  onLost(nowNs: number): void {
    this.quietNs = nowNs + QUIET_NS;
    if (this.open || !this.request(true)) return;
    this.open = true;
    this.clock.attach(this.port, this);
    this.clock.schedule(this.port, this.quietNs, 'quiet');
  }

  /** Until the replica is up. */
  await(evaluation: Evaluation): void {
    this.stranded.add(evaluation);
  }

  /** Takes all out who wait for the replica. */
  take(): Evaluation[] {
    return this.stranded.take();
  }

  /** No replica comes any more. @returns who waited for it. */
  close(): Evaluation[] {
    if (this.open) this.clock.detach(this.port);
    this.open = false;
    return this.stranded.close();
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    if (nowNs < this.quietNs || this.stranded.size > 0) {
      this.clock.schedule(this.port, this.quietNs > nowNs ? this.quietNs : nowNs + QUIET_NS / 10, 'quiet');
      return;
    }
    this.close();
    this.request(false);
  }
}
