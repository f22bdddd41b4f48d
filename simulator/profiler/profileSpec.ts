import { dirname, resolve } from 'node:path';
import { NodeMemory, WasmExecutor } from '../executor/index.js';
import {
  LaunchSpecError,
  checkLaunchSpec,
  deviceOf,
  entryOf,
  placeOnExecutor,
  readPtx,
  readSpec,
  runLaunchSpec,
  type LaunchSpec,
} from '../launchSpec/index.js';
import { KernelTable } from './kernelTable.js';
import { profileLaunch, type LaunchProfileOptions } from './profileLaunch.js';
import type { ProfileReport } from './profileReport.js';

export interface SpecProfileOptions extends Omit<LaunchProfileOptions, 'threadInstructions'> {
  /** A card in place of the specs': its name, or a file's path. */
  readonly device?: string;
  /** Only launches of this kernel. */
  readonly kernel?: string;
  /** Told before each spec is read or profiled, so that an error can be named after it. */
  readonly onSpec?: (name: string) => void;
}

/** A parsed spec, what to call it, and where its relative `ptx` path starts. */
export interface NamedSpec {
  readonly name: string;
  readonly value: unknown;
  readonly baseDir: string;
}

/**
 * Profiles launch specs, each on a device of its own.
 * @throws LaunchSpecError for a bad spec, an unreadable file or a launch that the device refuses; a kernel's fault is part
 * of the report
 */
export function profileSpecs(specs: readonly NamedSpec[], options: SpecProfileOptions = {}): ProfileReport {
  const table = new KernelTable();
  const names = new Set<string>();
  for (const named of specs) {
    options.onSpec?.(named.name);
    const spec = checkLaunchSpec(named.value, options.device);
    names.add(spec.kernel);
    if (options.kernel !== undefined && spec.kernel !== options.kernel) continue;
    profileOne(named, spec, options, table);
  }
  if (options.kernel !== undefined && !names.has(options.kernel)) {
    throw new LaunchSpecError(
      'invalidSpec',
      `kernel: no launch of '${options.kernel}'; there are: ${[...names].join(', ')}`,
      'kernel',
    );
  }
  return table.report();
}

/** Reads and profiles spec files; paths in them are relative to them. */
export function profileSpecFiles(paths: readonly string[], options: SpecProfileOptions = {}): ProfileReport {
  const specs = paths.map((path) => {
    options.onSpec?.(path);
    return { name: path, value: readSpec(path), baseDir: resolve(path, '..') };
  });
  return profileSpecs(specs, options);
}

function profileOne(
  { name, value, baseDir }: NamedSpec,
  spec: LaunchSpec,
  options: SpecProfileOptions,
  table: KernelTable,
): void {
  const device = deviceOf(spec, baseDir);
  const path = resolve(baseDir, spec.ptx);
  const ptx = readPtx(path);
  entryOf(ptx, spec);
  // A bad launch is told before it runs.
  const memory = new NodeMemory();
  const { launch } = placeOnExecutor(spec, device, ptx, memory.createSpace());
  const [x, y, z] = spec.grid;
  options.onProgress?.({ doing: 'time', blocks: 0, ofBlocks: x * y * z, tracedThreadInstructions: 0 });
  const timing = options.onlySample === true ? undefined : timeOf(value, baseDir, options);
  const counted = profileLaunch(new WasmExecutor(memory), launch, {
    ...options,
    ...(timing === undefined ? {} : { threadInstructions: timing.ptxThreadInstructions }),
  });
  table.add(launch, counted, {
    spec: name,
    ptx,
    ptxFile: spec.ptx,
    folder: dirname(path),
    profile: device,
    ...(timing === undefined || counted.fault !== undefined
      ? {}
      : { gpuTimeUs: timing.durationUs, dramBytes: timing.dramBytes }),
  });
}

/** The launch under the timing model. @returns undefined for one that faults, which the profile tells of */
function timeOf(
  value: unknown,
  baseDir: string,
  { device, fuelPerBlock }: SpecProfileOptions,
): ReturnType<typeof runLaunchSpec> | undefined {
  try {
    return runLaunchSpec(value, baseDir, {
      ...(device === undefined ? {} : { device }),
      ...(fuelPerBlock === undefined ? {} : { node: { fuelPerBlock } }),
    });
  } catch (error) {
    if (error instanceof LaunchSpecError && error.code === 'fault') return undefined;
    throw error;
  }
}
