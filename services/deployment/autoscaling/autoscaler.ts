import type { Clock, EventSink } from '../../../simulator/time/index.js';
import type { ReplicaStatus as QueueStatus } from '../../prediction/index.js';
import type { ModelRecord, ModelScale } from '../../registry/index.js';
import type { ScaledRegistry } from '../deployer.js';
import { LoadMeter, totalLoad, type VersionLoad } from './loadMeter.js';
import { DEFAULT_AUTOSCALING, ScaleDecision, type AutoscalingSettings } from './scaleDecision.js';

export interface AutoscalerOptions {
  readonly clock: Clock;
  readonly registry: ScaledRegistry;
  /** The queues of every replica that is up: the engine's. */
  readonly queues: () => readonly QueueStatus[];
  /** Another number of replicas is to run: the registry's to keep, the deployer's to do. */
  readonly setScale: (model: ModelRecord, scale: ModelScale) => void;
  /** How many replicas, up to a number, there is room for; all of them unless given. */
  readonly most?: (model: ModelRecord, most: number) => number;
  /** What other servers, which use the same replicas, see of a version; nothing unless given. */
  readonly others?: (model: ModelRecord) => readonly VersionLoad[];
  readonly settings?: AutoscalingSettings;
}

interface Watched {
  readonly meter: LoadMeter;
  readonly decision: ScaleDecision;
  load: VersionLoad;
}

const PORT = 'autoscaler';
const NO_LOAD: VersionLoad = { replicas: {}, backlog: 0 };

/** Looks at the load of every model version whose scale has a range, and says how many of its replicas are to run. */
export class Autoscaler implements EventSink {
  private watched = new Map<ModelRecord, Watched>();
  private readonly settings: AutoscalingSettings;

  constructor(private readonly options: AutoscalerOptions) {
    this.settings = options.settings ?? DEFAULT_AUTOSCALING;
  }

  start(): void {
    this.options.clock.attach(PORT, this);
    this.look(this.options.clock.nowNs());
  }

  stop(): void {
    this.options.clock.detach(PORT);
  }

  /** What this server saw of each version that it looks at, the last time. */
  loads(): readonly (readonly [ModelRecord, VersionLoad])[] {
    return [...this.watched].map(([model, { load }]) => [model, load]);
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    this.look(nowNs);
  }

  private look(nowNs: number): void {
    const { clock, registry, queues, setScale, most = (_, all) => all, others = () => [] } = this.options;
    clock.schedule(PORT, nowNs + this.settings.intervalNs, 'look');
    // Of versions that are gone, or no longer left to the load, nothing is kept.
    const watched = new Map<ModelRecord, Watched>();
    for (const model of registry.models()) {
      const { name, version } = model;
      const { replicas, range } = registry.scale(name, version);
      if (range === undefined) continue;
      const watch = this.watched.get(model) ?? {
        meter: new LoadMeter(nowNs),
        decision: new ScaleDecision(this.settings, replicas, nowNs),
        load: NO_LOAD,
      };
      watched.set(model, watch);
      const own = queues().filter((queue) => queue.model === name && queue.version === version);
      watch.load = watch.meter.read(own, nowNs);
      const load = totalLoad([watch.load, ...others(model)]);
      // As if the range ended where the room does: what cannot be placed is not asked for.
      const reachable = { ...range, maximum: Math.max(replicas, most(model, range.maximum)) };
      const wanted = watch.decision.decide(load, replicas, reachable, nowNs);
      if (wanted !== replicas) setScale(model, { replicas: wanted, range });
    }
    this.watched = watched;
  }
}
