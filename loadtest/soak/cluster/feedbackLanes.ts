import { setTimeout as after } from 'node:timers/promises';
import { RefusedError, type Feedback } from '../../../services/client/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import type { Randomness } from '../randomness.js';
import type { Violations } from '../violations.js';
import { ARMS } from './changes.js';
import type { ClusterUnderTest, FrontendSeat } from './clusterUnderTest.js';
import type { Outages } from './outages.js';

/** Learns from feedback by input, each under a key. */
export const KEYED = 'keyed';
/** Learns from feedback on queries. */
export const JUDGED = 'judged';

const PAUSE_MS = 25;
const TRIES = 6;
const SETTLED_WITHIN_MS = 90_000;

export interface FeedbackReport {
  readonly keyed: { readonly acknowledged: number; readonly learned: number };
  /** `doubtful` was never acknowledged, and may have been learned. */
  readonly judged: { readonly acknowledged: number; readonly doubtful: number; readonly learned: number };
  /** Acknowledged again. */
  readonly repeated: number;
}

/** Clients that judge without pause, at any frontend, and send again what was not acknowledged. */
export class FeedbackLanes {
  private keys = 0;
  private keyed = 0;
  private judged = 0;
  private doubtful = 0;
  private repeated = 0;
  private isOver = false;

  constructor(
    private readonly cluster: ClusterUnderTest,
    private readonly random: Randomness,
    private readonly outages: Outages,
    private readonly violations: Violations,
  ) {}

  get acknowledged(): number {
    return this.keyed + this.judged;
  }

  /** So many lanes, until `stop`; what has begun then is brought to its end. */
  async run(lanes: number): Promise<void> {
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        while (!this.isOver) {
          await ((lane & 1) === 0 ? this.sendKeyed() : this.judgeQuery());
          await after(PAUSE_MS);
        }
      }),
    );
  }

  stop(): void {
    this.isOver = true;
  }

  /** What has been learned once nothing waits any more: exactly what was acknowledged, or it is a violation. */
  async settle(): Promise<FeedbackReport> {
    const untilMs = performance.now() + SETTLED_WITHIN_MS;
    let [keyed, judged] = [-1, -1];
    let waiting = '';
    while (performance.now() < untilMs) {
      try {
        [keyed, judged] = [await this.learned(KEYED), await this.learned(JUDGED)];
        const { counts } = await this.client().management.queue();
        waiting = JSON.stringify(counts);
        if (
          counts.waiting + counts.active + counts.delayed === 0 &&
          keyed >= this.keyed &&
          judged >= this.judged
        )
          break;
      } catch (error) {
        waiting = reasonOf(error);
      }
      await after(200);
    }
    // What would be learned twice has time for it.
    await after(1000);
    [keyed, judged] = [await this.learned(KEYED), await this.learned(JUDGED)];
    const report = {
      keyed: { acknowledged: this.keyed, learned: keyed },
      judged: { acknowledged: this.judged, doubtful: this.doubtful, learned: judged },
      repeated: this.repeated,
    };
    if (keyed !== this.keyed || judged < this.judged || judged > this.judged + this.doubtful)
      this.violations.add(
        'learned otherwise than acknowledged',
        `${JSON.stringify(report)}, queue ${waiting}`,
      );
    return report;
  }

  private async sendKeyed(): Promise<void> {
    const idempotencyKey = `key ${(this.keys += 1)}`;
    const feedback: Feedback = { input: new Float64Array([this.keys]), label: ARMS[0], idempotencyKey };
    while (!(await this.send(KEYED, feedback, undefined))) await after(100);
    this.keyed += 1;
    if (this.random.share() < 0.3 && (await this.send(KEYED, feedback, undefined))) this.repeated += 1;
  }

  private async judgeQuery(): Promise<void> {
    const seat = this.someFrontend();
    const { life } = seat;
    let queryId: string;
    try {
      const prediction = await this.cluster.client(seat).predict(JUDGED, new Float64Array([1]));
      // There is nothing to be learned of what no model answered.
      if (prediction.isDefault) return;
      ({ queryId } = prediction);
    } catch (error) {
      if (life?.isKilled !== true)
        this.violations.add('nothing answered', `${JUDGED} at ${seat.name}: ${reasonOf(error)}`);
      return;
    }
    const beganMs = performance.now();
    const isHeld = (): boolean => seat.life === life && seat.isThere;
    // Twice at once, half of the time, and perhaps to two frontends.
    let times = this.random.share() < 0.5 ? 2 : 1;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const feedback: Feedback = { queryId, label: ARMS[0] };
      const sent = await Promise.all(
        Array.from({ length: times }, () => this.send(JUDGED, feedback, isHeld)),
      );
      const acknowledged = sent.filter((isAcknowledged) => isAcknowledged).length;
      if (acknowledged > 0) {
        this.judged += 1;
        this.repeated += acknowledged - 1;
        return;
      }
      await after(200);
      times = 1;
    }
    this.doubtful += 1;
    if (isHeld() && !this.isRedisAway(beganMs))
      this.violations.add('feedback was never taken', `${JUDGED}, query of ${seat.name}`);
  }

  /** @param isHeld whether the frontend that answered the query is there. @returns whether it was acknowledged */
  private async send(
    application: string,
    feedback: Feedback,
    isHeld: (() => boolean) | undefined,
  ): Promise<boolean> {
    const seat = this.someFrontend();
    const { life } = seat;
    const beganMs = performance.now();
    try {
      await this.cluster.client(seat).feedback(application, feedback);
      return true;
    } catch (error) {
      const isExcused =
        life?.isKilled === true ||
        this.isRedisAway(beganMs) ||
        (isHeld !== undefined && !isHeld()) ||
        this.isStarting(seat);
      // On a machine that does much else one may be late; whether it is late for ever, its lane sees.
      const isLate = error instanceof RefusedError && error.code === 'holder_silent';
      if ((!isExcused && !isLate) || (error instanceof RefusedError && error.status === 400)) {
        this.violations.add('feedback was refused', `${application} at ${seat.name}: ${reasonOf(error)}`);
      }
      return false;
    }
  }

  /** The one that is asked, or holds the query, may not be known to the others yet. */
  private isStarting({ life }: FrontendSeat): boolean {
    return life !== undefined && performance.now() - life.sinceMs < 5000;
  }

  /** Of any frontend: feedback is passed on from one to the other through Redis. */
  private isRedisAway(fromMs: number): boolean {
    return this.cluster.frontends.some(({ number }) => this.outages.touchesRedis(number, fromMs));
  }

  private someFrontend(): FrontendSeat {
    return this.random.of(this.cluster.living());
  }

  private client() {
    return this.cluster.client(this.someFrontend());
  }

  /** Every feedback that UCB1 learns is one judgement of one arm. */
  private async learned(application: string): Promise<number> {
    const { state } = await this.client().management.exportState(application);
    const { judged } = state as { readonly judged: readonly number[] };
    return judged.reduce((sum, count) => sum + count, 0);
  }
}
