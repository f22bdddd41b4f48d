import { expect } from 'vitest';
import { builtInModelPath } from '../../../../containers/models/index.js';
import type { InputType } from '../../../../containers/protocol/index.js';
import type { ModelRecord } from '../../../registry/index.js';
import type { QueryFrontendOptions } from '../../index.js';
import type { FakePredictionService } from '../fakePredictionService.js';
import { FrontendHarness, type HttpAnswer } from '../harness.js';

export const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** A frontend with models of every kind, asked by the Open Inference Protocol. */
/** What no double holds. */
export const LONG = '-9223372036854775807';

export class InferenceHarness {
  private constructor(readonly inner: FrontendHarness) {}

  static async start(options: Partial<QueryFrontendOptions> = {}): Promise<InferenceHarness> {
    const harness = new InferenceHarness(await FrontendHarness.start(options));
    for (const type of ['doubles', 'floats', 'integers', 'bytes', 'strings'] as const) {
      await harness.addModel(`m-${type}`, type);
    }
    await harness.addModel('pair', 'floats', { inputLength: 2 });
    await harness.addModel('pair', 'floats', { inputLength: 2, version: '2' });
    await harness.addModel('whole', 'floats', { container: { kind: 'constant', output: '3' } });
    await harness.addModel('long', 'floats', { container: { kind: 'constant', output: LONG } });
    await harness.addModel('decimal', 'floats', { container: { kind: 'constant', output: '0.5' } });
    await harness.addModel('digits', 'floats', {
      inputLength: 784,
      container: { kind: 'kernelModel', path: builtInModelPath('digits-mlp') },
    });
    // A clash: the application 'doubles' has a model of its name from here on.
    await harness.addModel('doubles', 'doubles');
    return harness;
  }

  get service(): FakePredictionService {
    return this.inner.service;
  }

  get port(): number {
    return this.inner.address.port;
  }

  async addModel(name: string, inputType: InputType, more: Partial<ModelRecord> = {}): Promise<void> {
    await this.inner.registry.addModel({
      name,
      version: '1',
      inputType,
      labels: [],
      container: { kind: 'external', containerName: 'test', modelDataPath: '' },
      batching: { strategy: 'aimd' },
      ...more,
    });
  }

  /** Forgets what an earlier test has asked and set. */
  reset(): void {
    const { service } = this;
    service.evaluations.length = 0;
    service.queries.length = 0;
    service.cancelled.length = 0;
    service.holding = false;
    service.modelsReady = true;
    service.reply = () => ({});
    service.vote = ({ model, version }) => ({ name: model, version, cached: false, output: '7' });
  }

  get(path: string): Promise<HttpAnswer> {
    return this.inner.send(path, { method: 'GET' });
  }

  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    return this.inner.send(path, { body: JSON.stringify(body), headers });
  }

  /** JSON as it stands. */
  postText(path: string, body: string): Promise<HttpAnswer> {
    return this.inner.send(path, { body });
  }

  infer(name: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    return this.post(`/v2/models/${name}/infer`, body, headers);
  }

  /** The same on a connection of its own, for requests that are in flight together. */
  inferApart(name: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    const url = `http://127.0.0.1:${this.inner.address.port}/v2/models/${name}/infer`;
    const sent = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) };
    return fetch(url, signal === undefined ? sent : { ...sent, signal });
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

export function tensor(datatype: string, shape: unknown, data: unknown, more: object = {}): object {
  return { name: 'input', datatype, shape, data, ...more };
}

export function floats(rows: readonly (readonly number[])[]): { inputs: object[] } {
  return { inputs: [tensor('FP32', [rows.length, rows[0].length], rows)] };
}

/** Of a digit, for 'digits'. */
export function pixels(rows = 1): { inputs: object[] } {
  const data = Array<number>(rows * 784).fill(0);
  return { inputs: [{ name: 'pixels', datatype: 'FP32', shape: [rows, 784], data }] };
}

/** The message of an error, which has the protocol's shape. */
export function errorOf({ json }: HttpAnswer): string {
  expect(json).toEqual({ error: expect.any(String) as string });
  return (json as { error: string }).error;
}
