import { resolve } from 'node:path';
import {
  NodeMemory,
  loadModule,
  type DeviceAddressSpace,
  type ExecutorLaunch,
  type LoadedModule,
} from '../executor/index.js';
import {
  checkLaunch as checkLaunchLimits,
  estimateRegisters,
  profileNamed,
  staticSharedBytes,
} from '../gpu/index.js';
import {
  LaunchSpecError,
  checkLaunchSpec,
  entryOf,
  isUnwritten,
  placeSpec,
  readPtx,
  readSpec,
  requireDevice,
  type LaunchSpec,
  type PlacedBuffer,
  type SpecHost,
} from '../launchSpec/index.js';
import { parseModule, type IrFunction } from '../ptx/index.js';
import { checkLaunch, type CheckOptions, type CheckedMemory } from './checkLaunch.js';
import type { CheckReport } from './findings.js';

/** Where the blocks of a cooperative launch meet. */
const GRID_WORKSPACE_BYTES = 256;

/**
 * Checks one launch spec.
 * @param value the parsed JSON; @param baseDir where its relative `ptx` path starts.
 * @throws LaunchSpecError for a bad spec, an unreadable file, a launch that the device refuses, or blocks out of range.
 */
export function checkSpec(value: unknown, baseDir: string, options: CheckOptions): CheckReport {
  const spec = checkLaunchSpec(value);
  requireDevice(spec);
  const ptx = readPtx(resolve(baseDir, spec.ptx));
  entryOf(ptx, spec);
  requireBlocks(spec, options);
  const space = new NodeMemory().createSpace();
  const { launch, memory } = placeLaunch(spec, ptx, space);
  return checkLaunch(launch, ptx, memory, options);
}

/** Reads and checks a spec file; paths in it are relative to it. */
export function checkSpecFile(path: string, options: CheckOptions): CheckReport {
  return checkSpec(readSpec(path), resolve(path, '..'), options);
}

function placeLaunch(
  spec: LaunchSpec,
  ptx: string,
  space: DeviceAddressSpace,
): { readonly launch: ExecutorLaunch; readonly memory: CheckedMemory } {
  const module = refusing(() => loadModule(parseModule(ptx, spec.ptx), space));
  const kernel = module.ir.functions.find((fn) => fn.isEntry && fn.name === spec.kernel);
  if (kernel === undefined)
    throw new LaunchSpecError('invalidSpec', `kernel: no entry '${spec.kernel}'`, 'kernel');
  requireRunnable(spec, kernel);
  const shape = { grid: spec.grid, block: spec.block, dynamicSharedBytes: spec.dynamicSharedBytes };
  const sharedBytes = staticSharedBytes(module.ir, kernel) + spec.dynamicSharedBytes;
  refusing(() =>
    checkLaunchLimits(profileNamed(spec.device), kernel, shape, estimateRegisters(kernel), sharedBytes),
  );
  const { params, buffers } = placeSpec(spec, kernel, hostOf(module, space));
  const allocations: CheckedMemory['allocations'][number][] = [];
  const freed: CheckedMemory['freed'][number][] = [];
  for (const placed of buffers) {
    const { spec: buffer, address, bytes } = placed;
    const name = nameOf(placed, kernel);
    if (buffer.freed) freed.push({ address, bytes, name });
    else allocations.push({ address, bytes, name, isUnwritten: isUnwritten(buffer) });
  }
  const meeting = spec.cooperative
    ? { cooperative: true, gridWorkspace: space.map(GRID_WORKSPACE_BYTES, 'readWrite').virtualAddress }
    : {};
  return { launch: { module, kernel, shape, params, ...meeting }, memory: { allocations, freed } };
}

/** Memory of the executor's own, in place of the driver's. */
function hostOf(module: LoadedModule, space: DeviceAddressSpace): SpecHost {
  return {
    allocate: (bytes) => refusing(() => space.map(bytes, 'readWrite')).virtualAddress,
    write: (address, bytes) => {
      space.view(address, bytes.length).set(bytes);
    },
    free: (address) => {
      space.unmap(address);
    },
    symbols: module.ir.variables.flatMap(({ name, bytes }) => {
      const address = module.symbols.get(name);
      return address === undefined ? [] : [{ name, address, bytes }];
    }),
  };
}

function nameOf({ spec, path, arg, isArgument }: PlacedBuffer, kernel: IrFunction): string {
  if (isArgument && arg !== undefined)
    return `the buffer of argument ${arg} (\`${kernel.parameters[arg]?.name ?? '?'}\`)`;
  return `the buffer ${spec.name ?? path}`;
}

function requireRunnable({ ptx, kernel: name }: LaunchSpec, { refusal }: IrFunction): void {
  if (refusal === undefined) return;
  const { line, instruction, reason } = refusal;
  throw new LaunchSpecError(
    'refused',
    `kernel: '${name}' cannot run, ${ptx}:${line}: '${instruction}': ${reason}`,
  );
}

function requireBlocks({ grid }: LaunchSpec, { blocks }: CheckOptions): void {
  if (blocks === undefined) return;
  const all = grid[0] * grid[1] * grid[2];
  if (blocks.lo >= 0 && blocks.lo < blocks.hi && blocks.hi <= all) return;
  throw new LaunchSpecError(
    'invalidSpec',
    `blocks: [${blocks.lo}, ${blocks.hi}) is empty or not inside the grid's [0, ${all})`,
    'blocks',
  );
}

/** What the simulator refuses (device limits, memory, PTX) as the spec's error. */
function refusing<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof Error) || !/^(GpuError|MemoryError|LoadError)$/.test(error.name)) throw error;
    throw new LaunchSpecError('refused', error.message);
  }
}
