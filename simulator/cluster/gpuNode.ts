import {
  Driver,
  ModuleLibrary,
  SinkTable,
  type CommandSink,
  type CompletionSink,
  type DriverCommand,
  type DriverObserver,
  type DriverState,
  type Interposer,
} from '../driver/index.js';
import {
  NodeMemory,
  takeOver,
  WasmExecutor,
  type Executor,
  type NodeMemoryOptions,
  type NodeMemorySnapshot,
} from '../executor/index.js';
import {
  Agenda,
  CostLibrary,
  CostRecorder,
  GpuDevice,
  emptyDevice,
  findCard,
  type AgendaSnapshot,
  type CostDocument,
  type DeviceObserver,
  type DeviceProfile,
  type DeviceState,
} from '../gpu/index.js';
import { asksVerdicts, recoveryScheme, savePlace } from '../faults/index.js';
import type { KernelAnalysis, VerdictMetrics } from '../idempotency/index.js';
import type { Clock } from '../time/index.js';
import { ClusterError } from './clusterError.js';
import { FlowNetwork, emptyFlows, type FlowState } from './flowNetwork.js';
import type { GpuReading } from './gpuReading.js';
import { checkOptions, policyOf, type GpuNodeOptions } from './nodeOptions.js';
import type { NodePreparation } from './nodePreparation.js';
import { NodeVerdicts } from './nodeVerdicts.js';
import { stateHash } from './stateHash.js';
import { DEFAULT_TOPOLOGY, linkCapacities } from './topology.js';

/** Who watches a node: its driver, and each of its GPUs. */
export interface NodeObserver {
  readonly driver: DriverObserver;
  readonly devices: readonly DeviceObserver[];
}

/** A node at one moment; plain data, good for a structured clone. */
export interface GpuNodeSnapshot {
  readonly version: 1;
  readonly nowNs: number;
  readonly gpus: readonly string[];
  readonly memory: NodeMemorySnapshot;
  readonly driver: DriverState;
  readonly devices: readonly DeviceState[];
  readonly flows: FlowState;
  readonly agenda: AgendaSnapshot;
  readonly agendaSequence: number;
  /** Of kernels that an analyst has analysed. */
  readonly analyses?: readonly KernelAnalysis[];
}

const DEFAULT_FUEL_PER_BLOCK = 2 ** 32;

/** What depends on the host or on names of the outside, and so is no part of the simulated state. */
const OUTSIDE = new Set(['executorSeconds', 'sink']);

/**
 * One host with its GPUs: memory, executor, devices, driver and the links between them, all on one port of a clock.
 * Commands go in through `submit`; each gets one completion later, on the clock.
 */
