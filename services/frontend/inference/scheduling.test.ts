import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineHarness, labels, MS } from '../tests/inference/engineHarness.js';

let harness: EngineHarness;
beforeEach(async () => {
  harness = await EngineHarness.start();
});
afterEach(() => harness.close());

const ONE = { strategy: 'fixed', maxBatchSize: 1 } as const;

const priority = (level: number) => ({ parameters: { priority: level } });

describe('priorities of requests', () => {
  it('let the more urgent reach the model first; 0 is the default, which is 3', async () => {
    const replica = await harness.model('m', ONE, { serviceNs: MS });
    const first = harness.infer('m', [100]);
    await harness.open(1);
    harness.run(0.5);
    // All wait behind the first, with the same time left.
    const asked: Promise<Response>[] = [];
    for (const [value, level] of [
      [5, 5],
      [3, 0],
      [1, 1],
      [4, 4],
      [2, 2],
    ] as const) {
      asked.push(harness.infer('m', [value], priority(level)));
      await harness.open(asked.length + 1);
    }
    harness.run();
    expect(replica.batches).toEqual([[100], [1], [2], [3], [4], [5]]);
    const answers = await Promise.all([first, ...asked]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('may come as a header, which the parameter overrides', async () => {
    const replica = await harness.model('m', ONE, { serviceNs: MS });
    const header = (level: number) => ({ 'x-windjammer-priority': String(level) });
    const asked = [harness.infer('m', [100])];
    await harness.open(1);
    harness.run(0.5);
    for (const [value, more, headers] of [
      [2, {}, header(4)],
      [3, priority(5), header(1)],
      [1, {}, header(2)],
    ] as const) {
      asked.push(harness.infer('m', [value], more, headers));
      await harness.open(asked.length);
    }
    harness.run();
    expect(replica.batches).toEqual([[100], [1], [2], [3]]);
    await Promise.all(asked);
    const refused = await harness.infer('m', [1], {}, header(6));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      error: expect.stringContaining('x-windjammer-priority') as string,
    });
  });
});

describe('the timeout of a request', () => {
  it('is kept while the model works on something else, and what is over never reaches it', async () => {
    const replica = await harness.model('m', ONE, { serviceNs: 50 * MS });
    const slow = harness.infer('m', [1]);
    await harness.open(1);
    harness.run(1);
    const short = harness.infer('m', [2], { parameters: { timeout: 5000 } });
    await harness.open(2);
    harness.run(5.9);
    expect(harness.engine.inFlight()).toBe(2);
    harness.run(6);
    const answer = await short;
    expect(answer.status).toBe(504);
    expect(await answer.json()).toEqual({ error: 'No prediction arrived within the latency objective.' });
    harness.run();
    expect(await labels(await slow)).toEqual(['1']);
    expect(replica.batches).toEqual([[1]]);
  });

  it('may come as a header; the shorter of the two counts', async () => {
    await harness.model('m', ONE, { serviceNs: 1e13 });
    const asked = harness.infer(
      'm',
      [1],
      { parameters: { timeout: 3_600_000_000 } },
      { 'grpc-timeout': '2H' },
    );
    await harness.open(1);
    const late = harness.infer(
      'm',
      [2],
      { parameters: { timeout: 3_600_000_000 } },
      { 'grpc-timeout': '50m' },
    );
    await harness.open(2);
    // Of the 50 ms some are spent before the engine is asked.
    harness.run(50);
    expect((await late).status).toBe(504);
    expect(harness.engine.inFlight()).toBe(1);
    harness.run(3_600_000);
    expect((await asked).status).toBe(504);
  });
});

describe('a request that finds the queues too long', () => {
  it('is told at once, with Retry-After, and leaves nothing behind', async () => {
    const replica = await harness.model('m', ONE, { serviceNs: 100 * MS });
    const before = Array.from({ length: 20 }, (_, index) => -1 - index);
    const warm = harness.infer('m', before);
    await harness.open(20);
    harness.run(2000);
    expect((await warm).status).toBe(200);
    // From here on the engine knows what a batch takes.
    const asked: Promise<Response>[] = [];
    for (const value of [1, 2, 3]) {
      asked.push(harness.infer('m', [value]));
      await harness.open(asked.length);
    }
    harness.run(2000.1);
    const answer = await harness.infer('m', [4], { parameters: { timeout: 150_000 } });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await answer.json()).toEqual({
      error: 'The queues of the linked models are full, or too long for an answer in time.',
    });
    harness.run();
    await Promise.all(asked);
    expect(replica.batches.flat()).toEqual([...before, 1, 2, 3]);
  });
});
