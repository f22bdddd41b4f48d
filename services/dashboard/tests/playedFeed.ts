import { vi } from 'vitest';
import type { NodeReport } from '../../../containers/runtime/index.js';
import { emptyRoom, gpuSample } from '../../../containers/runtime/tests/gpuSamples.js';
import type { Change, JobsView } from '../feedFrame.js';
import { FrameSource } from '../frameSource.js';
import { EVERY_MS, eventOf, POINTS, Recorder } from '../recorder.js';
import { FakeSources } from './fakeSources.js';

const MODELS = [
  'digits-linear-svm',
  'digits-logistic',
  'digits-mlp',
  'digits-random-forest',
  'digits-rbf-svm',
];
const SMS = 132;

/** As the system's clock has it: pages show times of day. */
const BEGUN_MS = Date.UTC(2026, 10, 28, 13, 0, 0);

/**
 * A server with much to show, whose ten minutes pass at once: applications under load, defaults, two GPUs with preemptions, jobs,
 * feedback in a queue, a cluster, changes. What its feed would send is text, for a browser to be given.
 */
export class PlayedFeed {
  readonly sources = new FakeSources();
  private readonly recorder: Recorder;
  private readonly frames: FrameSource;
  private points = 0;
  private kills = 0;
  private latest = '';

  private constructor() {
    this.sources.atMs = BEGUN_MS;
    Object.assign(this.sources, richSources());
    this.sources.reports = this.reports();
    this.recorder = new Recorder(this.sources);
    this.frames = new FrameSource(this.sources);
  }

  /** To be made while timers are fake. */
  static async make(): Promise<PlayedFeed> {
    const feed = new PlayedFeed();
    for (const application of ['digits', 'night-batches']) await feed.sources.addApplication(application);
    for (const model of MODELS) {
      await feed.sources.addModel(model, 'digits', 784);
      await feed.sources.registry.addLinks('night-batches', [model]);
    }
    await feed.pass(POINTS);
    return feed;
  }

  /** Everything, for a page that has nothing. */
  whole(): string {
    return this.recorder.since(undefined) + this.latest;
  }

  /** The next point, and a frame. */
  async next(): Promise<string> {
    const before = this.recorder.latest;
    await this.pass(1);
    return this.recorder.since(before) + this.latest;
  }

  close(): void {
    this.frames.close();
    this.recorder.close();
  }

  private frame(): string {
    return eventOf('message', this.frames.frame());
  }

  private async pass(points: number): Promise<void> {
    for (let k = 0; k < points; k++) {
      // What frames show has happened since the one before.
      this.frame();
      this.traffic();
      this.sources.atMs += EVERY_MS;
      await vi.advanceTimersByTimeAsync(EVERY_MS);
      this.points += 1;
    }
    this.latest = this.frame();
    await vi.advanceTimersByTimeAsync(0);
  }

  private traffic(): void {
    const { sources, points: at } = this;
    const wave = 1 + Math.sin(at / 25);
    for (let k = 0; k < 40 + 30 * wave; k++) {
      sources.answer(
        'digits',
        4 + wave + (k % 7) + (k === 0 ? 12 : 0),
        k === 3 && at % 9 < 4 ? 'deadline' : undefined,
      );
    }
    for (let k = 0; k < 8; k++)
      sources.answer('night-batches', 30 + k, at > 200 && k === 0 ? 'overload' : undefined);
    MODELS.forEach((model, of) => {
      sources.batch(model, '1', 1 + Math.round(wave * (of + 1)), of, 2 + of + wave);
    });
    sources.cache = {
      ...sources.cache,
      requests: sources.cache.requests + 100,
      hits: sources.cache.hits + 60 + Math.round(20 * wave),
      joins: sources.cache.joins + 3,
    };
    const learned = 0.2 + (0.5 * at) / POINTS;
    const shares = MODELS.map((model, of): [string, number] => [
      model,
      of === 2 ? learned : (1 - learned) / 4,
    ]);
    for (const application of ['digits', 'night-batches']) sources.shares.set(application, new Map(shares));
    if (at % 40 === 20) this.kills += 3;
    sources.reports = this.reports();
    for (const change of CHANGES[at] ?? []) sources.change({ at: sources.atMs, ...change });
  }

