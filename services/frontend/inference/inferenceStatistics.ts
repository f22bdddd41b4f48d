import type { BatchRecord } from '../../prediction/index.js';
import type { ModelRecord, RegistryView } from '../../registry/index.js';

/** How often something happened, and how long it took altogether. */
class Tally {
  private count = 0;
  private ns = 0;

  add(ns: number, count = 1): void {
    this.count += count;
    this.ns += ns;
  }

  /** As the statistics extension writes it. */
  shown(): { readonly count: number; readonly ns: number } {
    return { count: this.count, ns: Math.round(this.ns) };
  }
}

/** What inferences spend their time with once they have left the queue. */
class ComputeTally {
  private readonly input = new Tally();
  private readonly infer = new Tally();
  private readonly output = new Tally();

  /** A batch, counted `times`. A container that does not tell its parts has computed all the time. */
  add({ serviceNs, parts }: BatchRecord, times: number): void {
    if (parts === undefined) {
      this.infer.add(serviceNs * times, times);
      return;
    }
    const { waitNs, inputNs, outputNs } = parts;
    this.input.add(inputNs * times, times);
    this.infer.add(Math.max(0, serviceNs - waitNs - inputNs - outputNs) * times, times);
    this.output.add(outputNs * times, times);
  }

  shown(): object {
    return {
      compute_input: this.input.shown(),
      compute_infer: this.infer.shown(),
      compute_output: this.output.shown(),
    };
  }
}

/** Counts of one model version. */
export class ModelTally {
  private lastMs = 0;
  private inferences = 0;
  private executions = 0;
  private readonly success = new Tally();
  private readonly fail = new Tally();
  private readonly queue = new Tally();
  private readonly compute = new ComputeTally();
  private readonly cacheHit = new Tally();
  private readonly cacheMiss = new Tally();
  private readonly batches = new Map<number, ComputeTally>();

  constructor(private readonly nowMs: () => number) {}

  /** A request by the protocol is over; `ok`: answered with predictions. */
  onRequest(ok: boolean, ns: number): void {
    this.lastMs = this.nowMs();
    (ok ? this.success : this.fail).add(ns);
  }

  /** The cache was asked for a row, and gave its prediction or had it computed. */
  onLookup(isHit: boolean, ns: number): void {
    (isHit ? this.cacheHit : this.cacheMiss).add(ns);
    if (isHit) this.queue.add(0);
  }

  /** A batch that a replica has answered. What failed has been executed by nobody's definition, and is left out. */
  onBatch(batch: BatchRecord): void {
    const { size, failed, totalQueueNs, parts } = batch;
    this.lastMs = this.nowMs();
    this.queue.add(totalQueueNs + (parts?.waitNs ?? 0) * size, size);
    const answered = size - failed;
    if (answered === 0) return;
    this.inferences += answered;
    this.executions += 1;
    this.compute.add(batch, answered);
    let ofSize = this.batches.get(size);
    if (ofSize === undefined) this.batches.set(size, (ofSize = new ComputeTally()));
    ofSize.add(batch, 1);
  }

  shown(name: string, version: string): object {
    return {
      name,
      version,
      last_inference: Math.round(this.lastMs),
      inference_count: this.inferences,
      execution_count: this.executions,
      inference_stats: {
        success: this.success.shown(),
        fail: this.fail.shown(),
        queue: this.queue.shown(),
        ...this.compute.shown(),
        cache_hit: this.cacheHit.shown(),
        cache_miss: this.cacheMiss.shown(),
      },
      batch_stats: [...this.batches]
        .sort(([one], [other]) => one - other)
        .map(([batch_size, compute]) => ({ batch_size, ...compute.shown() })),
    };
  }
}

/** Counts for the protocol's statistics extension, one tally a model version. */
export class InferenceStatistics {
  private readonly tallies = new Map<string, ModelTally>();

  constructor(
    private readonly registry: RegistryView,
    private readonly nowMs: () => number,
  ) {}

  /** A batch that a replica has answered, whoever asked for it. */
  onBatch(batch: BatchRecord): void {
    this.of(batch.model, batch.version)?.onBatch(batch);
  }

  /** undefined: the version is not registered. */
  of(model: string, version: string): ModelTally | undefined {
    const key = keyOf(model, version);
    let tally = this.tallies.get(key);
    if (tally === undefined && this.registry.model(model, version) !== undefined) {
      this.tallies.set(key, (tally = new ModelTally(this.nowMs)));
    }
    return tally;
  }

  /** In the extension's form. */
  shown(models: readonly ModelRecord[]): object {
    return {
      model_stats: models.map(({ name, version }) => {
        const tally = this.tallies.get(keyOf(name, version)) ?? new ModelTally(this.nowMs);
        return tally.shown(name, version);
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
}

/** Neither names nor versions can hold a colon. */
function keyOf(model: string, version: string): string {
  return `${model}:${version}`;
}
