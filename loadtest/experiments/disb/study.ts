import { GpuNode } from '../../../simulator/cluster/index.js';
import type { DeviceProfile, PreemptionTotals } from '../../../simulator/gpu/index.js';
import type { TableModule } from '../../../simulator/kernelTable/index.js';
import { VirtualClock, type EventSink } from '../../../simulator/time/index.js';
import { mean, quantile } from '../../../simulator/statistics/index.js';
import { DisbClient } from './disbClient.js';
import { arrivalsOf, type Arrivals } from './loads.js';
import type { Workload } from './workload.js';

/** A model on the card. */
export interface ServedModel {
  readonly table: TableModule;
  readonly inputBytes: number;
  readonly outputBytes: number;
}

export interface StudySettings {
  readonly card: DeviceProfile;
  readonly models: ReadonlyMap<string, ServedModel>;
  /** Of simulated time, after which arrivals end. */
  readonly seconds: number;
  readonly seed: number;
}

export interface TaskResult {
  readonly id: string;
  readonly requests: number;
  readonly meanMs: number;
}

export interface WorkloadResult {
  readonly workload: string;
  readonly policy: string;
  /** Of all real-time requests. */
  readonly requests: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of all clients. */
  readonly requestsPerSecond: number;
  readonly bestEffortPerSecond: number;
  readonly preemptions: PreemptionTotals;
  /** Of SM-time. */
  readonly utilisation: number;
  readonly launches: number;
  readonly tasks: readonly TaskResult[];
}

/** Runs a workload's clients beside each other on one card. Real-time clients are critical, the others best effort. */
export function runWorkload(workload: Workload, policy: string, settings: StudySettings): WorkloadResult {
  return new Run(workload, policy, settings).result();
}

/** The real-time set alone. */
export function withoutBestEffort(workload: Workload): Workload {
  return { ...workload, tasks: workload.tasks.filter(({ isRealTime }) => isRealTime) };
}

class Run implements EventSink {
  private readonly clock = new VirtualClock();
  private readonly node: GpuNode;
  private readonly clients: readonly DisbClient[];
  private readonly arrivals: readonly Arrivals[];
  private readonly fromNs: number;

  constructor(
    private readonly workload: Workload,
    private readonly policy: string,
    private readonly settings: StudySettings,
  ) {
    const { card, models, seed } = settings;
    const tables = new Set([...models.values()].map(({ table }) => table));
    this.node = new GpuNode(this.clock, {
      gpus: [card],
      fidelity: 'timing',
      costs: [...tables].map(({ costs }) => costs),
      scheduling: policy,
    });
    this.arrivals = arrivalsOf(workload, seed);
    this.clients = workload.tasks.map(({ id, model, isRealTime }, index) => {
      const served = models.get(model);
      if (served === undefined) throw new Error(`${workload.name}: ${id}: no kernels of model '${model}'`);
      const client: DisbClient = new DisbClient(
        this.node,
        this.clock,
        { ...served, launchClass: isRealTime ? 'critical' : 'bestEffort', seed: seed + index },
        this.arrivals[index] === undefined ? () => client.ask() : undefined,
      );
      return client;
    });
    this.fromNs = this.clock.nowNs();
    this.clock.attach('arrivals', this);
  }

  result(): WorkloadResult {
    const { workload, policy, clients, node } = this;
    const { seconds, card } = this.settings;
    const before = node.device(0).usage();
    this.arrivals.forEach((times, index) => {
      if (times === undefined) this.clients[index].ask();
      else this.next(index);
    });
    this.clock.run(this.fromNs + seconds * 1e9);
    const { smBusyNs } = node.device(0).usage();
    const preemptions = { ...node.reading(0).preemptions };
    node.close();
    const latencies = (isRealTime: boolean): number[] =>
      clients.flatMap(({ latenciesNs }, index) =>
        workload.tasks[index].isRealTime === isRealTime ? latenciesNs : [],
      );
    const [realTime, bestEffort] = [latencies(true), latencies(false)];
    const launchesOf = (index: number): number =>
      (this.settings.models.get(workload.tasks[index].model)?.table.launches.length ?? 0) *
      clients[index].latenciesNs.length;
    return {
      workload: workload.name,
      policy,
      requests: realTime.length,
      meanMs: mean(realTime) / 1e6,
      p50Ms: quantile(realTime, 0.5) / 1e6,
      p99Ms: quantile(realTime, 0.99) / 1e6,
      requestsPerSecond: (realTime.length + bestEffort.length) / seconds,
      bestEffortPerSecond: bestEffort.length / seconds,
      preemptions,
      utilisation: (smBusyNs - before.smBusyNs) / (seconds * 1e9 * card.sms),
      launches: clients.reduce((sum, _client, index) => sum + launchesOf(index), 0),
      tasks: clients.map(({ latenciesNs }, index) => ({
        id: workload.tasks[index].id,
        requests: latenciesNs.length,
        meanMs: mean(latenciesNs) / 1e6,
      })),
    };
  }

  /** A request arrives. */
  onEvent(_kind: string, payload: unknown): void {
    const index = payload as number;
    this.clients[index].ask();
    this.next(index);
  }

  private next(index: number): void {
    const arrival = this.arrivals[index]?.next();
    if (arrival === undefined || arrival.done === true) return;
    this.clock.schedule(
      'arrivals',
      Math.max(this.clock.nowNs(), this.fromNs + arrival.value),
      'arrival',
      index,
    );
  }
}
