import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedbackOutcome, FeedbackRequest } from '../prediction/index.js';
import { inputOf, Serving } from '../prediction/tests/serving.js';
import { keyPrefix, openRedis, redisAddress } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { MemoryStore } from '../store/index.js';
import { FeedbackConnections, FeedbackQueue, type FeedbackFate } from './index.js';

const FOREVER = { timeout: 20_000, interval: 20 };

/** An engine with its queue: what a frontend is to feedback. */
class Frontend {
  readonly serving: Serving;
  readonly queue: FeedbackQueue;
  readonly fates: FeedbackFate[] = [];
  private queries = 0;
  private readonly turns: NodeJS.Timeout;

  private constructor(
    readonly name: string,
    connections: FeedbackConnections,
    store: MemoryStore,
    dataDirectory: string | undefined,
    spoolBytes?: number,
  ) {
    this.serving = new Serving({ store });
    this.serving.registry
      .addApplication('app', 'ucb1', { memory: null })
      .addModel('m')
      .addModel('n')
      .link('app', 'm', 'n');
    this.serving.container({ model: 'm', output: () => 'yes' });
    this.serving.container({ model: 'n', output: () => 'no' });
    this.queue = new FeedbackQueue({
      connections,
      prefix: keyPrefix('windjammer'),
      frontend: name,
      desk: this.serving.engine.desk,
      dataDirectory,
      spoolBytes,
      onFate: (_application, fate) => this.fates.push(fate),
      onFeedback: () => undefined,
      complain: () => undefined,
    });
    // Of the models: their clock is virtual.
    this.turns = setInterval(() => this.serving.run(), 10);
  }

  static async start(
    name: string,
    redis: RedisServer,
    store: MemoryStore,
    dataDirectory?: string,
    spoolBytes?: number,
  ): Promise<Frontend> {
    const connections = await FeedbackConnections.open(redisAddress(redis.url));
    const frontend = new Frontend(name, connections, store, dataDirectory, spoolBytes);
    await frontend.queue.start();
    return frontend;
  }

  /** Redis is killed in the midst of it, and comes back. */
  static async startAcrossKill(name: string, redis: RedisServer, store: MemoryStore): Promise<Frontend> {
    const connections = await FeedbackConnections.open(redisAddress(redis.url));
    await redis.kill();
    const frontend = new Frontend(name, connections, store, undefined);
    await redis.run();
    await expect.poll(() => connections.commands.status, FOREVER).toBe('ready');
    await frontend.queue.start();
    return frontend;
  }

  predict(value = 0): string {
    const id = this.serving.predict(value, { id: `${this.name}-${this.queries++}` });
    this.serving.run();
    return id;
  }

  update(more: Partial<FeedbackRequest>): Promise<FeedbackOutcome> {
    return new Promise((resolve) =>
      this.queue.update({ application: 'app', context: '', label: 'yes', ...more }, resolve),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.turns);
    await this.queue.close();
  }
}

let redis: RedisServer;
let store: MemoryStore;
let frontends: Frontend[] = [];
let folder: string;

async function start(name: string, dataDirectory?: string, spoolBytes?: number): Promise<Frontend> {
  const frontend = await Frontend.start(name, redis, store, dataDirectory, spoolBytes);
  frontends.push(frontend);
  return frontend;
}

/** Every feedback is one play of one arm. */
function plays(): number {
  const state = store.get('selection/app/own')?.value as { readonly judged: readonly number[] } | undefined;
  return (state?.judged ?? []).reduce((sum, count) => sum + count, 0);
}

beforeEach(async () => {
  redis = await RedisServer.start();
  store = new MemoryStore();
  folder = mkdtempSync(join(tmpdir(), 'windjammer-feedback-'));
});

