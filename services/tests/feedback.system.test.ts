import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RedisServer } from '../redis/tests/redisServer.js';
import { FeedbackFrontend } from './feedbackFrontends.js';
import { FeedbackUnderKills } from './feedbackUnderKills.js';

const SOON = { timeout: 20_000, interval: 50 };

let folder: string;
let redis: RedisServer | undefined;
let frontends: FeedbackFrontend[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-feedback-'))));
afterEach(async () => {
  for (const frontend of frontends) await frontend.kill();
  frontends = [];
  await redis?.stop();
  redis = undefined;
  rmSync(folder, { recursive: true });
});

describe('feedback of several frontends', () => {
  it('is learned exactly once under kill -9 of frontends and of Redis', async () => {
    const { keyed, judged, repeated, kills } = await FeedbackUnderKills.run(7, 6);
    expect(kills.redis + kills.frontends).toBe(6);
    expect(keyed.learned).toBe(keyed.acknowledged);
    expect(keyed.acknowledged).toBeGreaterThan(20);
    expect(judged.learned).toBeGreaterThanOrEqual(judged.acknowledged);
    expect(judged.learned).toBeLessThanOrEqual(judged.acknowledged + judged.doubtful);
    expect(judged.acknowledged).toBeGreaterThan(20);
    expect(repeated).toBeGreaterThan(5);
  });

  it('has states that are pinned, reset and taken back for all of them', async () => {
    redis = await RedisServer.start();
    const [a, b] = [
      await FeedbackFrontend.start(redis.url, join(folder, 'a')),
      await FeedbackFrontend.start(redis.url, join(folder, 'b')),
    ];
    frontends = [a, b];
    await a.client.management.addModel({
      model_name: 'm',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: 'm',
    });
    await a.client.management.addApplication({
      name: 'app',
      input_type: 'doubles',
      default_output: 'none',
      latency_slo_micros: 1_000_000,
      policy: { name: 'ucb1', parameters: { memory: null } },
    });
    await a.client.management.addLinks('app', ['m']);
    const learned = async (by: FeedbackFrontend) => {
      const { state } = await by.client.management.exportState('app');
      return (state as { readonly judged: readonly number[] }).judged[0];
    };
    const judge = async () => {
      const { queryId } = await a.client.predict('app', new Float64Array([1]));
      await b.client.feedback('app', { queryId, label: 'm' });
    };
    await expect
      .poll(async () => (await b.client.predict('app', new Float64Array([1]))).output, SOON)
      .toBe('m');
    for (let at = 0; at < 3; at++) await judge();
    await expect.poll(() => learned(a), SOON).toBe(3);
    await expect.poll(() => learned(b), SOON).toBe(3);
    await b.client.management.pinState('app');
    await judge();
    await expect.poll(async () => (await a.client.management.queue()).counts.waiting, SOON).toBe(0);
    await expect.poll(async () => (await a.client.management.exportState('app')).pinned, SOON).toBe(true);
    expect(await learned(a)).toBe(3);
    await a.client.management.resetState('app');
    await expect.poll(() => learned(b), SOON).toBe(0);
    await b.client.management.unpinState('app');
    await judge();
    await expect.poll(() => learned(a), SOON).toBe(1);
    const { past } = await b.client.management.exportState('app');
    const three = past.find(({ state }) => (state as { judged: number[] }).judged[0] === 3);
    await b.client.management.rollBackState('app', undefined, three?.version);
    await expect.poll(() => learned(a), SOON).toBe(3);
    await expect(b.client.management.rollBackState('app', undefined, 9999)).rejects.toMatchObject({
      code: 'unknown_state_version',
    });
    await expect(b.client.management.retryFeedback('nobody')).rejects.toMatchObject({
      code: 'unknown_feedback',
    });
  });
});
