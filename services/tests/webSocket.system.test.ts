import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { packageRoot } from '../../simulator/files/index.js';
import { digitAt, loadDigits } from '../../containers/models/index.js';
import { WebSocketClient, WindjammerClient, type RefusedError, type Prediction } from '../client/index.js';
import { ServedProcess } from './servedProcess.js';

const DIGITS = 1000;
const CLIENT_BATCH = 50;

describe('windjammer serve, over WebSockets', () => {
  let served: ServedProcess;
  let client: WindjammerClient;
  beforeAll(async () => {
    served = await ServedProcess.start(['--ephemeral']);
    client = new WindjammerClient({
      queryUrl: served.query,
      managementUrl: served.management,
      timeoutMs: 120_000,
    });
    await client.management.addApplication({
      name: 'mlp',
      input_type: 'floats',
      default_output: '"none"',
      // The host executes the kernels far slower than the card: an objective that a loaded machine can keep.
      latency_slo_micros: 120_000_000,
    });
    await client.management.addLinks('mlp', ['digits-mlp']);
  });
  afterAll(() => served.end('SIGTERM'));

  async function gauge(name: string): Promise<number> {
    const text = await (await fetch(`${served.query}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
  }

  it('answers a thousand held-out digits as REST does, binary and JSON', async () => {
    const { heldOut } = loadDigits();
    // Spread over all classes: the set is sorted by label.
    const indices = Array.from({ length: DIGITS }, (_, i) => Math.floor((i * heldOut.count) / DIGITS));
    const binary = await WebSocketClient.connect(served.query, { timeoutMs: 120_000, maxInFlight: 64 });
    const json = await WebSocketClient.connect(served.query, {
      format: 'json',
      maxInFlight: 64,
      timeoutMs: 120_000,
    });
    // WebSockets first: what REST says is then what the cache holds of their evaluation, or one of its own.
    const overBinary = await Promise.all(
      indices.map((index) => binary.predict('mlp', Float32Array.from(digitAt(heldOut, index)))),
    );
    const overJson = await Promise.all(
      indices.map((index) => json.predict('mlp', [...digitAt(heldOut, index)])),
    );
    const overRest: (Prediction | RefusedError)[] = [];
    for (let first = 0; first < DIGITS; first += CLIENT_BATCH) {
      const part = indices.slice(first, first + CLIENT_BATCH).map((index) => [...digitAt(heldOut, index)]);
      overRest.push(...(await client.predictBatch('mlp', part)));
    }
    let correct = 0;
    for (const [i, index] of indices.entries()) {
      const { output } = overBinary[i];
      expect(overRest[i], `digit ${index}`).toMatchObject({ output, isDefault: false });
      expect(overJson[i], `digit ${index}`).toMatchObject({ output, isDefault: false });
      if (output === heldOut.labels[index]) correct += 1;
    }
    expect(correct / DIGITS).toBeGreaterThan(0.935);
    await Promise.all([binary.close(), json.close()]);
  });

  it('answers the client that a program imports by the name of the package', async () => {
    const program = `
      import { WebSocketClient } from 'windjammer/client';
      const client = await WebSocketClient.connect('${served.query}');
      const answer = await client.predict('mlp', new Float32Array(784), { deadlineMs: 60000 });
      console.log(answer.isDefault);
      await client.close();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: packageRoot(),
    });
    expect(stdout).toBe('false\n');
  });

  it('forgets the queries of a socket that is dropped', async () => {
    // Much work a query, and as many as a connection may have in flight: the model is far from done with those that the
    // server has read when the first answer comes, on any machine.
    await client.management.addApplication({
      name: 'svm',
      input_type: 'floats',
      default_output: '"none"',
      latency_slo_micros: 120_000_000,
    });
    await client.management.addLinks('svm', ['digits-rbf-svm']);
    const { heldOut } = loadDigits();
    const webSocket = new WebSocket(`${served.query.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => webSocket.once('open', resolve));
    expect(await gauge('windjammer_websockets')).toBe(1);
    const answered = new Promise((resolve) => webSocket.once('message', resolve));
    for (let id = 0; id < 1024; id++) {
      const input = [...digitAt(heldOut, id)];
      webSocket.send(JSON.stringify({ type: 'predict', id, application: 'svm', input }));
    }
    await answered;
    webSocket.terminate();
    await expect.poll(() => gauge('windjammer_websockets'), { timeout: 20_000 }).toBe(0);
    expect(await gauge('windjammer_queries_in_flight')).toBe(0);
    const text = await (await fetch(`${served.query}/metrics`)).text();
    const cancelled = /^windjammer_queries_total\{.*application="svm".*outcome="cancelled".*\} (\d+)/m.exec(
      text,
    );
    expect(Number(cancelled?.[1])).toBeGreaterThan(0);
  });
});