afterEach(async () => {
  for (const frontend of frontends) await frontend.close();
  frontends = [];
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('feedback through Redis', () => {
  it('is learned once, by whichever frontend it comes', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const queries = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? a : b).predict(at));
    const answers = await Promise.all(
      queries.flatMap((queryId) => [a.update({ queryId }), b.update({ queryId }), a.update({ queryId })]),
    );
    expect(answers.every(({ accepted, durable }) => accepted && durable)).toBe(true);
    expect(answers.filter(({ joined }) => joined === 'query')).toHaveLength(100);
    expect(answers.filter(({ joined }) => joined === 'repeated')).toHaveLength(200);
    await expect.poll(plays, FOREVER).toBe(100);
    const input = inputOf(1);
    const keyed = await Promise.all(
      Array.from({ length: 60 }, (_, at) => [a, b][at % 2].update({ input, idempotencyKey: `${at >> 2}` })),
    );
    expect(keyed.every(({ accepted }) => accepted)).toBe(true);
    await expect.poll(plays, FOREVER).toBe(115);
    await expect.poll(async () => (await a.queue.administration.counts()).waiting, FOREVER).toBe(0);
    expect(plays()).toBe(115);
  });

  it('says that a query is unknown when the frontend that held it is gone', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const queryId = a.predict();
    await a.close();
    frontends = [b];
    expect(await b.update({ queryId })).toMatchObject({
      accepted: false,
      refusal: { code: 'unknown_query' },
    });
    expect(await b.update({ queryId: 'nobody' })).toMatchObject({ refusal: { code: 'unknown_query' } });
  });

  it('calls no query unknown since Redis was away for so long that nobody is known there', async () => {
    const [a, b] = [await start('a'), await start('b')];
    const queryId = a.predict();
    const connections = await FeedbackConnections.open(redisAddress(redis.url));
    // As after a long time: what both have said of themselves has run out.
    for (const name of ['a', 'b'])
      await connections.commands.pexpire(`${keyPrefix('windjammer')}:feedback-holder:${name}`, 1);
    connections.close();
    await redis.kill();
    // Longer than between two words of one that is there.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await redis.run();
    const codes = new Set<string | undefined>();
    await expect
      .poll(async () => {
        const { accepted, refusal } = await b.update({ queryId });
        codes.add(refusal?.code);
        return accepted;
      }, FOREVER)
      .toBe(true);
    expect([...codes]).not.toContain('unknown_query');
    await expect.poll(plays, FOREVER).toBe(1);
  });

  it('is kept while Redis is away, over a restart of the frontend too, and learned once when it is back', async () => {
    let a = await start('a', folder);
    const early = a.predict();
    await a.update({ queryId: early });
    await redis.kill();
    const queries = Array.from({ length: 20 }, (_, at) => a.predict(at));
    for (const queryId of queries) {
      expect(await a.update({ queryId })).toEqual({ accepted: true, joined: 'query', durable: true });
    }
    expect(await a.update({ queryId: queries[3] })).toMatchObject({ joined: 'repeated', durable: true });
    expect(a.queue.state().spooled).toBe(20);
    expect(await a.update({ queryId: 'b-7' })).toMatchObject({ refusal: { code: 'feedback_not_kept' } });
    await a.close();
    frontends = [];
    await redis.run();
    a = await start('a2', folder);
    expect(a.queue.state().spooled).toBe(20);
    await expect.poll(plays, FOREVER).toBe(21);
    await expect.poll(() => a.queue.state().spooled, FOREVER).toBe(0);
    await redis.kill();
    const b = a.predict();
    expect(await a.update({ queryId: b })).toMatchObject({ accepted: true });
    await redis.run();
    await expect.poll(plays, FOREVER).toBe(22);
  });

  it('is learned also where Redis is killed while the queue is being opened', async () => {
    const frontend = await Frontend.startAcrossKill('a', redis, store);
    frontends.push(frontend);
    expect(await frontend.update({ queryId: frontend.predict() })).toMatchObject({ accepted: true });
    await expect.poll(plays, FOREVER).toBe(1);
  });

  it('is refused while Redis is away where there is no folder or no room for it', async () => {
    const a = await start('a');
    await redis.kill();
    const queryId = a.predict();
    expect(await a.update({ queryId })).toMatchObject({ refusal: { code: 'feedback_not_kept' } });
    await redis.run();
    await expect.poll(async () => (await a.update({ queryId })).joined, FOREVER).toBe('query');
    await expect.poll(plays, FOREVER).toBe(1);
  });

  it('is spooled up to the size that the spool may have, and refused then, by name', async () => {
    const a = await start('a', folder, 2048);
    await redis.kill();
    const outcomes: FeedbackOutcome[] = [];
    for (let at = 0; at < 40; at++) outcomes.push(await a.update({ queryId: a.predict(at) }));
    const kept = outcomes.filter(({ accepted }) => accepted).length;
    expect(kept).toBeGreaterThan(1);
    expect(kept).toBeLessThan(40);
    expect(a.queue.state()).toMatchObject({ spooled: kept });
    expect(a.queue.state().spooledBytes).toBeLessThanOrEqual(2048);
    const last = outcomes[outcomes.length - 1];
    expect(last).toMatchObject({ refusal: { code: 'feedback_not_kept' } });
    expect(JSON.stringify(last)).toContain('--feedback-spool-mib');
    await redis.run();
    await expect.poll(plays, FOREVER).toBe(kept);
  });

  it('that is poison fails alone, is shown with its reason, tried again and dropped', async () => {
    const a = await start('a');
    const { administration } = a.queue;
    const raw = new Queue('feedback', {
      connection: openRedis(redisAddress(redis.url), {
        name: 'test',
        kind: 'command',
        onError: () => undefined,
      }),
      prefix: keyPrefix('windjammer'),
    });
    const good = { application: 'app', context: '', label: 'yes', selection: { arms: ['m'], propensity: 1 } };
    const predictions = [{ arm: 'm', output: 'yes' }];
    await raw.waitUntilReady();
    await raw.addBulk([
      {
        name: 'x',
        data: { ...good, predictions, marks: ['g1'], from: 'z', number: 2 },
        opts: { jobId: 'g1' },
      },
      { name: 'x', data: { anything: 1 }, opts: { jobId: 'p-form' } },
      { name: 'x', data: { ...good, label: 7, marks: ['p2'] }, opts: { jobId: 'p-label' } },
      { name: 'x', data: { ...good, predictions: 5, marks: ['p3'] }, opts: { jobId: 'p-predictions' } },
      {
        name: 'x',
        data: { ...good, selection: undefined, input: 'AAAA', marks: ['p4'] },
        opts: { jobId: 'p-input' },
      },
      { name: 'x', data: { ...good, marks: [''], predictions }, opts: { jobId: 'p-mark' } },
      {
        name: 'x',
        data: { ...good, context: 'x'.repeat(5000), marks: ['p5'] },
        opts: { jobId: 'p-context' },
      },
      {
        name: 'x',
        data: { ...good, predictions, marks: ['g2'], from: 'z', number: 1 },
        opts: { jobId: 'g2' },
      },
      {
        name: 'x',
        data: { ...good, selection: { arms: ['gone'], propensity: 1 }, predictions: [], marks: ['g3'] },
        opts: { jobId: 'g3' },
      },
      {
        name: 'x',
        data: { ...good, application: 'gone', predictions, marks: ['g4'] },
        opts: { jobId: 'g4', attempts: 2 },
      },
    ]);
    await expect.poll(plays, FOREVER).toBe(2);
    await expect.poll(async () => (await administration.counts()).failed, FOREVER).toBe(7);
    expect(new Set(a.fates)).toEqual(new Set(['learned', 'out_of_order', 'late', 'poisonous']));
    expect(a.fates.filter((fate) => fate === 'late')).toHaveLength(2);
    const failed = await administration.list(['failed'], 100);
    expect(failed.map(({ id }) => id).sort()).toEqual(
      ['g4', 'p-context', 'p-form', 'p-input', 'p-label', 'p-mark', 'p-predictions'].sort(),
    );
    expect(failed.every(({ reason = '' }) => reason.length > 10)).toBe(true);
    expect(await administration.show('p-label')).toMatchObject({ state: 'failed', job: { label: 7 } });
    await expect(administration.show('nobody')).rejects.toMatchObject({ code: 'unknown_feedback' });
    a.serving.registry.addApplication('gone', 'ucb1', { memory: null }).link('gone', 'm');
    await administration.retry('g4');
    await expect.poll(() => store.get('selection/gone/own')?.version, FOREVER).toBe(1);
    await administration.drop('p-label');
    await expect(administration.drop('p-label')).rejects.toMatchObject({ code: 'unknown_feedback' });
    expect(await administration.retryAll()).toBe(5);
    await expect.poll(async () => (await administration.counts()).failed, FOREVER).toBe(5);
    expect(await administration.dropAll()).toBe(5);
    expect(await administration.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
    expect(plays()).toBe(2);
    await raw.close();
  });
});
