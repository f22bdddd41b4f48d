import { resolve } from 'node:path';
import type { GpuNodeOptions } from '../cluster/index.js';
import type { LaunchReport } from '../driver/index.js';
import { GpuError, type CostDocument, type DeviceProfile } from '../gpu/index.js';
import type { IrFunction } from '../ptx/index.js';
import { Timeline } from '../timeline/index.js';
import { backToBackUs } from './backToBack.js';
import { makeDumpDirectory, readOutput } from './bufferReports.js';
import { faultOptions, faultReport, type FaultReport } from './faultFields.js';
import { LaunchSpecError } from './launchSpecError.js';
import { NodeSession } from './nodeSession.js';
import { deviceOf, entryOf, readPtx, readSpec } from './specFiles.js';
import { sampleIndices, type BufferSummary } from './outputSummary.js';
import { placeSpec } from './placement.js';
import { checkLaunchSpec, type LaunchSpec } from './schema.js';

export interface LaunchSpecOptions {
  /** A card in place of the spec's: its name, or a file's path (absolute, or from where the spec's `ptx` starts). */
  readonly device?: string;
  /** Application clocks and power limit; the card's own unless given. */
  readonly smClockHz?: number;
  readonly memoryClockHz?: number;
  readonly powerLimitWatts?: number;
  /** Also writes each reported buffer, raw and little-endian, to `<name>.bin` or `arg<k>.bin` there. */
  readonly dumpDirectory?: string;
  /** Also runs the launch four times in a graph, after its outputs were read, for `backToBackUs`. */
  readonly backToBack?: boolean;
  /** Seconds of host time, for `executorSeconds`. */
  readonly stopwatch?: () => number;
  /** Options of the node it runs on, but for the GPU. */
  readonly node?: Omit<GpuNodeOptions, 'gpus' | 'stopwatch' | 'fidelity' | 'costs'>;
  /** Gets what the launch cost, for later runs that only keep time. */
  readonly recordCosts?: (costs: CostDocument) => void;
  /** Keeps time alone: the launch is not executed but takes its work from here, and no buffer is reported. */
  readonly costs?: CostDocument;
  /** Gets a timeline of all that the node does, its copies too, in Chrome's trace event format, piece by piece. */
  readonly timeline?: (text: string) => void;
}

export interface LaunchSpecResult {
  /** The card it ran on. */
  readonly device: string;
  /** Whether that card's times were held against a real one. */
  readonly measured: boolean;
  /** Simulated duration of the kernel with caches warm from an equal launch before it, in microseconds. */
  readonly durationUs: number;
  /** From one such launch to the next in a graph, where it was asked for. */
  readonly backToBackUs?: number;
  readonly ptxThreadInstructions: number;
  readonly ptxWarpInstructions: number;
  readonly dramBytes: number;
  /** What the whole card takes meanwhile, what it takes when idle included. */
  readonly energyJoules: number;
  readonly averagePowerWatts: number;
  readonly buffers: readonly BufferSummary[];
  readonly executorSeconds: number;
  /** What the kernel's `printf` calls wrote, when it has any. */
  readonly printed?: string;
  /** What came of transient faults, where there are any or something is done about them. */
  readonly faults?: FaultReport;
}

/**
 * Runs one launch spec in virtual time and reports its outputs and duration.
 * @param value the parsed JSON; @param baseDir where its relative `ptx` path starts.
 * @throws LaunchSpecError for a bad spec, an unreadable file, a refused launch or a kernel fault.
 */
export function runLaunchSpec(
  value: unknown,
  baseDir: string,
  options: LaunchSpecOptions = {},
): LaunchSpecResult {
  const spec = checkLaunchSpec(value, options.device);
  const device = deviceOf(spec, baseDir);
  const ptx = readPtx(resolve(baseDir, spec.ptx));
  const kernel = entryOf(ptx, spec);
  // Before the launch, which may take long.
  if (options.dumpDirectory !== undefined) makeDumpDirectory(options.dumpDirectory);
  const session = new NodeSession({
    ...options.node,
    ...faultOptions(spec, options.node),
    gpus: [device],
    ...(options.costs === undefined ? {} : { fidelity: 'timing' as const, costs: [options.costs] }),
    ...(options.stopwatch === undefined ? {} : { stopwatch: options.stopwatch }),
  });
  const timeline =
    options.timeline === undefined
      ? undefined
      : new Timeline(session.node, options.timeline, { contextName: () => spec.kernel });
  try {
    setClocks(session, options);
    if (options.recordCosts !== undefined) session.node.recordCosts();
    const result = runIn(session, spec, ptx, kernel, options);
    options.recordCosts?.(session.node.recordedCosts());
    const faults = faultReport(session.node);
    return faults === undefined ? result : { ...result, faults };
  } finally {
    timeline?.end();
    session.node.close();
  }
}

