import { resolve } from 'node:path';
import { NodeMemory, loadModule, type DeviceAddressSpace, type ExecutorLaunch } from '../executor/index.js';
import {
  checkLaunch as checkLaunchLimits,
  estimateRegisters,
  profileNamed,
  staticSharedBytes,
} from '../gpu/index.js';
import {
  LaunchSpecError,
  PIECE_BYTES,
  checkLaunchSpec,
  elementBytes,
  entryOf,
  fillPiece,
  isUnwritten,
  packArguments,
  readPtx,
  readSpec,
  requireDevice,
  type BufferSpec,
  type LaunchSpec,
} from '../launchSpec/index.js';
import { parseModule, type IrFunction } from '../ptx/index.js';
import { checkLaunch, type CheckOptions, type CheckedMemory } from './checkLaunch.js';
import type { CheckReport } from './findings.js';

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
  const allocations: CheckedMemory['allocations'][number][] = [];
  const freed: CheckedMemory['freed'][number][] = [];
  const addresses = spec.args.map((argument, index) => {
    if (!('buffer' in argument)) return undefined;
    const { buffer } = argument;
    const address = makeBuffer(space, buffer, `args[${index}].buffer`);
    const bytes = buffer.count * elementBytes(buffer.type);
    const name = `the buffer of argument ${index} (\`${kernel.parameters[index]?.name ?? '?'}\`)`;
    if (buffer.freed) freed.push({ address, bytes, name });
    else allocations.push({ address, bytes, name, isUnwritten: isUnwritten(buffer) });
    return address;
  });
  for (const { address } of freed) space.unmap(address);
  const params = packArguments(kernel, spec.args, (index) => addresses[index]);
  return { launch: { module, kernel, shape, params }, memory: { allocations, freed } };
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

function makeBuffer(space: DeviceAddressSpace, spec: BufferSpec, field: string): number {
  const width = elementBytes(spec.type);
  const { virtualAddress } = refusing(() => space.map(spec.count * width, 'readWrite'));
  if (isUnwritten(spec)) return virtualAddress;
  const perPiece = PIECE_BYTES / width;
  for (let first = 0; first < spec.count; first += perPiece) {
    const bytes = Math.min(perPiece, spec.count - first) * width;
    fillPiece(spec, first, space.view(virtualAddress + first * width, bytes), field);
  }
  return virtualAddress;
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
