import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { SeededRandom } from '../../simulator/random/index.js';
import { RefusedError, type Feedback, type WindjammerClient } from '../client/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { FeedbackFrontend } from './feedbackFrontends.js';

/** What came of a run; every acknowledged feedback is learned once, or the run has failed. */
export interface KillReport {
  readonly seed: number;
  readonly kills: { readonly redis: number; readonly frontends: number };
  /** Feedback by input with keys, each sent until it was acknowledged. */
  readonly keyed: { readonly acknowledged: number; readonly learned: number };
  /** Feedback on queries; `doubtful` was never acknowledged, and may have been learned. */
  readonly judged: { readonly acknowledged: number; readonly doubtful: number; readonly learned: number };
  /** Sent again on purpose though it was acknowledged. */
  readonly repeated: number;
  /** In the end; undefined: it could not be asked. */
  readonly queue: Awaited<ReturnType<WindjammerClient['management']['queue']>>['counts'] | undefined;
}

const FRONTENDS = 2;
const LANES = 6;
const KEYED = 'keyed';
const JUDGED = 'judged';
/** Without anything that is learned: then nothing more comes. */
const SETTLED_WITHIN_MS = 60_000;

/** Two frontends on one Redis, clients that judge without pause, and kills at random moments. */
export class FeedbackUnderKills {
  private readonly folder = mkdtempSync(join(tmpdir(), 'windjammer-kills-'));
  private readonly frontends: (FeedbackFrontend | undefined)[] = [];
  private isOver = false;
  private keys = 0;
  private readonly acknowledgedKeys = new Set<string>();
  private readonly acknowledgedQueries = new Set<string>();
  private readonly doubtfulQueries = new Set<string>();
  private repeated = 0;
  private readonly kills = { redis: 0, frontends: 0 };

  private constructor(
    private readonly seed: number,
    private readonly random: SeededRandom,
    private readonly redis: RedisServer,
  ) {}

  /** @param count of kills */
  static async run(
    seed: number,
    count: number,
    onKill: (made: number) => void = () => undefined,
  ): Promise<KillReport> {
    const run = new FeedbackUnderKills(seed, new SeededRandom(seed), await RedisServer.start());
    try {
      await run.setUp();
      const lanes = Array.from({ length: LANES }, (_, lane) => run.lane(lane));
      for (let made = 0; made < count; made++) {
        await after(20 + 600 * run.random.share());
        await run.killSomebody();
        onKill(made + 1);
      }
      await run.revive();
      run.isOver = true;
      await Promise.all(lanes);
      return await run.report();
    } finally {
      run.isOver = true;
      await run.cleanUp();
    }
  }

  private async setUp(): Promise<void> {
    for (let at = 0; at < FRONTENDS; at++) this.frontends[at] = await this.startFrontend(at);
    const { management } = this.someFrontend().client;
    for (const name of ['m1', 'm2']) {
      await management.addModel({
        model_name: name,
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/constant',
        output: name,
      });
    }
    for (const name of [KEYED, JUDGED]) {
      await management.addApplication({
        name,
        input_type: 'doubles',
        default_output: 'none',
        latency_slo_micros: 1_000_000,
        policy: { name: 'ucb1', parameters: { memory: null } },
      });
      await management.addLinks(name, ['m1', 'm2']);
    }
    // Every frontend knows them before anybody asks.
    for (const frontend of this.frontends) {
      while ((await frontend?.client.management.applications())?.length !== 2) await after(50);
    }
  }

  /** One client: sends, sends again, sends what was acknowledged once more. */
  private async lane(lane: number): Promise<void> {
    while (!this.isOver) {
      if ((lane & 1) === 0) await this.sendKeyed();
      else await this.judgeQuery();
    }
  }

  private async sendKeyed(): Promise<void> {
    const idempotencyKey = `key ${this.keys++}`;
    const feedback: Feedback = { input: new Float64Array([this.keys]), label: 'm1', idempotencyKey };
    while (!(await this.send(KEYED, feedback))) await after(50);
    this.acknowledgedKeys.add(idempotencyKey);
    if (this.random.share() > 0.3) return;
    if (await this.send(KEYED, feedback)) this.repeated += 1;
  }

