import { GpuNode } from '../../simulator/cluster/index.js';
import type {
  DriverCommand,
  DriverCompletion,
  DriverOp,
  DriverResult,
} from '../../simulator/driver/index.js';
import type { ExecutionCounters } from '../../simulator/executor/index.js';
import { checkLaunchSpec, entryOf, placeSpec, readPtx } from '../../simulator/launchSpec/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { profileNamed, type LaunchRequest } from '../../simulator/gpu/index.js';
import { REFERENCE_FOLDER, type Scenario, type ScenarioLaunch } from './concurrencyScenario.js';
import { WorkNotes, runKnown, scaledLaunch } from './knownReplay.js';
import { SampledExecutor } from './sampledExecutor.js';

/** From the first block's start to the last block's end, in microseconds since the first start of all. */
export interface Span {
  readonly startUs: number;
  readonly endUs: number;
}

export interface ReplayedLaunch extends Span {
  readonly kernel: string;
  readonly aloneUs: number;
}

export interface Replayed {
  readonly makespanUs: number;
  readonly launches: readonly ReplayedLaunch[];
}

/** How far apart the host that was measured submits launches. */
const SUBMISSION_PITCH_NS = 5000;

/** Runs measured scenarios on the simulated card. What was found of a launch alone serves all scenarios. */
export class ConcurrencyReplay {
  private readonly counted = new Map<string, ExecutionCounters>();
  private readonly lone = new Map<string, LoneLaunch>();
  private readonly given = new Map<string, LaunchRequest>();

  constructor(private readonly folder = REFERENCE_FOLDER) {}

  /** As the simulator tells it, kernels' own errors included. */
  run(scenario: Scenario): Replayed {
    return replayed(
      scenario,
      this.spansOf(scenario, scenario.launches),
      scenario.launches.map((launch) => this.alone(scenario, launch).aloneUs),
    );
  }

  /** With launches that alone take just what they took on the card: what is left of the error comes from sharing. */
  runGiven(scenario: Scenario): Replayed {
    const launches = scenario.launches.map((launch) => ({
      stream: launch.stream,
      request: { ...this.givenAlone(scenario, launch), priority: -launch.priority },
    }));
    const spans = runKnown(scenario.device, launches, SUBMISSION_PITCH_NS).map(inMicroseconds);
    return replayed(
      scenario,
      fromFirst(spans),
      scenario.launches.map(({ expect }) => expect.aloneUs),
    );
  }

  private givenAlone(scenario: Scenario, launch: ScenarioLaunch): LaunchRequest {
    const key = `${keyOf(launch)}/${launch.expect.aloneUs}`;
    const known = this.given.get(key);
    if (known !== undefined) return known;
    const { request } = this.alone(scenario, launch);
    let factor = 1;
    let scaled = request;
    for (let round = 0; round < 4; round++) {
      scaled = scaledLaunch(request, factor);
      const [{ startNs, endNs }] = runKnown(scenario.device, [{ stream: 0, request: scaled }], 0);
      factor *= (launch.expect.aloneUs * 1000) / (endNs - startNs);
    }
    this.given.set(key, scaled);
    return scaled;
  }

  private alone(scenario: Scenario, launch: ScenarioLaunch): LoneLaunch {
    const key = keyOf(launch);
    const known = this.lone.get(key);
    if (known !== undefined) return known;
    const run = new ScenarioRun(scenario, this.folder, this.counted);
    try {
      const [{ startUs, endUs }] = run.run([launch]);
      const { blocksPerCycle } = profileNamed(scenario.device).timing;
      const lone = { aloneUs: endUs - startUs, request: run.notes.request(blocksPerCycle) };
      this.lone.set(key, lone);
      return lone;
    } finally {
      run.close();
    }
  }

  private spansOf(scenario: Scenario, launches: readonly ScenarioLaunch[]): Span[] {
    const run = new ScenarioRun(scenario, this.folder, this.counted);
    try {
      return run.run(launches);
    } finally {
      run.close();
    }
  }
}

interface LoneLaunch {
  readonly aloneUs: number;
  readonly request: LaunchRequest;
}

function keyOf({ kernel, grid, block, args }: ScenarioLaunch): string {
  return JSON.stringify([kernel, grid, block, args]);
}

function replayed(scenario: Scenario, spans: readonly Span[], aloneUs: readonly number[]): Replayed {
  return {
    makespanUs: Math.max(...spans.map(({ endUs }) => endUs)),
    launches: spans.map((span, index) => ({
      ...span,
      kernel: scenario.launches[index].kernel,
      aloneUs: aloneUs[index],
    })),
  };
}

function inMicroseconds({ startNs, endNs }: { readonly startNs: number; readonly endNs: number }): Span {
  return { startUs: startNs / 1000, endUs: endNs / 1000 };
}

