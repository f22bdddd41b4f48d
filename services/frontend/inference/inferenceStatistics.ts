import type { BatchRecord } from '../../prediction/index.js';
import type { ModelRecord, RegistryView } from '../../registry/index.js';

/** How often something happened, and how long it took altogether. */
class Tally {
  count = 0;
  ns = 0;

  add(ns: number, count = 1): void {
    this.count += count;
    this.ns += ns;
  }

  /** As the statistics extension writes it. */
  shown(): { readonly count: number; readonly ns: number } {
    return { count: this.count, ns: Math.round(this.ns) };
  }
}

class ModelTally {
  lastMs = 0;
  inferences = 0;
  executions = 0;
  readonly success = new Tally();
  readonly fail = new Tally();
  readonly queue = new Tally();
  readonly compute = new Tally();
  readonly cacheHit = new Tally();
  readonly cacheMiss = new Tally();
  readonly batches = new Map<number, Tally>();
}

const NOTHING = { count: 0, ns: 0 } as const;

/** Counts for the protocol's statistics extension, a model version. */
export class InferenceStatistics {
  private readonly tallies = new Map<string, ModelTally>();

  constructor(
    private readonly registry: RegistryView,
    private readonly nowMs: () => number,
  ) {}

  /** A batch that a replica has answered, whoever asked for it. */
  onBatch({ model, version, size, failed, totalQueueNs, serviceNs }: BatchRecord): void {
    const tally = this.of(model, version);
    if (tally === undefined) return;
    tally.lastMs = this.nowMs();
    tally.inferences += size - failed;
    tally.executions += 1;
    tally.queue.add(totalQueueNs, size);
    tally.compute.add(serviceNs);
    let ofSize = tally.batches.get(size);
    if (ofSize === undefined) tally.batches.set(size, (ofSize = new Tally()));
    ofSize.add(serviceNs);
  }

  /** An inference request by this protocol, with how many of its rows the cache answered, and how many a replica. */
  onRequest(model: string, version: string, ok: boolean, ns: number, hits: number, misses: number): void {
    const tally = this.of(model, version);
    if (tally === undefined) return;
    (ok ? tally.success : tally.fail).add(ns);
    tally.cacheHit.add(0, hits);
    tally.cacheMiss.add(0, misses);
  }

  /** In the extension's form. */
  shown(models: readonly ModelRecord[]): unknown {
    return {
      model_stats: models.map(({ name, version }) => {
        const tally = this.tallies.get(keyOf(name, version)) ?? new ModelTally();
        return {
          name,
          version,
          last_inference: Math.round(tally.lastMs),
          inference_count: tally.inferences,
          execution_count: tally.executions,
          inference_stats: {
            success: tally.success.shown(),
            fail: tally.fail.shown(),
            queue: tally.queue.shown(),
            compute_input: NOTHING,
            compute_infer: tally.compute.shown(),
            compute_output: NOTHING,
            cache_hit: tally.cacheHit.shown(),
            cache_miss: tally.cacheMiss.shown(),
          },
          batch_stats: [...tally.batches]
            .sort(([one], [other]) => one - other)
            .map(([batch_size, compute]) => ({
              batch_size,
              compute_input: NOTHING,
              compute_infer: compute.shown(),
              compute_output: NOTHING,
            })),
        };
      }),
    };
  }

  /** Forgets versions that are registered no more. */
  prune(): void {
    for (const key of this.tallies.keys()) {
      const [name, version] = key.split(':');
      if (this.registry.model(name, version) === undefined) this.tallies.delete(key);
    }
  }

  private of(model: string, version: string): ModelTally | undefined {
    const key = keyOf(model, version);
    let tally = this.tallies.get(key);
    if (tally === undefined && this.registry.model(model, version) !== undefined) {
      this.tallies.set(key, (tally = new ModelTally()));
    }
    return tally;
  }
}

/** Neither names nor versions can hold a colon. */
function keyOf(model: string, version: string): string {
  return `${model}:${version}`;
}
