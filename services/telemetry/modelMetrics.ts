import type { BatchRecord, ReplicaStatus } from '../batching/index.js';
import { BATCH_SECONDS, BATCH_SIZES, FINE_SECONDS } from './buckets.js';
import { HistogramTally } from './histogramTally.js';
import { labelText, type MetricFamily, type SampleWriter } from './metricFamily.js';
import type { ModelTraffic } from './traffic.js';

const REPLICA = ['model', 'version', 'replica'] as const;

/** Containers name themselves: what has had so many replicas gets no further series, and the rest share one. */
const MOST_REPLICAS = 256;
const OTHER = 'other';

/** What one replica has done: plain numbers on the query path. */
class ReplicaTally {
  readonly labels: string;
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
    return [
      {
        name: 'windjammer_predictions_total',
        type: 'counter',
        unit: '',
        labels: [...REPLICA, 'outcome'],
        help: 'Inputs that a replica evaluated: ok or failed',
        write: (to) => {
          for (const tally of this.tallies()) {
            to.value(`${tally.labels},outcome="ok"`, tally.ok);
            if (tally.failed > 0) to.value(`${tally.labels},outcome="failed"`, tally.failed);
          }
        },
      },
      this.histogram('windjammer_batch_size', '', 'Inputs in a batch', (tally) => tally.size),
      this.histogram(
        'windjammer_batch_queue_seconds',
        'seconds',
        'The longest wait in the queue of the replica among the inputs of a batch',
        (tally) => tally.queueing,
      ),
      this.histogram(
        'windjammer_batch_service_seconds',
        'seconds',
        'A batch in its container, in the simulated time of its GPU node',
        (tally) => tally.service,
      ),
      this.histogram(
        'windjammer_batch_round_trip_seconds',
        'seconds',
        'From sending a batch to its results, as the frontend saw it',
        (tally) => tally.roundTrip,
      ),
      this.counter(
        'windjammer_replica_losses_total',
        'Times that a replica was lost or taken out of use with work in hand',
        (tally) => tally.losses,
      ),
      this.counter(
        'windjammer_requeued_inputs_total',
        'Inputs of a lost replica that others got',
        (tally) => tally.requeued,
      ),
      this.counter(
        'windjammer_protocol_errors_total',
        'Frames of a container that broke the protocol',
        (tally) => tally.protocolErrors,
      ),
      this.gauge('windjammer_replica_up', 'gauge', '', 'The replica takes batches', () => 1),
      this.gauge('windjammer_queue_depth', 'gauge', '', 'Inputs that wait for the replica', (s) => s.queued),
      this.gauge(
        'windjammer_in_flight_inputs',
        'gauge',
        '',
        'Inputs that the replica works on',
        (s) => s.inFlightItems,
      ),
      this.gauge(
        'windjammer_in_flight_batches',
        'gauge',
        '',
        'Batches that the replica works on',
        (s) => s.inFlightBatches,
      ),
      this.gauge(
        'windjammer_replica_credits',
        'gauge',
        '',
        'Batches that the replica takes beside those in flight',
        (s) => s.credits,
      ),
      this.gauge(
        'windjammer_batch_limit',
        'gauge',
        '',
        'The largest batch that is sent now',
        (s) => s.maxBatchSize,
      ),
      this.gauge(
        'windjammer_replica_busy_seconds_total',
        'counter',
        'seconds',
        'Time with a batch in flight since the replica came; its rate is how busy it is',
        (s) => s.busyNs / 1e9,
      ),
    ];
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

  private histogram(
    name: string,
    unit: MetricFamily['unit'],
    help: string,
    read: (tally: ReplicaTally) => HistogramTally,
  ): MetricFamily {
    const write = (to: SampleWriter): void => {
      for (const tally of this.tallies()) to.histogram(tally.labels, read(tally));
    };
    return { name, type: 'histogram', unit, labels: REPLICA, help, write };
  }

  private counter(name: string, help: string, read: (tally: ReplicaTally) => number): MetricFamily {
    const write = (to: SampleWriter): void => {
      for (const tally of this.tallies()) to.value(tally.labels, read(tally));
    };
    return { name, type: 'counter', unit: '', labels: REPLICA, help, write };
  }

  /** Read from the queues when somebody scrapes; a replica that is not up has no series. */
  private gauge(
    name: string,
    type: 'gauge' | 'counter',
    unit: MetricFamily['unit'],
    help: string,
    read: (status: ReplicaStatus) => number,
  ): MetricFamily {
    const write = (to: SampleWriter): void => {
      for (const status of this.replicas()) {
        const { model, version, replica } = status;
        to.value(labelText({ model, version, replica }), read(status));
      }
    };
    return { name, type, unit, labels: REPLICA, help, write };
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
