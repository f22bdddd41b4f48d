import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FrontendHarness } from './tests/harness.js';
import type { LaunchClass } from '../client/index.js';
import { RefusedError, TimeoutError, UnexpectedAnswerError, UnreachableError } from '../client/index.js';
import { WebSocketClient, WindjammerClient } from '../client/index.js';

const EXACT = '[9007199254740993,-9223372036854775808,-0,1152921504606847000,{"9007199254740993":1e300}]';
const EXACT_VALUE = [9007199254740993n, -9223372036854775808n, -0, 2 ** 60, { '9007199254740993': 1e300 }];

describe('a client', () => {
  let harness: FrontendHarness;
  let url: string;
  beforeEach(async () => {
    harness = await FrontendHarness.start();
    url = `http://127.0.0.1:${harness.address.port}`;
  });
  afterEach(() => harness.close());

  const expected = {
    output: 7,
    isDefault: false,
    confidence: 1,
    cached: false,
    models: [{ name: 'm', version: '1', cached: false }],
  };

  describe('over HTTP', () => {
    it('predicts one and several inputs, and gives feedback', async () => {
      const client = new WindjammerClient({ queryUrl: `${url}/` });
      expect(await client.predict('doubles', [1], { context: 'ann', version: '2' })).toMatchObject(expected);
      expect(harness.service.queries[0]).toMatchObject({ context: 'ann', version: '2' });
      const batch = await client.predictBatch('bytes', [Uint8Array.of(1, 2), new Uint8Array(0)]);
      expect(batch[0]).toMatchObject(expected);
      expect(batch[1]).toMatchObject({ code: 'empty_input', field: 'input_batch[1]' });
      expect(harness.service.queries[1].input).toEqual(Uint8Array.of(1, 2));
      const feedback = { queryId: 'q', label: 7, loss: 0.5 };
      expect(await client.feedback('floats', feedback)).toEqual({ joined: 'query', durable: true });
    });

    it('keeps integers and -0, there and back', async () => {
      const client = new WindjammerClient({ queryUrl: url });
      harness.service.reply = () => ({ output: EXACT });
      expect((await client.predict('doubles', [-0])).output).toEqual(EXACT_VALUE);
      expect(await client.predictBatch('doubles', [[-0], [1]])).toMatchObject([
        { output: EXACT_VALUE },
        { output: EXACT_VALUE },
      ]);
      expect(harness.service.queries[0].input).toEqual(new Uint8Array(Float64Array.of(-0).buffer));
      await client.feedback('doubles', { queryId: 'q', label: 9007199254740993n });
      expect(harness.service.feedback[0].label).toBe('9007199254740993');
    });

    it('says how urgent, how strict and how soon', async () => {
      const client = new WindjammerClient({ queryUrl: url });
      const { service } = harness;
      const options = { priority: 2, launchClass: 'bestEffort', strict: true, deadlineMs: 49.5 } as const;
      await client.predict('doubles', [1], options);
      await client.predictBatch('doubles', [[1]], options);
      for (const query of service.queries) {
        expect(query.priority).toBe(2);
        expect(query.launchClass).toBe('bestEffort');
        expect(query.budgetNs).toBeLessThanOrEqual(50e6);
      }
      expect(service.queries).toHaveLength(2);
      service.reply = () => ({ isDefault: true, defaultReason: 'overload', retryAfterNs: 5e6 });
      const refused = { code: 'default_unavailable', retryAfterMs: 5 };
      await expect(client.predict('doubles', [1], options)).rejects.toMatchObject({
        ...refused,
        status: 503,
      });
      expect(await client.predictBatch('doubles', [[1]], options)).toMatchObject([refused]);
      for (const deadlineMs of [0, -1, NaN]) {
        await expect(client.predict('doubles', [1], { deadlineMs })).rejects.toBeInstanceOf(RangeError);
      }
      for (const priority of [0, 6, 1.5, NaN]) {
        await expect(client.predict('doubles', [1], { priority })).rejects.toMatchObject({
          field: 'priority',
        });
      }
    });

    it('tells refusals, silence, absence and strangers apart', async () => {
      const client = new WindjammerClient({ queryUrl: url });
      const refused = client.predict('nobody', [1]);
      await expect(refused).rejects.toBeInstanceOf(RefusedError);
      await expect(refused).rejects.toMatchObject({ code: 'unknown_application', status: 404 });
      harness.service.holding = true;
      await expect(client.predict('doubles', [1], { timeoutMs: 20 })).rejects.toBeInstanceOf(TimeoutError);
      const controller = new AbortController();
      const given = client.predict('doubles', [1], { signal: controller.signal });
      controller.abort(new Error('changed my mind'));
      await expect(given).rejects.toThrow('changed my mind');
      await expect(client.predict('doubles', [1], { signal: controller.signal })).rejects.toThrow(
        'changed my mind',
      );
      const nobody = new WindjammerClient({ queryUrl: 'http://127.0.0.1:1' });
      await expect(nobody.predict('doubles', [1])).rejects.toBeInstanceOf(UnreachableError);
      expect(() => new WindjammerClient({ queryUrl: 'nonsense' })).toThrow(TypeError);
      const stranger = createServer((_request, response) => response.end('hello'));
      await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
      const strange = new WindjammerClient({
        queryUrl: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`,
      });
      await expect(strange.predict('doubles', [1])).rejects.toBeInstanceOf(UnexpectedAnswerError);
      stranger.closeAllConnections();
      await new Promise((resolve) => stranger.close(resolve));
    });
  });

  describe.each(['binary', 'json'] as const)('over a WebSocket, %s', (format) => {
    it('keeps integers and -0, there and back', async () => {
      const client = await WebSocketClient.connect(url, { format });
      harness.service.reply = () => ({ output: EXACT });
      expect((await client.predict('doubles', [-0])).output).toEqual(EXACT_VALUE);
      expect(harness.service.queries[0].input).toEqual(new Uint8Array(Float64Array.of(-0).buffer));
      await client.feedback('doubles', { queryId: 'q', label: 9007199254740993n });
      expect(harness.service.feedback[0].label).toBe('9007199254740993');
      await client.close();
    });

    it('says how urgent, how strict and how soon', async () => {
      const client = await WebSocketClient.connect(url, { format });
      const { service } = harness;
      const input = Float64Array.of(1);
      const urgent = { priority: 2, deadlineMs: 50, launchClass: 'critical' } as const;
      await client.predict('doubles', input, { ...urgent, objectiveUs: 60_000 });
      await client.predict('doubles', input, { priority: 5, objectiveUs: 40_000, deadlineMs: 50 });
      await client.predict('doubles', input);
      for (const launchClass of ['standard', 'bestEffort'] as const) {
        await client.predict('doubles', input, { strict: false, launchClass });
      }
      const told = service.queries.map(({ priority, budgetNs, launchClass }) => [
        priority,
        budgetNs,
        launchClass,
      ]);
      expect(told).toEqual([
        [2, 50e6, 'critical'],
        [5, 40e6, undefined],
        [undefined, undefined, undefined],
        [undefined, undefined, 'standard'],
        [undefined, undefined, 'bestEffort'],
      ]);
      service.reply = () => ({ isDefault: true, defaultReason: 'overload', retryAfterNs: 5e6 });
      await expect(client.predict('doubles', input, { strict: true })).rejects.toMatchObject({
        code: 'default_unavailable',
        status: 503,
        retryAfterMs: 5,
      });
      for (const deadlineMs of [0, -1, NaN]) {
        await expect(client.predict('doubles', input, { deadlineMs })).rejects.toBeInstanceOf(RangeError);
      }
      for (const priority of [0, 6, 1.5, NaN]) {
        await expect(client.predict('doubles', input, { priority })).rejects.toThrow(/priority must be/);
      }
      const launchClass = 'urgent' as LaunchClass;
      await expect(client.predict('doubles', input, { launchClass })).rejects.toThrow(
        /critical, standard, bestEffort/,
      );
      await client.close();
    });

    it('multiplexes predictions and feedback, in turns where there are too many', async () => {
      const client = await WebSocketClient.connect(url, { format, maxInFlight: 4 });
      const { service } = harness;
      service.reply = ({ input }) => ({ output: String(new Float32Array(input.slice().buffer)[0]) });
      const calls = Array.from({ length: 50 }, (_, i) => client.predict('floats', Float32Array.of(i)));
      expect(client.inFlight).toBe(4);
      const predictions = await Promise.all(calls);
      predictions.forEach((prediction, i) => expect(prediction).toMatchObject({ ...expected, output: i }));
      const feedback = { input: [1, 2], label: 'cat' };
      expect(await client.feedback('doubles', feedback)).toEqual({ joined: 'query', durable: true });
      expect(service.feedback[0]).toMatchObject({ label: 'cat' });
      expect(service.feedback[0].input).toHaveLength(16);
      await expect(client.predict('strings', '')).rejects.toMatchObject({ code: 'empty_input', status: 400 });
      await client.close();
      await expect(client.predict('floats', [1])).rejects.toBeInstanceOf(UnreachableError);
    });

    it('withdraws what is given up, and rejects the rest when the server goes', async () => {
      const client = await WebSocketClient.connect(url, { format, maxInFlight: 2 });
      const { service } = harness;
      service.holding = true;
      const controller = new AbortController();
      const taken = new Promise<void>((resolve) => (service.onQuery = resolve));
      const given = client.predict('strings', 'a', { signal: controller.signal });
      const lost = client.predict('strings', 'b');
      const waiting = client.predict('strings', 'c', { timeoutMs: 30 });
      const outcomes = Promise.allSettled([given, lost, waiting]);
      await expect(waiting).rejects.toBeInstanceOf(TimeoutError);
      await taken;
      const cancelled = new Promise<void>((resolve) => (service.onCancel = resolve));
      controller.abort(new Error('enough'));
      await cancelled;
      expect(service.cancelled).toEqual([service.queries[0].id]);
      void harness.frontend.drain(0, 0);
      const [first, second] = await outcomes;
      expect(first).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
      expect(second).toMatchObject({ status: 'rejected', reason: { code: 'unreachable' } });
      service.release();
    });
  });

  it('says when there is no WebSocket', async () => {
    await expect(WebSocketClient.connect('http://127.0.0.1:1')).rejects.toBeInstanceOf(UnreachableError);
  });
});