  private async judgeQuery(): Promise<void> {
    let queryId: string;
    try {
      ({ queryId } = await this.someFrontend().client.predict(JUDGED, new Float64Array([1])));
    } catch {
      await after(50);
      return;
    }
    const feedback: Feedback = { queryId, label: 'm1' };
    // Twice at once, half of the time, and perhaps to both frontends.
    let times = this.random.share() < 0.5 ? 2 : 1;
    for (let again = 0; again < 5; again++) {
      const sent = await Promise.all(Array.from({ length: times }, () => this.send(JUDGED, feedback)));
      const acknowledged = sent.filter((isAcknowledged) => isAcknowledged).length;
      if (acknowledged > 0) {
        this.acknowledgedQueries.add(queryId);
        this.repeated += acknowledged - 1;
        return;
      }
      await after(100);
      times = 1;
    }
    this.doubtfulQueries.add(queryId);
  }

  /** Whether it was acknowledged. */
  private async send(application: string, feedback: Feedback): Promise<boolean> {
    try {
      await this.someFrontend().client.feedback(application, feedback);
      return true;
    } catch (error) {
      if (error instanceof RefusedError && error.status === 400) throw error;
      return false;
    }
  }

  private async killSomebody(): Promise<void> {
    const pauseMs = 400 * this.random.share();
    if (this.random.share() < 0.3) {
      this.kills.redis += 1;
      await this.redis.kill();
      await after(pauseMs);
      await this.redis.run();
      return;
    }
    this.kills.frontends += 1;
    const at = Math.floor(this.random.share() * FRONTENDS);
    await this.frontends[at]?.kill();
    await after(pauseMs);
    this.frontends[at] = await this.startFrontend(at);
  }

  private async revive(): Promise<void> {
    for (let at = 0; at < FRONTENDS; at++) {
      if (this.frontends[at]?.isAlive !== true) this.frontends[at] = await this.startFrontend(at);
    }
  }

  private startFrontend(at: number): Promise<FeedbackFrontend> {
    return FeedbackFrontend.start(this.redis.url, join(this.folder, `f${at}`));
  }

  private someFrontend(): FeedbackFrontend {
    const alive = this.frontends.filter((one) => one?.isAlive === true);
    const chosen = alive[Math.floor(this.random.share() * alive.length)] ?? this.frontends[0];
    if (chosen === undefined) throw new Error('no frontend was ever started');
    return chosen;
  }

  private async report(): Promise<KillReport> {
    let [keyed, judged] = [-1, -1];
    let counts: KillReport['queue'];
    let progressMs = performance.now();
    while (performance.now() < progressMs + SETTLED_WITHIN_MS) {
      try {
        const before = keyed + judged;
        [keyed, judged] = [await this.learned(KEYED), await this.learned(JUDGED)];
        if (keyed + judged > before) progressMs = performance.now();
        const isEnough = keyed >= this.acknowledgedKeys.size && judged >= this.acknowledgedQueries.size;
        ({ counts } = await this.someFrontend().client.management.queue());
        if (isEnough && counts.waiting + counts.active + counts.delayed === 0) break;
      } catch {
        // The last to be killed was Redis, and is not found again yet.
      }
      await after(200);
    }
    // What would be learned twice had time for it.
    await after(1000);
    [keyed, judged] = [await this.learned(KEYED), await this.learned(JUDGED)];
    return {
      seed: this.seed,
      kills: this.kills,
      keyed: { acknowledged: this.acknowledgedKeys.size, learned: keyed },
      judged: {
        acknowledged: this.acknowledgedQueries.size,
        doubtful: this.doubtfulQueries.size,
        learned: judged,
      },
      repeated: this.repeated,
      queue: counts,
    };
  }

  /** Every feedback that UCB1 learns is one judgement of one arm. */
  private async learned(application: string): Promise<number> {
    const { state } = await this.someFrontend().client.management.exportState(application);
    const { judged } = state as { readonly judged: readonly number[] };
    return judged.reduce((sum, count) => sum + count, 0);
  }

  private async cleanUp(): Promise<void> {
    for (const frontend of this.frontends) await frontend?.kill();
    await this.redis.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
