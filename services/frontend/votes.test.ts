import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { predictionSchema } from './schemas.js';
import { FrontendHarness } from './tests/harness.js';

describe('predict with votes', () => {
  let harness: FrontendHarness;
  beforeAll(async () => {
    harness = await FrontendHarness.start();
  });
  beforeEach(() => {
    harness.service.polls.length = 0;
    harness.service.votes = [
      { name: 'a', version: '1', cached: true, output: '7', scores: Float32Array.of(0.25, 0.75, NaN) },
      { name: 'b', version: '2', cached: false, output: 'no JSON "' },
      { name: 'c', version: '1', cached: false, missing: 'deadline' },
    ];
  });
  afterAll(() => harness.close());

  it('adds what each linked model says', async () => {
    const { status, json } = await harness.predict('doubles', {
      input: [1, 2],
      votes: true,
      latency_slo_micros: 500,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      output: 7,
      votes: [
        { name: 'a', version: '1', cached: true, output: 7, scores: [0.25, 0.75, null] },
        { name: 'b', version: '2', cached: false, output: 'no JSON "' },
        { name: 'c', version: '1', cached: false, missing: 'deadline' },
      ],
    });
    predictionSchema.parse(json);
    expect(harness.service.polls).toEqual([
      {
        application: 'doubles',
        input: harness.service.queries[0].input,
        budgetNs: 500_000,
        source: harness.service.queries[0].source,
      },
    ]);
  });

  it('asks nobody else without the option', async () => {
    for (const votes of [undefined, false]) {
      const { json } = await harness.predict('doubles', { input: [1], votes });
      expect(json).not.toHaveProperty('votes');
    }
    expect(harness.service.polls).toEqual([]);
  });

  it('withdraws the query and the votes of a client that goes away', async () => {
    const { service } = harness;
    service.holding = true;
    const aborting = new AbortController();
    const asked = new Promise<void>((resolve) => (service.onQuery = resolve));
    const body = JSON.stringify({ input: [1], votes: true });
    const gone = fetch(`http://127.0.0.1:${harness.address.port}/doubles/predict`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: aborting.signal,
    }).catch(() => 'gone');
    await asked;
    aborting.abort();
    expect(await gone).toBe('gone');
    await expect.poll(() => service.cancelled).toEqual([service.queries.at(-1)?.id, 'poll']);
    service.onQuery = () => undefined;
    service.holding = false;
  });

  it('asks nobody else when the query itself is refused', async () => {
    harness.service.reply = () => ({ code: 'invalid_input', message: 'no', field: 'input' });
    const { status } = await harness.predict('doubles', { input: [1], votes: true });
    harness.service.reply = () => ({});
    expect(status).toBe(400);
    expect(harness.service.polls).toEqual([]);
  });

  it.each([
    [{ input: [1], votes: 'yes' }, 'wrong_type', 'votes'],
    [{ input_batch: [[1]], votes: true }, 'conflicting_fields', 'votes'],
  ])('refuses %j', async (body, code, field) => {
    const { status, json } = await harness.predict('doubles', body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code, field } });
  });
});