  private reports(): NodeReport[] {
    const { points: at, kills } = this;
    const ns = 2e9 * (at + 1);
    const { preemptions } = gpuSample(ns);
    return ['node0', 'node1'].map((node, of) => {
      const launched = 700 * at + 400 * Math.sin(at / 25 + of) * 10;
      const busyNs = ns * 10 ** (-4 + of + Math.sin(at / 12));
      const latest = gpuSample(ns, {
        launched,
        busyNs,
        preemptions: { ...preemptions, kills: of === 0 ? kills : 0, saves: of * Math.floor(at / 70) },
      });
      const share = (sm: number): number => ns * 10 ** (-5 + 5 * Math.abs(Math.sin(sm / 40 + at / 30)));
      const busy = Float64Array.from({ length: SMS }, (_, sm) => share(sm));
      return {
        node,
        replicas: 1,
        busyHostSeconds: 1,
        busySimulatedSeconds: 1,
        dilation: 42.5,
        hostBusyShare: 0.4,
        clockLagSeconds: 0,
        room: emptyRoom(node),
        gpus: [{ gpu: 0, profile: 'h200', asOfNs: ns, busyNs: busy, blockNs: busy.map((each) => 3 * each) }],
        spans: [{ latest, earlier: undefined }],
      };
    });
  }
}

const CHANGES: Readonly<Record<number, readonly Omit<Change, 'at'>[]>> = {
  60: [{ kind: 'deploy', what: 'digits-mlp', text: 'version 2 deployed' }],
  70: [{ kind: 'switch', what: 'digits-mlp', text: 'version 1 → 2' }],
  120: [
    { kind: 'lost', what: 'digits-mlp v2, replica 0', text: 'lost: its process ended with signal SIGKILL' },
  ],
  150: [{ kind: 'rollback', what: 'digits-mlp', text: 'version 2 → 1, as before' }],
  210: [{ kind: 'scale', what: 'digits-logistic', text: 'version 1: 1 → 3 replicas' }],
  250: [{ kind: 'application', what: 'digits', text: 'latencyObjectiveUs 20000 → 50000' }],
  280: [{ kind: 'other', what: 'n1', text: 'drain node' }],
};

function richSources(): Partial<FakeSources> {
  const jobs: JobsView = {
    running: 1,
    done: 2,
    cancelled: 1,
    linesPending: 7600,
    lagSeconds: 3,
    spooled: 0,
    unreadable: 0,
    shown: [
      ['mx1k2-0badcafe0001', 'running', 10_000, 2400, 3],
      ['mx1k1-0badcafe0002', 'done', 128, 128, 0],
      ['mx1k0-0badcafe0003', 'cancelled', 500, 20, 20],
    ].map(([id, state, lines, answered, failed]) => ({
      id: String(id),
      application: 'night-batches',
      state: state as 'running',
      lines: Number(lines),
      answered: Number(answered),
      failed: Number(failed),
      createdMs: BEGUN_MS,
    })),
  };
  return {
    deployed: () =>
      MODELS.map((model, at) => ({
        model,
        version: '1',
        replica: 0,
        state: at === 4 ? 'down' : 'up',
        restarts: at === 4 ? 7 : 0,
        ...(at === 4 ? { lastFailure: 'out of memory' } : {}),
      })),
    jobs: () => Promise.resolve(jobs),
    queue: () => ({ waiting: 12, active: 8, delayed: 2, failed: 4, lagSeconds: 1.4, spooled: 3 }),
    cluster: () => ({
      frontends: ['frontend-a', 'frontend-b'].map((name, at) => ({
        name,
        self: at === 0,
        address: `http://10.0.0.${at + 1}:1337`,
        alive: true,
        places: at === 0,
        lastWordSeconds: 0.4,
      })),
      nodes: ['node0', 'node1', 'node2'].map((name, at) => ({
        name,
        address: `10.0.1.${at + 1}:1340`,
        gpus: ['h200'],
        alive: at !== 2,
        connected: at !== 2,
        problem: at === 2 ? 'nobody answers' : null,
        cordoned: at === 1,
        replicas: 3,
        roundTripSeconds: at === 2 ? null : 0.0012,
        lastWordSeconds: at === 2 ? 341 : 0.3,
      })),
    }),
  };
}