/** @throws LaunchSpecError `refused` for what the card does not take */
export function setClocks(
  { node }: NodeSession,
  { smClockHz, memoryClockHz, powerLimitWatts }: LaunchSpecOptions,
): void {
  const device = node.device(0);
  try {
    if (smClockHz !== undefined) device.setClock(smClockHz);
    if (memoryClockHz !== undefined) device.setMemoryClock(memoryClockHz);
    if (powerLimitWatts !== undefined) device.setPowerLimit(powerLimitWatts);
  } catch (error) {
    if (!(error instanceof GpuError)) throw error;
    throw new LaunchSpecError('refused', error.message, error.field);
  }
}

function runIn(
  session: NodeSession,
  spec: LaunchSpec,
  ptx: string,
  kernel: IrFunction,
  { dumpDirectory, backToBack }: LaunchSpecOptions,
): LaunchSpecResult {
  const { handle: module = 0, symbols = [] } = session.call('moduleLoad', { ptx, file: spec.ptx });
  const { isDeclaredOnly } = session.node.memory;
  const { params, outputs } = placeSpec(spec, kernel, {
    allocate: (bytes) => session.call('malloc', { bytes }).address ?? 0,
    write: (address, bytes) => {
      if (!isDeclaredOnly) session.call('memcpyHostToDevice', { address, bytes, pinned: true });
    },
    free: (address) => session.call('free', { address }),
    createObject: (resource, sampler) => session.call('objectCreate', { resource, sampler }).handle ?? 0,
    symbols,
  });
  const args = {
    module,
    kernel: spec.kernel,
    grid: spec.grid,
    block: spec.block,
    dynamicSharedBytes: spec.dynamicSharedBytes,
    params,
    cooperative: spec.cooperative,
    cluster: spec.cluster,
    nonPortableCluster: spec.nonPortableCluster,
  };
  session.node.device(0).warmNextLaunch();
  const { launch } = session.call('launch', args);
  if (launch === undefined) throw new LaunchSpecError('refused', 'the launch gave no report');
  const expected = Object.keys(spec.expect?.samples ?? {}).map(Number);
  const buffers = isDeclaredOnly
    ? []
    : outputs.map((output) => {
        const indices = expected.length > 0 ? expected : sampleIndices(output.count);
        const { arg, name } = output;
        const subject = { ...(arg === undefined ? {} : { arg }), ...(name === undefined ? {} : { name }) };
        const file = name ?? `arg${arg ?? ''}`;
        return { ...subject, ...readOutput(session, output, indices, { directory: dumpDirectory, file }) };
      });
  const result = summarise(session.node.profiles[0], launch, buffers);
  return backToBack === true ? { ...result, backToBackUs: backToBackUs(session, args) } : result;
}

/** Reads and runs a spec file; paths in it are relative to it. */
export function runLaunchSpecFile(path: string, options: LaunchSpecOptions = {}): LaunchSpecResult {
  return runLaunchSpec(readSpec(path), resolve(path, '..'), options);
}

function summarise(device: DeviceProfile, launch: LaunchReport, buffers: BufferSummary[]): LaunchSpecResult {
  return {
    device: device.name,
    measured: device.measured,
    durationUs: Math.round(launch.endNs - launch.startNs) / 1000,
    ptxThreadInstructions: launch.threadInstructions,
    ptxWarpInstructions: launch.warpInstructions,
    dramBytes: launch.dramBytes,
    energyJoules: rounded(launch.energyMillijoules / 1e3),
    // Millijoules a nanosecond are megawatts.
    averagePowerWatts: rounded((launch.energyMillijoules / (launch.endNs - launch.startNs)) * 1e6),
    buffers,
    executorSeconds: launch.executorSeconds,
    ...(launch.printed === undefined ? {} : { printed: launch.printed }),
  };
}

/** To six significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(6));
}