export class GpuNode implements CommandSink {
  readonly name: string;
  readonly memory: NodeMemory;
  readonly profiles: readonly DeviceProfile[];
  private readonly agenda: Agenda;
  private readonly devices: readonly GpuDevice[];
  private readonly driver: Driver;
  private readonly flows: FlowNetwork;
  private readonly sinks = new SinkTable();
  private readonly modules: ModuleLibrary;
  /** Undefined in timing fidelity. */
  private readonly executor:
    (Executor & Partial<Pick<WasmExecutor, 'preparedKernels' | 'prepare' | 'close'>>) | undefined;
  private readonly recorder = new CostRecorder();
  private readonly verdicts: NodeVerdicts | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly options: GpuNodeOptions,
    from?: { readonly snapshot: GpuNodeSnapshot; readonly modules?: ModuleLibrary },
  ) {
    checkOptions(options);
    const topology = options.topology ?? DEFAULT_TOPOLOGY;
    this.name = options.name ?? 'node0';
    this.profiles = options.gpus.map((gpu) => (typeof gpu === 'string' ? findCard(gpu, '.').profile : gpu));
    const saved = from === undefined ? undefined : cloneState(from.snapshot);
    this.checkSnapshot(saved);
    this.memory =
      saved === undefined ? new NodeMemory(backing(options)) : NodeMemory.fromSnapshot(saved.memory);
    const isTimed = options.fidelity === 'timing';
    this.executor = isTimed
      ? undefined
      : (options.executor?.(this.memory) ?? executorOf(this.memory, options));
    this.modules = new ModuleLibrary(this.memory, from?.modules, (module, ptx) =>
      this.verdicts?.onModule(module, ptx),
    );
    this.agenda = new Agenda(clock, this.name);
    this.flows = new FlowNetwork(
      this.agenda,
      'links',
      linkCapacities(topology, this.profiles),
      saved?.flows ?? emptyFlows(clock.nowNs()),
    );
    const costs = isTimed ? new CostLibrary(options.costs ?? []) : undefined;
    const policies = this.profiles.map(() => policyOf(options));
    const { stopwatch } = options;
    const scheme = recoveryScheme(options.recovery ?? 'none');
    // Of launches that are never killed nor recovered by them nobody needs verdicts.
    this.verdicts =
      asksVerdicts(scheme) || policies.some((policy) => policy.mayKill !== undefined)
        ? new NodeVerdicts({
            costs,
            analyst: options.analyst,
            known: saved?.analyses,
            verdictCosts: options.verdictCosts,
            stopwatchNs: stopwatch === undefined ? undefined : () => stopwatch() * 1e9,
          })
        : undefined;
    this.devices = this.profiles.map(
      (profile, gpu) =>
        new GpuDevice(
          profile,
          `gpu${gpu}`,
          this.agenda,
          policies[gpu],
          {
            ...(this.executor === undefined ? {} : { executor: this.executor, recorder: this.recorder }),
            source: {
              executorLaunch: (record) => this.driver.executorLaunch(record),
              moduleIdentity: (record) => this.driver.moduleIdentity(record),
            },
            fuelPerBlock: options.fuelPerBlock ?? DEFAULT_FUEL_PER_BLOCK,
            ...(options.stopwatch === undefined ? {} : { stopwatch: options.stopwatch }),
          },
          {
            onLaunchEnd: (record) => this.driver.onLaunchEnd(record),
            onBlocksDone: (reports) => this.driver.onBlocksDone(reports),
            onLaunchKilled: (record) => this.driver.onLaunchKilled(record),
            isAtFrontEnd: (context) => this.driver.isAtFrontEnd(context),
          },
          saved?.devices[gpu] ?? emptyDevice(profile, clock.nowNs(), options.contexts),
        ),
    );
    this.driver = new Driver(
      {
        name: 'driver',
        agenda: this.agenda,
        links: this.flows,
        memory: this.memory,
        modules: this.modules,
        profiles: this.profiles,
        devices: this.devices,
        sinks: this.sinks,
        ...(costs === undefined ? {} : { costs }),
        verdicts: this.verdicts,
        holdsKilled: options.holdsKilled,
        recovery: scheme,
        saveTo: savePlace(options.saveTo ?? 'device'),
        ...(options.faults === undefined ? {} : { faults: options.faults }),
      },
      saved?.driver,
    );
    if (saved !== undefined) this.agenda.restore(saved.agenda, saved.agendaSequence);
  }

  /** Never throws and never completes inside the call. Byte arrays in the command must stay as they are until then. */
  submit(command: DriverCommand, sink: CompletionSink): void {
    this.driver.submit(command, sink);
  }

  /** Puts an interposer in front of the driver and of the interposers before it. A copy of the node has none. */
  interpose(interposer: Interposer): void {
    this.driver.interpose(interposer);
  }

  /** Names a sink, so that a copy of the node can attach its own in its place. */
  attachSink(name: string, sink: CompletionSink): void {
    this.sinks.attach(name, sink);
  }

  /** Device-wide SM frequency; running blocks go on at the new pace. */
  setClock(gpu: number, clockHz: number): void {
    this.device(gpu).setClock(clockHz);
  }

  /**
   * Leaves a context this part of its GPU's SMs, in percent, as MPS does by its percentage of active threads; for launches
   * that come later. @throws GpuError `invalidShare`, ClusterError `unknownContext`
   */
  giveShare(context: number, percentage: number): void {
    const gpu = this.driver.state.contexts.get(context)?.gpu;
    if (gpu === undefined) {
      throw new ClusterError('unknownContext', `context: this node has no context ${context}`);
    }
    this.device(gpu).contexts.giveShare(context, percentage);
  }

  /** The device itself, for schedulers and calibration. @throws ClusterError `unknownGpu`. */
  device(gpu: number): GpuDevice {
    const device = this.devices[gpu];
    if (device === undefined) {
      throw new ClusterError('unknownGpu', `gpu: ${gpu}; this node has GPUs 0 to ${this.devices.length - 1}`);
    }
    return device;
  }

  /** Simulated. */
  nowNs(): number {
    return this.clock.nowNs();
  }

  /**
   * To be asked when nothing is due any more and commands have not completed. @throws GpuError `invalidDecision` when a scheduling
   * policy holds launches back, naming both
   */
  refuseHeld(): void {
    for (const device of this.devices) device.refuseHeld();
  }

  /** What a GPU is doing, and has done since the node was made. Looking changes nothing that is simulated. */
  reading(gpu: number): GpuReading {
    const device = this.device(gpu);
    const { contexts: open, usedBytes } = this.driver.state;
    const { contexts, ...usage } = device.usage((context) => open.has(context));
    const warpNs = new Map(contexts.map((each) => [each.context, each.warpNs]));
    return {
      ...usage,
      gpu,
      profile: device.profile.name,
      sensors: device.readings(),
      usedBytes: usedBytes[gpu],
      copies: this.driver.copyUsage(gpu),
      preemptions: device.preemptions(),
      faults: this.driver.faultTotals(gpu),
      launches: device.state.launches.size,
      launched: device.state.nextLaunch - 1,
      contexts: [...open.values()]
        .filter((context) => context.gpu === gpu)
        .map(({ id, allocations, ownBytes, streams }) => ({
          context: id,
          warpNs: warpNs.get(id) ?? 0,
          usedBytes: ownBytes + sum(allocations.values()),
          queued: sum([...streams.values()].map(({ queue }) => queue.length)),
        })),
    };
  }

  /** What an analyst has found: launches of kernels with that content are judged by it, those under way among them. */
  takeAnalysis(analysis: KernelAnalysis): void {
    this.verdicts?.take(analysis);
    this.driver.onAnalysis();
  }

  /** What was found of launches and their kernels; undefined where the scheduling policy never kills. */
  verdictMetrics(): VerdictMetrics | undefined {
    return this.verdicts?.metrics;
  }

  /** One observer at a time watches commands and devices; undefined: none. */
  observe(observer: NodeObserver | undefined): void {
    this.driver.observe(observer?.driver);
    this.devices.forEach((device, gpu) => device.observe(observer?.devices[gpu]));
  }

  /** From now on keeps what launches cost, for a node in timing fidelity. @throws ClusterError in timing fidelity itself */
  recordCosts(): void {
    if (this.executor === undefined) {
      throw new ClusterError(
        'invalidOption',
        'recordCosts: a node in timing fidelity runs nothing that could be recorded',
      );
    }
    this.recorder.start();
  }

  /** What has been recorded on a GPU's kind of card. */
  recordedCosts(gpu = 0): CostDocument {
    return this.recorder.document(this.device(gpu).profile.name);
  }

  snapshot(): GpuNodeSnapshot {
    for (const device of this.devices) device.save();
    return cloneState({
      version: 1 as const,
      nowNs: this.clock.nowNs(),
      gpus: this.gpuNames(),
      memory: this.memory.snapshot(),
      driver: this.driver.state,
      devices: this.devices.map((device) => device.state),
      flows: this.flows.state,
      agenda: this.agenda.snapshot(),
      agendaSequence: this.agenda.sequence,
      ...this.analyses(),
    });
  }

  /**
   * A node in the state of a snapshot, on a clock that stands at the snapshot's time and has no port of its name.
   * @throws ClusterError `snapshotMismatch`.
   */
  static restore(clock: Clock, options: GpuNodeOptions, snapshot: GpuNodeSnapshot): GpuNode {
    return new GpuNode(clock, options, { snapshot });
  }

  /** An independent copy that goes on from here: memory copied, pending events on the new clock. Sinks stay behind. */
  fork(clock: Clock): GpuNode {
    return new GpuNode(clock, this.options, { snapshot: this.snapshot(), modules: this.modules });
  }

  /** SHA-256 over functional and timing state: memory, driver, devices, links, pending events, time. */
  hash(): string {
    for (const device of this.devices) device.save();
    return stateHash(
      {
        memory: this.memory.hash(),
        nowNs: this.clock.nowNs(),
        driver: this.driver.state,
        devices: this.devices.map((device) => device.state),
        flows: this.flows.state,
        agenda: this.agenda.snapshot(),
        ...this.analyses(),
      },
      OUTSIDE,
    );
  }

  /** What this node has worked out, for nodes in other threads. */
  preparation(): NodePreparation {
    return {
      modules: this.modules.lowered(),
      kernels: this.executor?.preparedKernels?.() ?? [],
      profiles: new Map(this.devices.map((device) => [device.profile.name, device.state.profiles])),
    };
  }

  /** Takes over what another node has worked out. */
  takeOver({ modules, kernels, profiles }: NodePreparation): void {
    this.modules.takeOver(modules);
    takeOver(kernels);
    for (const device of this.devices) {
      const made = profiles.get(device.profile.name);
      if (made !== undefined) device.takeOverProfiles(made);
    }
  }

  /** Leaves the clock and ends the node's threads; commands in flight never complete. */
  close(): void {
    this.agenda.close();
    this.executor?.close?.();
  }

  private analyses(): Pick<GpuNodeSnapshot, 'analyses'> {
    const analyses = this.verdicts?.taken();
    return analyses === undefined ? {} : { analyses };
  }

  private gpuNames(): string[] {
    return this.profiles.map(({ name }) => name);
  }

  private checkSnapshot(saved: GpuNodeSnapshot | undefined): void {
    if (saved === undefined) return;
    if ((saved.version as number) !== 1) {
      throw new ClusterError('snapshotMismatch', `snapshot: version ${String(saved.version)}, expected 1`);
    }
    const names = this.gpuNames();
    if (saved.gpus.join() !== names.join()) {
      throw new ClusterError(
        'snapshotMismatch',
        `snapshot: taken of GPUs ${saved.gpus.join(', ')}, but the node has ${names.join(', ')}`,
      );
    }
    if (saved.memory.isDeclaredOnly !== (this.options.fidelity === 'timing')) {
      const fidelity = saved.memory.isDeclaredOnly ? 'timing' : 'functional';
      throw new ClusterError(
        'snapshotMismatch',
        `snapshot: taken in fidelity '${fidelity}', but the node has the other`,
      );
    }
    if (saved.nowNs !== this.clock.nowNs()) {
      throw new ClusterError(
        'snapshotMismatch',
        `clock: it stands at ${this.clock.nowNs()} ns, the snapshot at ${saved.nowNs}; start it there`,
      );
    }
  }
}

function executorOf(memory: NodeMemory, { threads = 1, maker }: GpuNodeOptions): WasmExecutor {
  return new WasmExecutor(memory, { threads, ...(maker === undefined ? {} : { maker }) });
}

/** A deep copy of all but the memory's part, which is a copy already and may be large. */
function cloneState(snapshot: GpuNodeSnapshot): GpuNodeSnapshot {
  const { memory, ...state } = snapshot;
  return { ...structuredClone(state), memory };
}

function sum(amounts: Iterable<number>): number {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
}

function backing({ backingBytes, fidelity, guard }: GpuNodeOptions): NodeMemoryOptions {
  if (fidelity === 'timing') return { isDeclaredOnly: true, guard };
  return { backingBytes, guard };
}
