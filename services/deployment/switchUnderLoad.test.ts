import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { PredictionEngine, type Answer } from '../prediction/index.js';
import { Registry, type ModelRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Deployer, ServedVersions } from './index.js';
import { SyntheticStarter } from './tests/syntheticStarter.js';

const MS = 1e6;
/** A replica's first batches compile: so much slower. */
const COMPILES = 150;
const BATCH = 4;

interface Timed {
  readonly atNs: number;
  readonly answer: Answer;
}

/** Two replicas of a model of 2 ms a batch and 0.1 ms an input, asked in client batches of four; a deploy in between. */
class Switching {
  readonly clock = new VirtualClock();
  readonly registry = new Registry(new MemoryStore());
  readonly batches: Timed[][] = [];
  readonly deployer: Deployer;
  private readonly engine: PredictionEngine;
  private queries = 0;

  constructor(private readonly warmUp: boolean) {
    const { clock, registry } = this;
    const served = new ServedVersions(registry, (name, version) => this.deployer.isReady(name, version));
    const engine = new PredictionEngine({ clock, registry: served, store: new MemoryStore(), seed: 1 });
    this.engine = engine;
    this.deployer = new Deployer({
      registry,
      starter: new SyntheticStarter(
        clock,
        ({ version }) => {
          let compiled = 0;
          const jitter = (): number => (compiled++ < 2 ? COMPILES : 1);
          return {
            fixedNs: 2 * MS,
            itemNs: 0.1 * MS,
            jitter,
            output: version,
            inputType: 'doubles',
            maxBatchSize: 64,
          };
        },
        500 * MS,
      ),
      addReplica: (channel) => engine.addReplica(channel),
      onReady: ({ name }) => served.onReady(name),
    });
  }

  async begin(): Promise<this> {
    await this.deploy('1');
    await this.registry.addApplication({
      name: 'a',
      inputType: 'doubles',
      defaultOutput: 'default',
      latencyObjectiveUs: 2_000_000,
      policy: { name: 'static', parameters: {} },
    });
    await this.registry.addLinks('a', ['m']);
    this.deployer.start();
    this.clock.run(3000 * MS);
    return this;
  }

  async deploy(version: string): Promise<void> {
    const record: ModelRecord = {
      name: 'm',
      version,
      inputType: 'doubles',
      labels: [],
      container: { kind: 'process', path: '' },
      batching: { strategy: 'aimd' },
      ...(this.warmUp ? {} : { warmUp: false }),
    };
    await this.registry.addModel(record, { replicas: 2 });
  }

  /** 1,000 inputs a second for so long. @returns latencies of all, sorted. */
  run(forMs: number): number[] {
    const from = this.batches.length;
    const endNs = this.clock.nowNs() + forMs * MS;
    while (this.clock.nowNs() < endNs) {
      const batch: Timed[] = [];
      this.batches.push(batch);
      for (let item = 0; item < BATCH; item++) {
        const id = `q${this.queries++}`;
        const input = new Uint8Array(new Float64Array([this.queries]).buffer);
        this.engine.predict(
          { id, application: 'a', input, context: '' },
          {
            onAnswer: (_query, answer) => batch.push({ atNs: this.clock.nowNs(), answer }),
            onRefusal: () => expect.unreachable(),
          },
        );
      }
      this.clock.run(this.clock.nowNs() + BATCH * MS);
    }
    this.clock.run(endNs + 2000 * MS);
    const latencies = this.batches
      .slice(from)
      .flatMap((batch) => batch.map(({ answer }) => answer.latencyNs));
    return latencies.sort((a, b) => a - b);
  }

  versions(): string[] {
    return this.batches.map((batch) => {
      const outputs = new Set(batch.map(({ answer }) => answer.output));
      return batch.length === BATCH ? [...outputs].join('+') : 'missing';
    });
  }
}

const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)];

describe('a version that is switched under load', () => {
  it('costs no query, no mix within a client batch, and at most twice the p99', async () => {
    const serving = await new Switching(true).begin();
    const before = p99(serving.run(4000));
    await serving.deploy('2');
    const during = p99(serving.run(4000));
    await serving.registry.setCurrentVersion('m', '1');
    const back = p99(serving.run(1000));
    expect(before).toBeGreaterThan(2 * MS);
    expect(during).toBeLessThanOrEqual(2 * before);
    expect(back).toBeLessThanOrEqual(2 * before);
    const versions = serving.versions();
    expect(new Set(versions)).toEqual(new Set(['1', '2']));
    // Once to the new one and once back, not to and fro.
    expect(versions.filter((version, at) => at > 0 && version !== versions[at - 1])).toEqual(['2', '1']);
  });

  it('would cost more without a warm-up', async () => {
    const serving = await new Switching(false).begin();
    serving.run(4000);
    const before = p99(serving.run(4000));
    await serving.deploy('2');
    expect(p99(serving.run(4000))).toBeGreaterThan(2 * before);
  });
});
