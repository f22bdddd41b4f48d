import { describe, expect, it } from 'vitest';
import { VirtualClock, type EventSink } from '../../simulator/time/index.js';
import { PredictionEngine, type Answer, type ReplicaStatus } from '../prediction/index.js';
import { Registry, type BatchingChoice, type ModelScale } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Autoscaler, type VersionLoad } from './autoscaling/index.js';
import { LoadMeter, totalLoad } from './autoscaling/loadMeter.js';
import { DEFAULT_AUTOSCALING, ScaleDecision } from './autoscaling/scaleDecision.js';
import { Deployer } from './index.js';
import { SyntheticStarter } from './tests/syntheticStarter.js';

const S = 1e9;
const range = { minimum: 1, maximum: 8 };

describe('ScaleDecision', () => {
  /** Looks every interval at a load that is a function of the replicas and the time; the changes that it made. */
  function follow(loadAt: (atS: number) => number, untilS: number, from = 1): [number, number][] {
    const decision = new ScaleDecision(DEFAULT_AUTOSCALING, from, 0);
    const changes: [number, number][] = [];
    let replicas = from;
    for (let atS = 5; atS <= untilS; atS += 5) {
      const load = Math.min(replicas, loadAt(atS));
      const wanted = decision.decide(load, replicas, range, atS * S);
      if (wanted !== replicas) changes.push([atS, wanted]);
      replicas = wanted;
    }
    return changes;
  }

  it('goes up while replicas are short, and stops where they are at their target', () => {
    const changes = follow(() => 3, 600);
    expect(changes).toEqual([
      [15, 2],
      [30, 3],
      [45, 5],
    ]);
  });

  it('goes down once fewer were enough for a whole cool-down, in one step', () => {
    expect(follow((atS) => (atS <= 100 ? 3 : 0.1), 600)).toEqual([
      [15, 2],
      [30, 3],
      [45, 5],
      [220, 1],
    ]);
  });

  it('does not follow a load that goes up and down faster than its cool-down', () => {
    const changes = follow((atS) => (atS % 100 < 50 ? 3 : 0.1), 3600);
    expect(changes.filter(([, replicas], at) => at > 0 && replicas < changes[at - 1][1])).toEqual([]);
    expect(changes.at(-1)?.[1]).toBe(5);
  });

  it('changes nothing for a load a little above its target, nor for noise around it', () => {
    expect(follow(() => 0.72, 3600)).toEqual([]);
    expect(follow((atS) => 1.4 + 0.1 * Math.sin(atS), 3600, 2)).toEqual([]);
  });

  it('stays between its limits', () => {
    const decision = new ScaleDecision(DEFAULT_AUTOSCALING, 2, 0);
    expect(decision.decide(100, 2, { minimum: 1, maximum: 4 }, 20 * S)).toBe(4);
    // Limits that were changed hold at once.
    expect(decision.decide(100, 4, { minimum: 1, maximum: 3 }, 25 * S)).toBe(3);
    expect(decision.decide(0, 3, { minimum: 6, maximum: 8 }, 30 * S)).toBe(6);
  });

  it('waits a cool-down after somebody else’s change too', () => {
    const decision = new ScaleDecision(DEFAULT_AUTOSCALING, 1, 0);
    expect(decision.decide(0, 1, range, 300 * S)).toBe(1);
    expect(decision.decide(0, 6, range, 305 * S)).toBe(6);
    expect(decision.decide(0, 6, range, 420 * S)).toBe(6);
    expect(decision.decide(0, 6, range, 425 * S)).toBe(1);
  });
});

