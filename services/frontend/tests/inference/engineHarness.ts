import { expect } from 'vitest';
import { builtInModelPath } from '../../../../containers/models/index.js';
import {
  PROTOCOL_VERSION,
  type BatchItem,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
  type ItemResult,
  type PredictFrame,
  type ResultFrame,
} from '../../../../containers/protocol/index.js';
import { VirtualClock, type EventSink } from '../../../../simulator/time/index.js';
import {
  PredictionEngine,
  SilentObserver,
  type BatchRecord,
  type ModelVote,
} from '../../../prediction/index.js';
import { Registry, type BatchingChoice, type ModelRecord } from '../../../registry/index.js';
import { MemoryStore } from '../../../store/index.js';
import { QueryFrontend } from '../../index.js';
import { JSON_TYPE, pixels } from './inferenceHarness.js';

export const MS = 1e6;

export interface ReplicaOptions {
  readonly credits?: number;
  readonly serviceNs?: number;
  readonly parts?: ResultFrame['parts'];
  readonly answer?: (item: BatchItem) => ItemResult;
}

let replicas = 0;

/** A replica on the virtual clock: one batch after the other, each of the same time. It answers the first element. */
export class TestReplica implements ContainerChannel, EventSink {
  readonly frames: PredictFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;
  private freeNs = 0;
  private readonly port: string;

  constructor(
    private readonly clock: VirtualClock,
    private readonly model: ModelRecord,
    private readonly options: ReplicaOptions,
  ) {
    this.port = `testReplica${replicas++}`;
    clock.attach(this.port, this);
  }

  /** The first elements of what came, a batch each. */
  get batches(): number[][] {
    return this.frames.map(({ items }) => items.map(({ bytes }) => firstOf(bytes)));
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    const { name, version, inputType } = this.model;
    const { credits = 1 } = this.options;
    sink.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: name,
      version,
      replica: '0',
      inputType,
      maxBatchSize: 64,
      credits,
    });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind !== 'predict') return;
    this.frames.push(frame);
    const { serviceNs = MS } = this.options;
    this.freeNs = Math.max(this.freeNs, this.clock.nowNs()) + serviceNs;
    this.clock.schedule(this.port, this.freeNs, 'done', frame);
  }

  onEvent(_kind: string, payload: unknown): void {
    const { batchId, items } = payload as PredictFrame;
    const { serviceNs = MS, parts, answer } = this.options;
    const results = items.map((item): ItemResult => {
      return answer?.(item) ?? { id: item.id, ok: true, output: String(firstOf(item.bytes)) };
    });
    this.sink?.onFrame({
      kind: 'result',
      batchId,
      results,
      serviceNs,
      ...(parts === undefined ? {} : { parts }),
    });
  }

  close(): void {
    this.sink = undefined;
    this.clock.detach(this.port);
  }
}

export function firstOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true);
}

/** The protocol over HTTP before the real engine, on a virtual clock. */
export class EngineHarness extends SilentObserver {
  readonly clock = new VirtualClock();
  readonly registry = new Registry(new MemoryStore());
  readonly engine: PredictionEngine;
  readonly frontend: QueryFrontend;
  /** What became of models that were asked by name: an output, why there is none, or that nobody waited. */
  readonly modelCalls: (string | undefined)[] = [];
  private base = '';

  private constructor() {
    super();
    this.engine = new PredictionEngine({
      clock: this.clock,
      registry: this.registry,
      store: new MemoryStore(),
      seed: 7,
      observer: this,
      // Tests have replicas that take as long as they like.
      hangWatchdog: false,
    });
    this.frontend = new QueryFrontend({
      registry: this.registry,
      service: this.engine,
      metrics: () => Promise.resolve({ contentType: 'text/plain', bytes: Buffer.from('') }),
      queryIdPrefix: 'test',
    });
  }

  static async start(): Promise<EngineHarness> {
    const harness = new EngineHarness();
    const { port } = await harness.frontend.listen({ host: '127.0.0.1', port: 0 });
    harness.base = `http://127.0.0.1:${port}`;
    harness.frontend.markReady();
    return harness;
  }

  override onModelCall(vote: ModelVote | undefined): void {
    this.modelCalls.push(vote === undefined ? undefined : (vote.missing ?? vote.output));
  }

  override onBatch(record: BatchRecord): void {
    this.frontend.onBatch(record);
  }

  /** Registers a model of one float an input, with a replica that is up. */
  async model(name: string, batching: BatchingChoice, options: ReplicaOptions = {}): Promise<TestReplica> {
    return this.deploy(
      {
        name,
        version: '1',
        inputType: 'floats',
        inputLength: 1,
        labels: [],
        container: { kind: 'external', containerName: 'test', modelDataPath: '' },
        batching,
      },
      options,
    );
  }

  /** The manifest of the digits model, with a replica that answers what it is told to. */
  digits(options: ReplicaOptions): Promise<TestReplica> {
    return this.deploy(
      {
        name: 'digits',
        version: '1',
        inputType: 'floats',
        inputLength: 784,
        labels: [],
        container: { kind: 'kernelModel', path: builtInModelPath('digits-mlp') },
        batching: { strategy: 'aimd' },
      },
      options,
    );
  }

  private async deploy(record: ModelRecord, options: ReplicaOptions): Promise<TestReplica> {
    await this.registry.addModel(record);
    const replica = new TestReplica(this.clock, record, options);
    this.engine.addReplica(replica);
    return replica;
  }

  /** Asks for rows of one element; resolves with the answer, which may need the clock to run. */
  infer(
    model: string,
    rows: readonly number[],
    more: object = {},
    headers: object = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const inputs = [{ name: 'input', datatype: 'FP32', shape: [rows.length, 1], data: rows }];
    return this.post(model, { inputs, ...more }, headers, signal);
  }

  inferDigit(more: object): Promise<Response> {
    return this.post('digits', { ...pixels(), ...more });
  }

  private post(model: string, body: object, headers: object = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.base}/v2/models/${model}/infer`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Resolves once so many rows wait for their answers. */
  async open(rows: number): Promise<void> {
    await expect.poll(() => this.engine.inFlight()).toBe(rows);
  }

  /** Lets simulated time pass until an instant. */
  run(untilMs?: number): void {
    this.clock.run(untilMs === undefined ? undefined : untilMs * MS);
  }

  async statistics(model: string): Promise<Record<string, unknown>> {
    const found = await this.statisticsAt(`/v2/models/${model}/stats`);
    expect(found).toHaveLength(1);
    return found[0];
  }

  everyStatistics(): Promise<Record<string, unknown>[]> {
    return this.statisticsAt('/v2/models/stats');
  }

  private async statisticsAt(path: string): Promise<Record<string, unknown>[]> {
    const answer = await fetch(this.base + path);
    return ((await answer.json()) as { model_stats: Record<string, unknown>[] }).model_stats;
  }

  async close(): Promise<void> {
    await this.frontend.drain(0, 100);
    this.engine.close();
  }
}

/** The data of the first output. */
export async function labels(answer: Response): Promise<unknown> {
  const json = (await answer.json()) as { outputs: { data: unknown }[] };
  return json.outputs[0].data;
}
