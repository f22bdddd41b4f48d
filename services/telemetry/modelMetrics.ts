import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BatchRecord, ReplicaStatus } from '../batching/index.js';
import { LATENCY_BUCKETS_SECONDS, removeSeries } from './queryMetrics.js';

const REPLICA = ['model', 'version', 'replica'] as const;
type ReplicaLabel = (typeof REPLICA)[number];

/** 10 us to 10 s: the service of a batch on the GPU and its wait before it. */
const SERVICE_BUCKETS_SECONDS = [
  0.00001,
  0.00002,
  0.00005,
  0.0001,
  0.0002,
  ...LATENCY_BUCKETS_SECONDS.slice(0, -1),
];

/** Metrics by model, version and replica; they go when the version is deleted. */
export class ModelMetrics {
  private readonly predictions: Counter<ReplicaLabel | 'outcome'>;
  private readonly batchSize: Histogram<ReplicaLabel>;
  private readonly queueing: Histogram<ReplicaLabel>;
  private readonly service: Histogram<ReplicaLabel>;
  private readonly roundTrip: Histogram<ReplicaLabel>;
  private readonly losses: Counter<ReplicaLabel>;
  private readonly protocolErrors: Counter<ReplicaLabel>;

  constructor(registry: Registry, replicas: () => readonly ReplicaStatus[]) {
    const registers = [registry];
    const labelNames = [...REPLICA];
    const buckets = SERVICE_BUCKETS_SECONDS;
    this.predictions = new Counter({
      name: 'windjammer_predictions_total',
      help: 'Inputs that a replica evaluated, by outcome',
      labelNames: [...REPLICA, 'outcome'],
      registers,
    });
    this.batchSize = new Histogram({
      name: 'windjammer_batch_size',
      help: 'Inputs in a batch',
      labelNames,
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096],
      registers,
    });
    this.queueing = new Histogram({
      name: 'windjammer_batch_queue_seconds',
      help: 'The longest wait of a batch’s inputs in the queue of the replica',
      labelNames,
      buckets,
      registers,
    });
    this.service = new Histogram({
      name: 'windjammer_batch_service_seconds',
      help: 'A batch in its container, in the simulated time of its GPU node',
      labelNames,
      buckets,
      registers,
    });
    this.roundTrip = new Histogram({
      name: 'windjammer_batch_round_trip_seconds',
      help: 'From sending a batch to its results, as the frontend saw it',
      labelNames,
      buckets,
      registers,
    });
    this.losses = new Counter({
      name: 'windjammer_replica_losses_total',
      help: 'Times that a replica was lost',
      labelNames,
      registers,
    });
    this.protocolErrors = new Counter({
      name: 'windjammer_protocol_errors_total',
      help: 'Frames of a container that broke the protocol',
      labelNames,
      registers,
    });
    this.addGauges(registers, replicas);
  }

  onBatch(record: BatchRecord): void {
    const labels = { model: record.model, version: record.version, replica: record.replica };
    this.predictions.inc({ ...labels, outcome: 'ok' }, record.size - record.failed);
    if (record.failed > 0) this.predictions.inc({ ...labels, outcome: 'failed' }, record.failed);
    this.batchSize.observe(labels, record.size);
    this.queueing.observe(labels, record.longestQueueNs / 1e9);
    this.service.observe(labels, record.serviceNs / 1e9);
    this.roundTrip.observe(labels, record.roundTripNs / 1e9);
  }

  onReplicaDown(model: string, version: string, replica: string): void {
    this.losses.inc({ model, version, replica });
  }

  onProtocolError(model: string, version: string, replica: string): void {
    this.protocolErrors.inc({ model, version, replica });
  }

  /** Drops the series of a model version that is gone. */
  forget(model: string, version: string): void {
    const metrics = [
      this.predictions,
      this.batchSize,
      this.queueing,
      this.service,
      this.roundTrip,
      this.losses,
      this.protocolErrors,
    ] as const;
    for (const metric of metrics) void removeSeries(metric, { model, version });
  }

  /** Read from the queues when somebody scrapes; a replica that is not up has no series. */
  private addGauges(registers: Registry[], replicas: () => readonly ReplicaStatus[]): void {
    const gauges: readonly (readonly [
      name: string,
      help: string,
      read: (status: ReplicaStatus) => number,
    ])[] = [
      ['windjammer_replica_up', 'The replica takes batches', () => 1],
      ['windjammer_queue_depth', 'Inputs that wait for the replica', (status) => status.queued],
      ['windjammer_in_flight_inputs', 'Inputs that the replica works on', (status) => status.inFlightItems],
      ['windjammer_batch_limit', 'The largest batch that is sent now', (status) => status.maxBatchSize],
    ];
    for (const [name, help, read] of gauges) {
      new Gauge({
        name,
        help,
        labelNames: [...REPLICA],
        registers,
        collect() {
          this.reset();
          for (const status of replicas()) {
            const { model, version, replica } = status;
            this.set({ model, version, replica }, read(status));
          }
        },
      });
    }
  }
}
