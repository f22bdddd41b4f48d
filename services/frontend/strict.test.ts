import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeAnswer, encodePredict } from '../wire/index.js';
import type { Answer, DefaultReason } from '../prediction/index.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

/** Status, code and seconds in Retry-After of a strict query, for each reason of a default. */
const STRICT: readonly (readonly [DefaultReason, number, string, string | undefined])[] = [
  ['deadline', 504, 'default_deadline', undefined],
  ['no_linked_model', 503, 'default_unavailable', '1'],
  ['no_replica', 503, 'default_unavailable', '1'],
  ['overload', 503, 'default_unavailable', '3'],
  ['model_error', 502, 'default_model_error', undefined],
  ['low_confidence', 503, 'default_low_confidence', undefined],
];

const RETRY_NS = 2_100_000_001;

function defaultAnswer(defaultReason: DefaultReason): Partial<Answer> {
  const hint = defaultReason === 'overload' ? { retryAfterNs: RETRY_NS } : {};
  return { output: '"default"', isDefault: true, defaultReason, models: [], confidence: 0, ...hint };
}

interface ErrorJson {
  readonly error: { readonly code: string; readonly field?: string; readonly retry_after_ms?: number };
}

describe('a default output is never mistaken for a prediction', () => {
  let harness: FrontendHarness;
  beforeEach(async () => {
    harness = await FrontendHarness.start();
    await harness.registry.addApplication({
      name: 'picky',
      inputType: 'doubles',
      defaultOutput: '"default"',
      latencyObjectiveUs: 100_000,
      policy: { name: 'static', parameters: {} },
      strict: true,
    });
  });
  afterEach(() => harness.close());

  it.each(STRICT)('%s: flag and reason, or %d when strict', async (reason, status, code, seconds) => {
    harness.service.reply = () => defaultAnswer(reason);
    const lenient = await harness.predict('doubles', { input: [1] });
    expect(lenient.status).toBe(200);
    expect(lenient.json).toMatchObject({ output: 'default', default: true, default_reason: reason });
    expect(lenient.headers['x-windjammer-default']).toBe(reason);
    expect(lenient.headers['retry-after']).toBeUndefined();
    expect(harness.refused).toEqual([]);

    const strict = await harness.predict('doubles', { input: [1], strict: true });
    expect(strict.status).toBe(status);
    expect(strict.headers['retry-after']).toBe(seconds);
    const { error } = strict.json as ErrorJson;
    expect(error.code).toBe(code);
    expect(error.retry_after_ms).toBe(
      seconds === undefined ? undefined : reason === 'overload' ? 2101 : 1000,
    );
    expect(harness.refused).toEqual([`doubles:${code}`]);
  });

  it.each<readonly [app: string, header: string | undefined, field: boolean | undefined, status: number]>([
    ['doubles', undefined, undefined, 200],
    ['doubles', 'true', undefined, 504],
    ['doubles', 'true', false, 200],
    ['doubles', 'false', true, 504],
    ['picky', undefined, undefined, 504],
    ['picky', 'false', undefined, 200],
    ['picky', undefined, false, 200],
    ['picky', 'false', true, 504],
  ])('%s, header %s, field %s: %d', async (application, header, strict, status) => {
    harness.service.reply = () => defaultAnswer('deadline');
    const headers: Record<string, string> = header === undefined ? {} : { 'x-windjammer-strict': header };
    expect((await harness.predict(application, { input: [1], strict }, headers)).status).toBe(status);
  });

  it('marks each item of a client batch by itself', async () => {
    const reasons = [undefined, 'deadline', 'overload', 'deadline', 'no_replica'] as const;
    harness.service.reply = ({ input }) => {
      const reason = reasons[new Float64Array(input.slice().buffer)[0]];
      return reason === undefined ? {} : defaultAnswer(reason);
    };
    const body = { input_batch: [[0], [1], [2], [], [3], [4]] };
    const lenient = await harness.predict('doubles', body);
    expect(lenient.status).toBe(200);
    expect(lenient.headers['x-windjammer-default']).toBe('deadline, overload, no_replica');
    expect(lenient.headers['retry-after']).toBeUndefined();
    expect(lenient.json).toMatchObject({
      batch_predictions: [
        { output: 7, default: false },
        { output: 'default', default: true, default_reason: 'deadline' },
        { default: true, default_reason: 'overload' },
        { error: { code: 'empty_input', field: 'input_batch[3]' } },
        { default: true, default_reason: 'deadline' },
        { default: true, default_reason: 'no_replica' },
      ],
    });

    harness.refused.length = 0;
    const strict = await harness.predict('doubles', body, { 'x-windjammer-strict': 'true' });
    expect(strict.status).toBe(200);
    expect(strict.headers['x-windjammer-default']).toBeUndefined();
    // The longest that one of them was told.
    expect(strict.headers['retry-after']).toBe('3');
    expect(strict.json).toMatchObject({
      batch_predictions: [
        { output: 7, default: false },
        { error: { code: 'default_deadline' } },
        { error: { code: 'default_unavailable', retry_after_ms: 2101 } },
        { error: { code: 'empty_input' } },
        { error: { code: 'default_deadline' } },
        { error: { code: 'default_unavailable', retry_after_ms: 1000 } },
      ],
    });
    expect(harness.refused).toHaveLength(5);
  });

  it('marks a strict answer with votes too', async () => {
    harness.service.reply = () => defaultAnswer('deadline');
    expect((await harness.predict('picky', { input: [1], votes: true })).status).toBe(504);
  });

  it('says the same over a WebSocket, as text and as frames', async () => {
    const socket = await TestSocket.open(harness);
    const input = new Uint8Array(new Float64Array([1]).buffer);
    for (const [reason, status, code] of STRICT) {
      harness.service.reply = () => defaultAnswer(reason);
      const hint = reason === 'overload' ? 2101 : code === 'default_unavailable' ? 1000 : undefined;
      const message = { type: 'predict', id: 1, application: 'doubles', input: [1] } as const;
      const frame = { id: 2, application: 'doubles', inputType: 'doubles', input } as const;

      socket.send(message);
      expect(await socket.nextJson()).toMatchObject({ default: true, default_reason: reason });
      socket.send(encodePredict(frame));
      expect(decodeAnswer((await socket.next()).data)).toMatchObject({ defaultReason: reason });

      for (const [application, strict] of [
        ['doubles', true],
        ['picky', undefined],
      ] as const) {
        socket.send({ ...message, application, strict });
        const text = await socket.nextJson();
        expect(text).toMatchObject({ status, error: { code } });
        expect((text as unknown as ErrorJson).error.retry_after_ms).toBe(hint);
        socket.send(encodePredict({ ...frame, application, strict }));
        const answer = decodeAnswer((await socket.next()).data);
        expect(answer).toMatchObject({ kind: 'error', id: 2, status, code });
        expect('retryAfterMs' in answer ? answer.retryAfterMs : undefined).toBe(hint);
      }

      socket.send({ ...message, application: 'picky', strict: false });
      expect(await socket.nextJson()).toMatchObject({ default: true });
      socket.send(encodePredict({ ...frame, application: 'picky', strict: false }));
      expect(decodeAnswer((await socket.next()).data)).toMatchObject({ isDefault: true });
    }
    socket.close();
  });
});
