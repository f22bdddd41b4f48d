import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect } from 'vitest';
import type { NodeReport } from '../../../containers/runtime/index.js';
import { Reservations } from '../../../containers/runtime/testing/index.js';
import { profileNamed } from '../../../simulator/gpu/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { BundleDesk } from '../../bundles/index.js';
import { GpuCapacity } from '../../deployment/index.js';
import { EventLog } from '../../events/index.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/index.js';
import { PredictionEngine, SilentObserver, type ReplicaStatus } from '../../prediction/index.js';
import { Registry } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { ManagementServer, type GpuSources } from '../index.js';

export const app = { name: 'a', input_type: 'doubles', default_output: '0', latency_slo_micros: 20_000 };
export const model = {
  model_name: 'm',
  model_version: '1',
  input_type: 'doubles',
  container_name: 'windjammer/constant',
  output: '7',
};

/** A management server that listens, over a registry in memory. */
export class ManagementHarness {
  readonly store = new MemoryStore();
  readonly registry = new Registry(this.store);
  /** The version that answers, where it is not the current one. */
  serving: string | undefined;
  /** What the only replica took at the end of its warm-up. */
  oneInputMs: number | undefined;
  nodes: readonly NodeReport[] = [];
  queues: readonly ReplicaStatus[] = [];
  /** What their GPUs have been given. */
  reservations = [new Reservations('node0', [profileNamed('h200')])];
  private readonly rooms = () => this.reservations.map((node) => node.room());
  private readonly capacity = new GpuCapacity({
    registry: this.registry,
    rooms: this.rooms,
    wanted: ({ container }) => {
      if (container.kind !== 'kernelModel' || container.memory === undefined) return undefined;
      const { memory: needs, gpu: pin } = container;
      return { needs, ...(pin === undefined ? {} : { pin }) };
    },
  });
  recordTimeline: GpuSources['recordTimeline'] = () => Promise.reject(new Error('nothing is recorded'));
  readonly announced: (readonly [string, unknown])[] = [];
  readonly events = new EventLog({
    store: this.store,
    server: 'here',
    announce: (...line) => this.announced.push(line),
    complain: (...line) => this.announced.push(line),
  });
  readonly bundles = new BundleDesk({
    dataDirectory: undefined,
    models: () => this.registry.models(),
    complain: (...line) => this.announced.push(line),
  });
  private readonly server = new ManagementServer({
    bundles: this.bundles,
    registry: this.registry,
    events: this.events,
    backup: { store: this.store, models: () => this.registry.models(), nowMs: Date.now },
    replicas: () => [
      {
        ...{ model: 'm', version: '1', replica: 0, state: 'down', restarts: 2, lastFailure: 'gone' },
        ...(this.oneInputMs === undefined ? {} : { oneInputMs: this.oneInputMs }),
      },
    ],
    servingVersion: (name) => this.serving ?? this.registry.currentVersion(name),
    states: (application) => this.served?.states(application),
    selectionShares: (_application, context) => new Map([[`share-of-${context}`, 1]]),
    rooms: this.rooms,
    capacity: this.capacity,
    nodes: () => this.nodes,
    queues: () => this.queues,
    recordTimeline: (request) => this.recordTimeline(request),
    arrivals: {
      record: () => {
        throw new Error('no arrivals are recorded');
      },
    },
  });
  private address: AddressInfo | undefined;
  private served: PredictionEngine | undefined;

  /** What serves the applications, to be closed. */
  engine(): PredictionEngine {
    this.served = new PredictionEngine({
      clock: new VirtualClock(),
      registry: this.registry,
      store: this.store,
      seed: 1,
      observer: new SilentObserver(),
    });
    return this.served;
  }

  async start(): Promise<void> {
    this.address = await this.server.listen({ host: '127.0.0.1', port: 0 });
  }

  async close(): Promise<void> {
    await this.server.close(100);
    await this.bundles.close();
  }

  get url(): string {
    return `http://127.0.0.1:${this.address?.port ?? 0}`;
  }
}

/** Starts a new harness before each test. */
export function eachWithServer(): () => ManagementHarness {
  let harness: ManagementHarness;
  beforeEach(() => (harness = new ManagementHarness()).start());
  afterEach(() => harness.close());
  return () => harness;
}

export interface Verbs {
  readonly post: (verb: string, body: unknown) => Promise<{ status: number; text: string; json: unknown }>;
  readonly done: (verb: string, body: unknown) => Promise<void>;
  readonly refused: (verb: string, body: unknown, code: ErrorCode, field?: string) => Promise<void>;
}

/** What tests say to the server of the running one. */
export function verbsOf(harness: () => ManagementHarness): Verbs {
  const post: Verbs['post'] = async (verb, body) => {
    const response = await fetch(`${harness().url}/admin/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as unknown) : undefined };
  };
  return {
    post,
    done: async (verb, body) => {
      expect(await post(verb, body)).toMatchObject({
        status: 200,
        text: expect.stringMatching(/^Success!/) as string,
      });
    },
    refused: async (verb, body, code, field) => {
      const { status, json } = await post(verb, body);
      expect((json as { error: unknown }).error).toMatchObject({
        code,
        ...(field === undefined ? {} : { field }),
      });
      expect(status).toBe(ERROR_CATALOGUE[code].status);
    },
  };
}