describe('LoadMeter', () => {
  const queue = (replica: string, more: Partial<ReplicaStatus> = {}): ReplicaStatus => ({
    model: 'm',
    version: '1',
    replica,
    strategy: 'aimd',
    maxBatchSize: 10,
    queued: 0,
    inFlightItems: 0,
    inFlightBatches: 0,
    credits: 1,
    itemNs: undefined,
    batches: 0,
    items: 0,
    busyNs: 0,
    fullItemNs: undefined,
    ...more,
  });

  const read = (meter: LoadMeter, queues: readonly ReplicaStatus[], nowNs: number) =>
    totalLoad([meter.read(queues, nowNs)]);

  it('adds up what replicas did since the last look, and what waits', () => {
    const meter = new LoadMeter(0);
    // 5 s: 200 items of 10 ms; another whose service is not known yet was busy for 1 s.
    const first = [queue('0', { items: 200, fullItemNs: 0.01 * S }), queue('1', { items: 3, busyNs: S })];
    expect(read(meter, first, 5 * S)).toBeCloseTo(2 / 5 + 1 / 5);
    expect(read(meter, first, 10 * S)).toBe(0);
    expect(read(meter, [queue('0', { items: 200, fullItemNs: 0.01 * S, queued: 50 })], 15 * S)).toBeCloseTo(
      0.5,
    );
  });

  it('begins anew with a replica that was started again, and forgets one that is gone', () => {
    const meter = new LoadMeter(0);
    read(meter, [queue('0', { items: 1000, fullItemNs: 0.01 * S }), queue('1', { items: 1000 })], 5 * S);
    expect(read(meter, [queue('0', { items: 100, fullItemNs: 0.01 * S })], 10 * S)).toBeCloseTo(0.2);
    expect(read(meter, [queue('0', { items: 100, fullItemNs: 0.01 * S })], 15 * S)).toBe(0);
    expect(read(meter, [], 20 * S)).toBe(0);
    // The same number again is another replica.
    expect(read(meter, [queue('1', { items: 100, fullItemNs: 0.01 * S })], 25 * S)).toBeCloseTo(0.2);
  });

  it('takes no replica for more than it is', () => {
    const meter = new LoadMeter(0);
    expect(read(meter, [queue('0', { items: 10_000, fullItemNs: 0.01 * S })], 5 * S)).toBe(1);
  });

  it('adds up what several servers see of the same replicas, and takes none for more than it is', () => {
    const one = { replicas: { '0': 0.9, '1': 0.2 }, backlog: 0.5 };
    const two = { replicas: { '0': 0.8, '3': 0.1 }, backlog: 0 };
    expect(totalLoad([one, two])).toBeCloseTo(1 + 0.2 + 0.1 + 0.5);
    expect(totalLoad([])).toBe(0);
  });
});

interface Change {
  readonly atS: number;
  readonly replicas: number;
}

/** A model of 100 ms an input under load, with replicas that take a while to start; all of it in virtual time. */
class ScaledServing implements EventSink {
  readonly clock = new VirtualClock();
  readonly registry = new Registry(new MemoryStore());
  readonly changes: Change[] = [];
  readonly answers: Answer[] = [];
  /** Replicas that there is room for. */
  most = 64;
  /** What became of replicas, in order: `start 3`, `close 3`. */
  readonly lives: string[] = [];
  readonly deployer: Deployer;
  others: () => readonly VersionLoad[] = () => [];
  readonly autoscaler: Autoscaler;
  private readonly engine: PredictionEngine;
  private queries = 0;
  private perSecond = 0;

  constructor(
    startS = 0,
    private readonly batching: BatchingChoice = { strategy: 'none' },
  ) {
    const { clock, registry } = this;
    this.engine = new PredictionEngine({ clock, registry, store: new MemoryStore(), seed: 1 });
    this.deployer = new Deployer({
      registry,
      starter: new SyntheticStarter(
        clock,
        () => ({ fixedNs: 0, itemNs: 0.1 * S, output: '1', inputType: 'doubles', maxBatchSize: 64 }),
        startS * S,
        this.lives,
      ),
      addReplica: (channel) => this.engine.addReplica(channel),
      warmUpFor: () => undefined,
    });
    this.autoscaler = new Autoscaler({
      clock: this.clock,
      registry,
      others: () => this.others(),
      queues: () => this.engine.replicas(),
      most: (_model, most) => Math.min(most, this.most),
      setScale: ({ name, version }, wanted) => {
        this.changes.push({ atS: this.clock.nowNs() / S, replicas: wanted.replicas });
        void registry.setScale(name, version, wanted);
      },
    });
    clock.attach('load', this);
  }

  async begin(scale: ModelScale): Promise<void> {
    const { registry } = this;
    const model = {
      name: 'm',
      version: '1',
      inputType: 'doubles',
      labels: [],
      container: { kind: 'process', path: '' },
      batching: this.batching,
    } as const;
    await registry.addModel(model, scale);
    await registry.addApplication({
      name: 'a',
      inputType: 'doubles',
      defaultOutput: 'default',
      latencyObjectiveUs: 1_000_000,
      policy: { name: 'static', parameters: {} },
    });
    await registry.addLinks('a', ['m']);
    this.deployer.start();
    this.autoscaler.start();
    this.clock.schedule('load', 0, 'query');
  }

  /** So many queries a second for so long. */
  run(perSecond: number, forS: number): this {
    this.perSecond = perSecond;
    this.clock.run(this.clock.nowNs() + forS * S);
    return this;
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    if (this.perSecond === 0) {
      this.clock.schedule('load', nowNs + S, 'query');
      return;
    }
    const id = `q${this.queries++}`;
    const input = new Uint8Array(new Float64Array([this.queries]).buffer);
    this.engine.predict(
      { id, application: 'a', input, context: '' },
      { onAnswer: (_query, answer) => this.answers.push(answer), onRefusal: () => undefined },
    );
    this.clock.schedule('load', nowNs + S / this.perSecond, 'query');
  }
}

