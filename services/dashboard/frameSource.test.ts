import { emptyRoom } from '../../containers/runtime/tests/gpuSamples.js';
import { describe, expect, it } from 'vitest';
import { FrameSource, MOST_APPLICATIONS, MOST_MEMBERS, MOST_MODELS } from './frameSource.js';
import { GpuViews } from './gpuViews.js';
import { JobsWatch } from './jobsWatch.js';
import { FakeSources } from './tests/fakeSources.js';

describe('a frame', () => {
  it('has the rates of the time since the last one', () => {
    const sources = new FakeSources();
    const source = new FrameSource(sources);
    expect(source.frame()).toMatchObject({ seconds: 0, latency: null, queries: { predicted: 0 } });
    for (let k = 1; k <= 100; k++) sources.answer('a', k);
    for (let k = 0; k < 10; k++) sources.answer('b', 50, 'deadline');
    sources.telemetry.onRefused(undefined, 'not_json');
    sources.atMs += 500;
    const frame = source.frame();
    expect(frame.seconds).toBe(0.5);
    expect(frame.queries).toEqual({ predicted: 200, defaulted: 20, cancelled: 0, refused: 2, feedback: 0 });
    expect((frame.latency?.p50Ms ?? 0) / 50).toBeCloseTo(1, 1);
    expect((frame.latency?.p99Ms ?? 0) / 99).toBeCloseTo(1, 1);
    sources.atMs += 500;
    const quiet = source.frame();
    expect(quiet).toMatchObject({ latency: null, queries: { predicted: 0, defaulted: 0 } });
  });

  it('has what there is of a cluster and of the queue, of many members those that are alive first', () => {
    const sources = new FakeSources();
    const source = new FrameSource(sources);
    expect(source.frame()).toMatchObject({ cluster: null, queue: null });
    const frontend = (at: number, alive: boolean) => ({
      name: `f${at}`,
      self: at === 0,
      address: 'http://127.0.0.1:1337',
      alive,
      places: false,
      lastWordSeconds: 1,
    });
    const queue = { waiting: 1, active: 2, delayed: 3, failed: 4, lagSeconds: 5, spooled: 6 };
    const frontends = Array.from({ length: 300 }, (_, at) => frontend(at, at >= 250));
    const watched = new FrameSource(
      Object.assign(new FakeSources(), { cluster: () => ({ frontends, nodes: [] }), queue: () => queue }),
    );
    const frame = watched.frame();
    expect(frame.queue).toEqual(queue);
    expect(frame.cluster?.frontends).toHaveLength(MOST_MEMBERS);
    expect(frame.cluster?.frontends.filter(({ alive }) => alive)).toHaveLength(50);
  });

  it('survives a latency beyond the hour, and a clock that is set back', () => {
    const sources = new FakeSources();
    const source = new FrameSource(sources);
    sources.answer('a', 1e9);
    sources.answer('a', 0);
    sources.atMs -= 10_000;
    const frame = source.frame();
    expect(frame.seconds).toBe(0);
    expect(frame.queries.predicted).toBe(0);
    // As long as there are bounds for.
    expect(frame.latency?.p99Ms).toBeCloseTo(1e5);
  });

  it('shows what share of the lookups since the last one hit', () => {
    const sources = new FakeSources();
    sources.cache = { ...sources.cache, requests: 1000, hits: 1000 };
    const source = new FrameSource(sources);
    expect(source.frame().cache).toMatchObject({ hitShare: null, joinShare: null });
    sources.cache = { ...sources.cache, requests: 1008, hits: 1002, joins: 4 };
    expect(source.frame().cache).toMatchObject({ hitShare: 0.25, joinShare: 0.5 });
  });

  it('lists applications with their models’ shares, and models with their replicas', async () => {
    const sources = new FakeSources();
    await sources.addApplication('constructor');
    await sources.addModel('toString', 'constructor', 784);
    await sources.addModel('a.b-c_d', 'constructor', 784);
    sources.shares.set('constructor', new Map([['toString', 0.25]]));
    sources.queues = [
      {
        model: 'toString',
        version: '1',
        replica: '0',
        strategy: 'aimd',
        maxBatchSize: 12,
        queued: 4,
        inFlightItems: 5,
        inFlightBatches: 1,
        credits: 1,
        itemNs: undefined,
        batches: 1,
        items: 1,
        busyNs: 0,
        fullItemNs: undefined,
      },
    ];
    Object.assign(sources, {
      deployed: () => [
        { model: 'toString', version: '1', replica: 0, state: 'up', restarts: 0 },
        { model: 'a.b-c_d', version: '1', replica: 0, state: 'down', restarts: 2, lastFailure: 'killed' },
      ],
    });
    const source = new FrameSource(sources);
    sources.answer('constructor', 1);
    sources.atMs += 1000;
    const { applications, models, queued, inFlightInputs } = source.frame();
    expect(applications).toEqual([
      {
        name: 'constructor',
        inputType: 'doubles',
        inputLength: 784,
        policy: 'static',
        objectiveMs: 20,
        answersPerSecond: 1,
        shares: [
          { model: 'toString', version: '1', share: 0.25 },
          { model: 'a.b-c_d', version: '1', share: 0 },
        ],
      },
    ]);
    expect([queued, inFlightInputs]).toEqual([4, 5]);
    const replicas = Object.fromEntries(models.map(({ name, replicas: of }) => [name, of]));
    expect(replicas).toEqual({
      toString: [
        {
          replica: '0',
          state: 'up',
          restarts: 0,
          lastFailure: null,
          queued: 4,
          inFlightInputs: 5,
          batchLimit: 12,
        },
      ],
      'a.b-c_d': [
        {
          replica: '0',
          state: 'down',
          restarts: 2,
          lastFailure: 'killed',
          queued: 0,
          inFlightInputs: 0,
          batchLimit: null,
        },
      ],
    });
  });

  it('stays small on a server with many names', async () => {
    const sources = new FakeSources();
    for (let k = 0; k < MOST_APPLICATIONS + 2; k++) await sources.addApplication(`a${k}`);
    for (let k = 0; k < MOST_MODELS + 3; k++) await sources.addModel(`m${k}`);
    const { applications, models, omitted } = new FrameSource(sources).frame();
    expect([applications.length, models.length]).toEqual([MOST_APPLICATIONS, MOST_MODELS]);
    expect(omitted).toEqual({ applications: 2, models: 3 });
  });
});

