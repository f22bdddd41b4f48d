import { HostDraws, HostFrontend } from '../hostTimes/index.js';
import { setImmediate as soon } from 'node:timers/promises';
import { PredictionEngine } from '../../services/prediction/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { Timeline, windowWidthNs } from '../measure/index.js';
import { ReplayContainers } from './replayContainers.js';
import { LoadError } from '../trace/index.js';
import { ReplayObserver } from './replayObserver.js';
import { ReplayRegistry } from './replayRegistry.js';
import type { RunResult } from '../result/index.js';
import type { ReplaySettings } from './replaySettings.js';
import { resultOf } from './replaySummary.js';
import { ReplayTraffic, type ReplayedQuery } from './replayTraffic.js';

export interface ReplayProgress {
  /** Of the trace, 0 to 1; undefined when nobody knows. */
  readonly share: number | undefined;
  readonly simulatedSeconds: number;
  readonly arrivals: number;
}

export interface ReplayOutcome {
  readonly result: RunResult;
  /** Things that went wrong and stopped nothing. */
  readonly warnings: readonly string[];
}

/** Events between two looks at the world: signals, and writes of the store, want their turn. */
const EVENTS_A_TURN = 1024;

/**
 * Runs a trace through the query path, containers and simulated GPUs in virtual time: one thread, no sockets. The same
 * settings give the same result. Closes the trace.
 * @throws LoadError when the trace, an input or a model is at fault.
 */
export async function replay(
  settings: ReplaySettings,
  onProgress: (progress: ReplayProgress) => void = () => undefined,
): Promise<ReplayOutcome> {
  const clock = new VirtualClock();
  const { models, applications, seed, cacheBytes, trace } = settings;
  const observer = new ReplayObserver(clock, models);
  let containers: ReplayContainers | undefined;
  try {
    const { hostTimes } = settings;
    const host =
      hostTimes === undefined ? undefined : new HostFrontend<ReplayedQuery>(new HostDraws(hostTimes, seed));
    containers = new ReplayContainers(clock, models, settings.gpus, settings.nodes, seed, host);
    const registry = new ReplayRegistry(applications, models);
    const engine = new PredictionEngine({
      clock,
      registry,
      store: new MemoryStore(),
      seed,
      cacheBytes,
      observer,
      policyHere: (name) => applications.find(({ record }) => record.name === name)?.policy,
    });
    for (const model of models) {
      for (let replica = 0; replica < model.replicas; replica++)
        engine.addReplica(containers.start(model, replica));
    }
    await turns(clock, observer, () => observer.allUp);
    if (!observer.allUp) throw new LoadError('models', 'a container never said hello');
    const startNs = clock.nowNs();
    const { durationSeconds } = settings;
    const timeline = new Timeline(
      windowWidthNs(durationSeconds === undefined ? undefined : durationSeconds * 1e9),
    );
    observer.begin(timeline, startNs);
    const traffic = new ReplayTraffic(settings, clock, engine, observer.models, timeline, startNs, host);
    const progress = (): ReplayProgress => {
      const simulatedSeconds = (clock.nowNs() - startNs) / 1e9;
      const timeShare = durationSeconds === undefined ? 0 : simulatedSeconds / durationSeconds;
      const share = Math.max(timeShare, trace.progress() ?? 0);
      return {
        share: share === 0 ? undefined : Math.min(1, share),
        simulatedSeconds,
        arrivals: traffic.arrivals,
      };
    };
    await turns(
      clock,
      observer,
      () => traffic.done,
      () => onProgress(progress()),
    );
    const endNs = clock.nowNs();
    await new Promise<void>((resolve) => engine.flush(resolve));
    const result = resultOf({ settings, engine, observer, traffic, timeline, containers, endNs });
    // Closing takes the replicas down, which is no news.
    const warnings = [...observer.warnings];
    engine.close();
    return { result, warnings };
  } finally {
    containers?.close();
    trace.close();
  }
}

/** Runs events until `isDone`, or until there are none. */
async function turns(
  clock: VirtualClock,
  observer: ReplayObserver,
  isDone: () => boolean,
  afterTurn: () => void = () => undefined,
): Promise<void> {
  for (;;) {
    for (let events = 0; events < EVENTS_A_TURN; events++) {
      if (observer.failure !== undefined) throw observer.failure;
      if (isDone() || !clock.step()) return;
    }
    afterTurn();
    await soon();
  }
}