describe('autoscaling', () => {
  it('has replicas for the load, back to the fewest when it is idle, and no query fails for it', async () => {
    const serving = new ScaledServing();
    await serving.begin({ replicas: 1, range });
    serving.run(4, 120);
    expect(serving.changes).toEqual([]);
    serving.run(30, 300);
    // 30 a second of 10 a second each, at 70 %.
    expect(serving.changes.at(-1)?.replicas).toBe(5);
    const before = serving.answers.length;
    serving.run(30, 60);
    expect(serving.answers.slice(before).filter(({ isDefault }) => isDefault)).toEqual([]);
    const busy = serving.answers.length;
    serving.run(4, 300);
    expect(serving.changes.at(-1)?.replicas).toBe(1);
    serving.run(0, 300);
    expect(serving.deployer.statuses().map(({ replica, state }) => `${replica} ${state}`)).toEqual(['0 up']);
    // Those that went were drained.
    expect(serving.answers.slice(busy).filter(({ isDefault }) => isDefault)).toEqual([]);
  });

  it('asks for no more replicas than there is room for, and for more once there is', async () => {
    const serving = new ScaledServing();
    serving.most = 3;
    await serving.begin({ replicas: 1, range });
    serving.run(30, 300);
    expect(serving.changes.map(({ replicas }) => replicas)).toEqual([3]);
    serving.most = 4;
    serving.run(30, 60);
    expect(serving.changes.at(-1)?.replicas).toBe(4);
    // Less room than replicas takes none away: who has a place keeps it.
    serving.most = 1;
    serving.run(30, 300);
    expect(serving.changes.at(-1)?.replicas).toBe(4);
  });

  it('reverses at most once a cool-down while the load steps up and down', async () => {
    const serving = new ScaledServing();
    await serving.begin({ replicas: 1, range });
    for (const periodS of [30, 90, 200]) {
      for (let step = 0; step < 6; step++) serving.run(step % 2 === 0 ? 25 : 2, periodS);
    }
    serving.run(0, 400);
    const { changes } = serving;
    expect(changes.length).toBeGreaterThan(4);
    const reversals: number[] = [];
    let going = 1;
    let replicas = 1;
    for (const change of changes) {
      const direction = Math.sign(change.replicas - replicas);
      if (direction !== going) reversals.push(change.atS);
      going = direction;
      ({ replicas } = change);
    }
    expect(replicas).toBe(1);
    const gaps = reversals.slice(1).map((atS, at) => atS - reversals[at]);
    expect(gaps.filter((gapS) => gapS < DEFAULT_AUTOSCALING.upCoolDownNs / S)).toEqual([]);
    // Down again no sooner than the long cool-down after any change.
    changes.forEach((change, at) => {
      if (at > 0 && change.replicas < changes[at - 1].replicas) {
        expect(change.atS - changes[at - 1].atS).toBeGreaterThanOrEqual(
          DEFAULT_AUTOSCALING.downCoolDownNs / S,
        );
      }
    });
  });

  it('gives up replicas that are still starting, and none that serves', async () => {
    const serving = new ScaledServing(400);
    await serving.begin({ replicas: 2, range: { minimum: 2, maximum: 8 } });
    serving.run(0, 401);
    const states = () => serving.deployer.statuses().map(({ replica, state }) => `${replica} ${state}`);
    expect(states()).toEqual(['0 up', '1 up']);
    // More are asked for, and the load is gone before they are up.
    serving.run(30, 40);
    expect(states()).toEqual(['0 up', '1 up', ...[2, 3, 4, 5].map((replica) => `${replica} starting`)]);
    serving.run(1, 200);
    expect(states()).toEqual(['0 up', '1 up']);
    const closed = serving.lives.filter((life) => life.startsWith('close'));
    expect(closed.sort()).toEqual(['close 2', 'close 3', 'close 4', 'close 5']);
  });

  it('sees room in a replica that is always busy with small batches', async () => {
    const serving = new ScaledServing(0, { strategy: 'fixed', maxBatchSize: 8 });
    await serving.begin({ replicas: 1, range });
    serving.run(5, 200);
    expect(serving.changes).toEqual([]);
  });

  it('has replicas for what comes by other servers, too, and tells what it sees itself', async () => {
    const serving = new ScaledServing();
    serving.others = () => [{ replicas: { '0': 0.6, '1': 0.9, '2': 0.9, '3': 0.9 }, backlog: 0 }];
    await serving.begin({ replicas: 1, range });
    serving.run(0, 60);
    expect(serving.changes.at(-1)?.replicas).toBe(5);
    expect(serving.autoscaler.loads()[0][1].backlog).toBe(0);
    serving.others = () => [];
    serving.run(4, 300);
    expect(serving.changes.at(-1)?.replicas).toBe(1);
    const [[model, { replicas }]] = serving.autoscaler.loads();
    expect(model.name).toBe('m');
    expect(replicas['0']).toBeCloseTo(0.4, 1);
  });

  it('is off without a range', async () => {
    const serving = new ScaledServing();
    await serving.begin({ replicas: 1 });
    serving.run(30, 200);
    expect(serving.changes).toEqual([]);
  });
});