describe('the view of GPUs', () => {
  const report = (asOfNs: number, busyNs: number[], blockNs: number[]) => ({
    node: 'node0',
    replicas: 1,
    busyHostSeconds: 0,
    busySimulatedSeconds: 0,
    dilation: undefined,
    room: emptyRoom('node0'),
    hostBusyShare: undefined,
    clockLagSeconds: 0,
    spans: [],
    gpus: [
      {
        gpu: 0,
        profile: 'h200',
        asOfNs,
        busyNs: Float64Array.from(busyNs),
        blockNs: Float64Array.from(blockNs),
      },
    ],
  });

  it('is what happened between two samples, and stays until the next', () => {
    const views = new GpuViews();
    expect(views.nodes([report(100, [50, 0], [80, 0])])).toMatchObject([
      { node: 'node0', dilation: null, gpus: [{ gpu: 0, profile: 'h200', busy: [0, 0], blocks: [0, 0] }] },
    ]);
    const next = report(300, [150, 0.002], [380, 0.002]);
    const expected = { busy: [0.5, 0.00001], blocks: [3, 1] };
    expect(views.nodes([next])[0].gpus[0]).toMatchObject(expected);
    expect(views.nodes([next])[0].gpus[0]).toMatchObject(expected);
  });

  it('begins afresh after the node did', () => {
    const views = new GpuViews();
    views.nodes([report(1000, [500], [500])]);
    expect(views.nodes([report(10, [5], [5])])[0].gpus[0].busy).toEqual([0]);
    expect(views.nodes([report(20, [10], [15])])[0].gpus[0]).toMatchObject({ busy: [0.5], blocks: [2] });
  });
});

describe('the jobs in a frame', () => {
  const some = {
    running: 1,
    done: 0,
    cancelled: 0,
    linesPending: 5,
    lagSeconds: 0,
    spooled: 0,
    unreadable: 0,
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('are asked for no more often than it takes little of the time, and stay while they cannot be known', async () => {
    let [nowMs, asked, takesMs, isAway] = [0, 0, 0, false];
    const watch = new JobsWatch(
      () => {
        asked += 1;
        nowMs += takesMs;
        return isAway ? Promise.reject(new Error('away')) : Promise.resolve({ ...some, shown: [] });
      },
      () => nowMs,
    );
    watch.look();
    watch.look();
    await settled();
    expect([asked, watch.view?.running]).toEqual([1, 1]);
    nowMs = 1999;
    watch.look();
    expect(asked).toBe(1);
    [nowMs, takesMs, isAway] = [2000, 1000, true];
    watch.look();
    await settled();
    expect([asked, watch.view?.running]).toEqual([2, 1]);
    nowMs += 19_000;
    watch.look();
    expect(asked).toBe(2);
    nowMs += 1000;
    watch.look();
    expect(asked).toBe(3);
  });
});
