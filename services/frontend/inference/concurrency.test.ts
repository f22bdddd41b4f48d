import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { floats, InferenceHarness, pixels } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start();
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

describe('requests in flight together', () => {
  it('outputs that others select are no answer to this one', async () => {
    const scores = new Float32Array(10);
    harness.service.vote = ({ model, version }) => ({
      name: model,
      version,
      cached: false,
      output: '7',
      scores,
    });
    harness.service.holding = true;
    const ask = async (names: string[]) => {
      const outputs = names.map((name) => ({ name }));
      const answer = await harness.inferApart('digits', { ...pixels(), outputs });
      return ((await answer.json()) as { outputs: { name: string }[] }).outputs.map(({ name }) => name);
    };
    const asked = [['label'], ['scores'], ['scores', 'label'], []];
    const answers = asked.map(ask);
    await expect.poll(() => harness.service.evaluations.length).toBe(4);
    harness.service.releaseReversed();
    expect(await Promise.all(answers)).toEqual([
      ['label'],
      ['scores'],
      ['scores', 'label'],
      ['label', 'scores'],
    ]);
  });

  it('requests of 1, 2 and 5 rows at once each get exactly their rows, in order', async () => {
    harness.service.vote = ({ model, version, input }) => ({
      name: model,
      version,
      cached: false,
      output: String(new Float32Array(input.slice().buffer)[0]),
    });
    harness.service.holding = true;
    const sizes = [1, 2, 5, 2, 1, 5];
    const rowsOf = (size: number, at: number) => Array.from({ length: size }, (_, row) => [at * 10 + row, 0]);
    const answers = sizes.map(async (size, at) => {
      const answer = await harness.inferApart('pair', { id: String(at), ...floats(rowsOf(size, at)) });
      return (await answer.json()) as { id: string; outputs: { shape: number[]; data: string[] }[] };
    });
    await expect.poll(() => harness.service.evaluations.length).toBe(16);
    harness.service.releaseReversed();
    for (const [at, { id, outputs }] of (await Promise.all(answers)).entries()) {
      const data = rowsOf(sizes[at], at).map(([value]) => String(value));
      expect([id, outputs[0].shape, outputs[0].data]).toEqual([String(at), [sizes[at]], data]);
    }
  });

  it('answers pipelined requests in order', async () => {
    const body = (value: number) => JSON.stringify({ id: String(value), ...floats([[value, 0]]) });
    const bytes = [1, 2, 3].map(
      (value) =>
        `POST /v2/models/pair/infer HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
        `content-length: ${body(value).length}\r\n${value === 3 ? 'connection: close\r\n' : ''}\r\n${body(value)}`,
    );
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(harness.inner.address.port, '127.0.0.1', () => socket.write(bytes.join('')));
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
    });
    expect([...text.matchAll(/"id":"(\d)"/g)].map(([, id]) => id)).toEqual(['1', '2', '3']);
  });

  it('withdraws every row of a client that leaves', async () => {
    harness.service.holding = true;
    const aborting = new AbortController();
    const rows = floats([
      [1, 2],
      [3, 4],
    ]);
    const gone = harness.inferApart('pair', rows, aborting.signal).catch(() => 'gone');
    await expect.poll(() => harness.service.evaluations.length).toBe(2);
    aborting.abort();
    expect(await gone).toBe('gone');
    await expect.poll(() => harness.service.cancelled).toEqual(['model pair', 'model pair']);
  });
});
