import type { BatchRecord, ReplicaStatus } from '../batching/index.js';
import { BATCH_SECONDS, BATCH_SIZES, FINE_SECONDS } from './buckets.js';
import { HistogramTally } from './histogramTally.js';
import { MODEL_METRICS } from '../metrics/index.js';
import {
  familiesOf,
  labelText,
  withLabels,
  type HistogramWriter,
  type LabelText,
  type MetricFamily,
  type ValueWriter,
} from './metricFamily.js';
import type { ModelTraffic } from './traffic.js';

type Replica = 'model' | 'version' | 'replica';

/** Containers name themselves: what has had so many replicas gets no further series, and the rest share one. */
const MOST_REPLICAS = 256;
const OTHER = 'other';

/** What one replica has done: plain numbers on the query path. */
class ReplicaTally {
  readonly labels: LabelText<Replica>;
  ok = 0;
  failed = 0;
  losses = 0;
  requeued = 0;
  protocolErrors = 0;
  readonly size = new HistogramTally(BATCH_SIZES);
  readonly queueing = new HistogramTally(BATCH_SECONDS);
  readonly service = new HistogramTally(BATCH_SECONDS);
  readonly roundTrip = new HistogramTally(BATCH_SECONDS);

  constructor(model: string, version: string, replica: string) {
    this.labels = labelText({ model, version, replica });
  }
}

/** What the replicas of a version have done, each and together. */
class VersionTally implements ModelTraffic {
  batches = 0;
  inputs = 0;
  readonly latency = new HistogramTally(FINE_SECONDS);
  readonly replicas = new Map<string, ReplicaTally>();

  constructor(
    readonly model: string,
    readonly version: string,
  ) {}
}

/**
 * Metrics by model, version and replica. They exist for versions that are registered, and go when one is deleted: what its
 * replicas still answer then is not counted.
 */
export class ModelMetrics {
  /** By `model:version`; neither names nor versions can hold a colon. */
  private readonly versions = new Map<string, VersionTally>();

  constructor(
    private readonly isRegistered: (model: string, version: string) => boolean,
    private readonly replicas: () => readonly ReplicaStatus[],
  ) {}

  onBatch(record: BatchRecord): void {
    const of = this.version(record.model, record.version);
    if (of === undefined) return;
    of.batches += 1;
    of.inputs += record.size;
    of.latency.observe((record.longestQueueNs + record.roundTripNs) / 1e9);
    const tally = replicaTally(of, record.replica);
    tally.ok += record.size - record.failed;
    tally.failed += record.failed;
    tally.size.observe(record.size);
    tally.queueing.observe(record.longestQueueNs / 1e9);
    tally.service.observe(record.serviceNs / 1e9);
    tally.roundTrip.observe(record.roundTripNs / 1e9);
  }

  onReplicaDown(model: string, version: string, replica: string): void {
    const tally = this.tally(model, version, replica);
    if (tally !== undefined) tally.losses += 1;
  }

  onRequeued(model: string, version: string, replica: string, inputs: number): void {
    const tally = this.tally(model, version, replica);
    if (tally !== undefined) tally.requeued += inputs;
  }

  onProtocolError(model: string, version: string, replica: string): void {
    const tally = this.tally(model, version, replica);
    if (tally !== undefined) tally.protocolErrors += 1;
  }

  /** Versions that have series. */
  known(): Iterable<string> {
    return this.versions.keys();
  }

  /** Of every version that has had a batch. */
  traffic(): Iterable<ModelTraffic> {
    return this.versions.values();
  }

  /** Drops the series of a model version that is gone. */
  forget(model: string, version: string): void {
    this.versions.delete(`${model}:${version}`);
  }

  families(): readonly MetricFamily[] {
    return familiesOf(MODEL_METRICS, {
      windjammer_predictions_total: (to) => {
        for (const { labels, ok, failed } of this.tallies()) {
          to.value(withLabels(labels, { outcome: 'ok' }), ok);
          if (failed > 0) to.value(withLabels(labels, { outcome: 'failed' }), failed);
        }
      },
      windjammer_batch_size: this.histogram((tally) => tally.size),
      windjammer_batch_queue_seconds: this.histogram((tally) => tally.queueing),
      windjammer_batch_service_seconds: this.histogram((tally) => tally.service),
      windjammer_batch_round_trip_seconds: this.histogram((tally) => tally.roundTrip),
      windjammer_replica_losses_total: this.counter((tally) => tally.losses),
      windjammer_requeued_inputs_total: this.counter((tally) => tally.requeued),
      windjammer_protocol_errors_total: this.counter((tally) => tally.protocolErrors),
      windjammer_replica_up: this.present(() => 1),
      windjammer_queue_depth: this.present((s) => s.queued),
      windjammer_in_flight_inputs: this.present((s) => s.inFlightItems),
      windjammer_in_flight_batches: this.present((s) => s.inFlightBatches),
      windjammer_replica_credits: this.present((s) => s.credits),
      windjammer_batch_limit: this.present((s) => s.maxBatchSize),
      windjammer_replica_busy_seconds_total: this.present((s) => s.busyNs / 1e9),
    });
  }

  private *tallies(): IterableIterator<ReplicaTally> {
    for (const { replicas } of this.versions.values()) yield* replicas.values();
  }

  private tally(model: string, version: string, replica: string): ReplicaTally | undefined {
    const of = this.version(model, version);
    return of && replicaTally(of, replica);
  }

  private version(model: string, version: string): VersionTally | undefined {
    const key = `${model}:${version}`;
    let tally = this.versions.get(key);
    if (tally !== undefined || !this.isRegistered(model, version)) return tally;
    tally = new VersionTally(model, version);
    this.versions.set(key, tally);
    return tally;
  }

  private histogram(read: (tally: ReplicaTally) => HistogramTally) {
    return (to: HistogramWriter<Replica>): void => {
      for (const tally of this.tallies()) to.histogram(tally.labels, read(tally));
    };
  }

  private counter(read: (tally: ReplicaTally) => number) {
    return (to: ValueWriter<Replica>): void => {
      for (const tally of this.tallies()) to.value(tally.labels, read(tally));
    };
  }

  /** Read from the queues when somebody scrapes; a replica that is not up has no series. */
  private present(read: (status: ReplicaStatus) => number) {
    return (to: ValueWriter<Replica>): void => {
      for (const status of this.replicas()) {
        const { model, version, replica } = status;
        to.value(labelText({ model, version, replica }), read(status));
      }
    };
  }
}

function replicaTally({ model, version, replicas }: VersionTally, replica: string): ReplicaTally {
  const known = replicas.get(replica);
  if (known !== undefined) return known;
  const name = replicas.size < MOST_REPLICAS ? replica : OTHER;
  let tally = replicas.get(name);
  if (tally === undefined) replicas.set(name, (tally = new ReplicaTally(model, version, name)));
  return tally;
}