function fromFirst(spans: readonly Span[]): Span[] {
  const firstUs = Math.min(...spans.map(({ startUs }) => startUs));
  return spans.map(({ startUs, endUs }) => ({ startUs: startUs - firstUs, endUs: endUs - firstUs }));
}

type ArgsOf<O extends DriverOp> = Extract<DriverCommand, { op: O }>['args'];

interface Prepared {
  readonly stream: number;
  readonly args: ArgsOf<'launch'>;
}

/** One run on a node of its own: every launch's buffers first, as the measured program had them. */
class ScenarioRun {
  /** Of a run of one launch. */
  readonly notes = new WorkNotes();
  private readonly clock = new VirtualClock();
  private readonly node: GpuNode;
  private readonly results = new Map<number, DriverCompletion>();
  /** By the launch's argument bytes, which are an object of their own. */
  private readonly spans = new Map<Uint8Array, { startNs: number; endNs: number }>();
  private readonly context: number;
  private ticket = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly folder: string,
    counted: Map<string, ExecutionCounters>,
  ) {
    this.node = new GpuNode(this.clock, {
      gpus: [scenario.device],
      executor: (memory) => new SampledExecutor(memory, counted),
    });
    this.node.device(0).observe({
      onBlocksLeave: (record, group, _done, nowNs) => {
        this.notes.note(record, group);
        const { params } = record;
        const { startNs } = group;
        const span = this.spans.get(params);
        if (span === undefined) this.spans.set(params, { startNs, endNs: nowNs });
        else {
          span.startNs = Math.min(span.startNs, startNs);
          span.endNs = Math.max(span.endNs, nowNs);
        }
      },
      onSettled: () => undefined,
    });
    this.context = 0;
    this.context = this.call('contextCreate', { gpu: 0 }).handle ?? 0;
  }

  run(launches: readonly ScenarioLaunch[]): Span[] {
    const { ptx } = this.scenario;
    const text = readPtx(`${this.folder}/${ptx}`);
    const module = this.call('moduleLoad', { ptx: text, file: ptx }).handle ?? 0;
    const streams = new Map<number, number>();
    const prepared = launches.map((launch) => {
      const { kernel, grid, block, dynamicSharedBytes, args, stream, priority } = launch;
      const spec = checkLaunchSpec({
        ptx,
        kernel,
        device: this.scenario.device,
        grid,
        block,
        dynamicSharedBytes,
        args,
      });
      const { params } = placeSpec(spec, entryOf(text, spec), {
        allocate: (bytes) => this.call('malloc', { bytes }).address ?? 0,
        write: (address, bytes) => this.call('memcpyHostToDevice', { address, bytes, pinned: true }),
        free: (address) => this.call('free', { address }),
        createObject: (resource, sampler) => this.call('objectCreate', { resource, sampler }).handle ?? 0,
        symbols: [],
      });
      let handle = streams.get(stream);
      if (handle === undefined) {
        handle = this.call('streamCreate', { priority: -priority }).handle ?? 0;
        streams.set(stream, handle);
      }
      return { stream: handle, args: { module, kernel, grid, block, dynamicSharedBytes, params } };
    });
    // Caches are as an equal run before left them.
    this.submit(prepared);
    this.spans.clear();
    this.submit(prepared);
    return this.spansOf(prepared);
  }

  close(): void {
    this.node.close();
  }

  /** Until all is done. */
  private submit(prepared: readonly Prepared[]): void {
    const startNs = this.clock.nowNs();
    prepared.forEach(({ stream, args }, index) => {
      this.clock.run(startNs + index * SUBMISSION_PITCH_NS);
      this.send('launch', args, stream);
    });
    this.clock.run();
  }

  private spansOf(prepared: readonly Prepared[]): Span[] {
    const spans = prepared.map(({ args: { params, kernel } }) => {
      const span = this.spans.get(params);
      if (span === undefined) throw new Error(`'${kernel}' of '${this.scenario.name}' did not run`);
      return span;
    });
    return fromFirst(spans.map(inMicroseconds));
  }

  private send<O extends DriverOp>(op: O, args: ArgsOf<O>, stream = 0): number {
    const ticket = ++this.ticket;
    const command = { ticket, context: this.context, stream, op, args };
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    this.node.submit(command as unknown as DriverCommand, {
      onCompletion: (completion) => {
        this.results.set(completion.ticket, completion);
      },
    });
    return ticket;
  }

  private call<O extends DriverOp>(op: O, args: ArgsOf<O>): DriverResult {
    const ticket = this.send(op, args);
    while (!this.results.has(ticket) && this.clock.step());
    const completion = this.results.get(ticket);
    if (completion?.failure !== undefined) throw new Error(completion.failure.message);
    return completion?.result ?? {};
  }
}
