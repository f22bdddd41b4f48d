import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../prediction/index.js';
import type { ServiceError } from '../errors/index.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

/** Fails to be written as the text of an answer that is longer than a string can be. */
const unwritable: Answer['models'] = Object.assign([], {
  [Symbol.iterator]: () => {
    throw new RangeError('Invalid string length');
  },
});

describe('an answer that is hard to write', () => {
  const defects: ServiceError[] = [];
  let harness: FrontendHarness;
  beforeEach(async () => {
    defects.length = 0;
    harness = await FrontendHarness.start({ onDefect: (error) => defects.push(error) });
  });
  afterEach(() => harness.close());

  const message = (id: number) => ({ type: 'predict', id, application: 'doubles', input: [id] });

  it('has null for NaN beside a string of many megabytes, on HTTP and on a WebSocket', async () => {
    const text = 'a'.repeat(12_000_000);
    harness.service.reply = () => ({ output: `["${text}",NaN]` });
    const { status, json } = await harness.predict('doubles', { input: [1] });
    expect(status).toBe(200);
    const socket = await TestSocket.open(harness, { maxPayload: 2 ** 26 });
    socket.send(message(7));
    const told = await socket.nextJson();
    socket.close();
    for (const { output } of [json as { output: unknown }, told]) {
      const [long, none] = output as readonly unknown[];
      expect((long as string).length).toBe(text.length);
      expect(none).toBeNull();
    }
  });

  it('has null for what JSON has no number for, and leaves strings with any escapes as they are', async () => {
    const cases: readonly (readonly [output: string, answered: unknown])[] = [
      ['[NaN,"NaN",-Infinity]', [null, 'NaN', null]],
      ['["\\"NaN",NaN,"\\\\",NaN]', ['"NaN', null, '\\', null]],
      ['{"NaN":Infinity}', { NaN: null }],
      ['NaN', null],
      ['["NaN', '["NaN'],
      ['"NaN\\', '"NaN\\'],
      ['NaNs', 'NaNs'],
    ];
    for (const [output, answered] of cases) {
      harness.service.reply = () => ({ output });
      expect((await harness.predict('doubles', { input: [1] })).json).toMatchObject({ output: answered });
    }
  });

  it('is an error of its query, which is answered all the same, and the connection stays', async () => {
    harness.service.reply = () => ({ models: unwritable });
    const single = await harness.predict('doubles', { input: [1] });
    const batch = await harness.predict('doubles', { input_batch: [[1], [2]] });
    for (const { status, json } of [single, batch]) {
      expect(status).toBe(500);
      expect(json).toMatchObject({ error: { code: 'internal' } });
    }
    // The client can say which of the log's lines is its own, and that is the query's id where it has one.
    const { message: text } = (single.json as { readonly error: { readonly message: string } }).error;
    expect(text).toBe(
      `the server failed on this request; its log has the details of request ${defects[0].request}`,
    );
    expect(defects[0].request).toBe(harness.service.queries[0].id);
    expect(new Set(defects.map(({ request }) => request)).size).toBe(defects.length);
    expect(batch.localPort).toBe(single.localPort);
    expect(defects.length).toBeGreaterThanOrEqual(2);
  });

  it('is an error under its id on a WebSocket, and the answers beside it come', async () => {
    harness.service.reply = ({ input }) => (input[7] === 64 ? { models: unwritable } : {});
    const socket = await TestSocket.open(harness);
    for (const id of [1, 2, 1.5]) socket.send({ ...message(Math.ceil(id * 10)), input: [id] });
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 10 });
    expect(await socket.nextJson()).toMatchObject({ type: 'error', id: 20, status: 500 });
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 15 });
    expect(defects.map(({ request }) => request)).toEqual([harness.service.queries[1].id]);
    socket.close();
  });
});
