import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineHarness, firstOf, labels, MS } from '../tests/inference/engineHarness.js';

let harness: EngineHarness;
beforeEach(async () => {
  harness = await EngineHarness.start();
});
afterEach(() => harness.close());

describe('requests whose rows share batches', () => {
  it('of 1, 2 and 5 rows each get exactly their own, in order, however the batches cut them', async () => {
    const replica = await harness.model('m', { strategy: 'fixed', maxBatchSize: 4 }, { credits: 2 });
    const sizes = [1, 2, 5, 2, 1, 5, 5, 1];
    let next = 0;
    const rows = sizes.map((size) => Array.from({ length: size }, () => next++));
    const answers = rows.map(async (values, at) => {
      const answer = await harness.infer('m', values, { id: String(at) });
      return (await answer.json()) as { id: string; outputs: { shape: number[]; data: string[] }[] };
    });
    await harness.open(next);
    harness.run();
    for (const [at, { id, outputs }] of (await Promise.all(answers)).entries()) {
      expect([id, outputs[0].shape, outputs[0].data]).toEqual([
        String(at),
        [sizes[at]],
        rows[at].map(String),
      ]);
    }
    expect(Math.max(...replica.batches.map(({ length }) => length))).toBe(4);
  });

  it('with the same row wait for one evaluation, and each gets it', async () => {
    const replica = await harness.model('m', { strategy: 'fixed', maxBatchSize: 8 });
    const first = harness.infer('m', [7, 1, 7]);
    await harness.open(3);
    const second = harness.infer('m', [2, 7]);
    await harness.open(5);
    harness.run();
    expect([await labels(await first), await labels(await second)]).toEqual([
      ['7', '1', '7'],
      ['2', '7'],
    ]);
    expect(replica.batches.flat().sort()).toEqual([1, 2, 7]);
  });

  it('fail alone: a row that the model fails on spoils no other request', async () => {
    await harness.model(
      'm',
      { strategy: 'fixed', maxBatchSize: 8 },
      {
        answer: ({ id, bytes }) =>
          firstOf(bytes) === 13
            ? { id, ok: false, code: 'modelError', message: 'unlucky' }
            : { id, ok: true, output: 'fine' },
      },
    );
    const good = harness.infer('m', [1, 2]);
    await harness.open(2);
    const bad = harness.infer('m', [3, 13, 4]);
    await harness.open(5);
    harness.run();
    expect(await labels(await good)).toEqual(['fine', 'fine']);
    const answer = await bad;
    expect(answer.status).toBe(502);
    expect(await answer.json()).toEqual({ error: 'row 1: Every asked model failed on this input.' });
  });

  it('are cancelled with their client: no row that only it wanted reaches the model', async () => {
    const replica = await harness.model('m', { strategy: 'fixed', maxBatchSize: 1 }, { serviceNs: 10 * MS });
    const slow = harness.infer('m', [100]);
    await harness.open(1);
    harness.run(1);
    const aborting = new AbortController();
    const rows = Array.from({ length: 50 }, (_, row) => row);
    const gone = harness.infer('m', rows, {}, {}, aborting.signal).catch(() => 'gone');
    await harness.open(51);
    const shared = harness.infer('m', [7]);
    await harness.open(52);
    aborting.abort();
    expect(await gone).toBe('gone');
    await harness.open(2);
    harness.run();
    expect((await slow).status).toBe(200);
    expect(await labels(await shared)).toEqual(['7']);
    expect(replica.batches.flat()).toEqual([100, 7]);
    expect(harness.engine.inFlight()).toBe(0);
  });

  it('find the model as it was after empty tensors', async () => {
    const replica = await harness.model('m', { strategy: 'fixed', maxBatchSize: 4 });
    for (let k = 0; k < 10; k++) expect((await harness.infer('m', [])).status).toBe(400);
    for (let k = 0; k < 100; k++) {
      const asked = harness.infer('m', [k]);
      await harness.open(1);
      harness.run();
      expect(await labels(await asked)).toEqual([String(k)]);
    }
    expect(harness.engine.ready('m', '1')).toBe(true);
    expect(replica.batches.flat()).toHaveLength(100);
  });

  it('may give what JSON has no number for: null there, and the bits in binary data', async () => {
    const scores = Float32Array.of(NaN, Infinity, -Infinity, 0.5, 0, 0, 0, 0, 0, 0);
    await harness.digits({ answer: ({ id }) => ({ id, ok: true, output: '3', scores }) });
    const asked = harness.inferDigit({ outputs: [{ name: 'scores' }] });
    await harness.open(1);
    harness.run();
    // Of a strict parser.
    expect(await labels(await asked)).toEqual([null, null, null, 0.5, 0, 0, 0, 0, 0, 0]);
    const again = await harness.inferDigit({
      outputs: [{ name: 'scores', parameters: { binary_data: true } }],
    });
    const bytes = Buffer.from(await again.arrayBuffer());
    expect(bytes.subarray(-40)).toEqual(Buffer.from(scores.buffer));
  });
});
