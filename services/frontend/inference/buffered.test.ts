import { afterEach, expect, it } from 'vitest';
import { BodyBudget } from '../../http/index.js';
import { InferenceHarness } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;
afterEach(() => harness.inner.close());

it('says when to come back where the memory for bodies is taken', async () => {
  const budget = new BodyBudget(1024 * 1024);
  const holder = { heardMs: Infinity, onEvicted: () => undefined };
  budget.hold(holder, 1024 * 1024);
  harness = await InferenceHarness.start({ bodyBudget: budget });
  const data = Array.from({ length: 100_000 }, () => 0.5);
  const body = { inputs: [{ name: 'input', datatype: 'FP64', shape: [1, data.length], data }] };
  const ask = () => harness.post('/v2/models/m-doubles/infer', body);
  const refused = await ask();
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json).toEqual({ error: expect.stringContaining('memory') as string });
  budget.release(holder);
  expect((await ask()).status).toBe(200);
});
