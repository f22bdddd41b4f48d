import { resolve } from 'node:path';
import { NodeMemory } from '../executor/index.js';
import {
  LaunchSpecError,
  checkLaunchSpec,
  deviceOf,
  entryOf,
  isUnwritten,
  placeOnExecutor,
  readPtx,
  readSpec,
  type LaunchSpec,
  type PlacedBuffer,
} from '../launchSpec/index.js';
import type { IrFunction } from '../ptx/index.js';
import { checkLaunch, type CheckOptions, type CheckedMemory } from './checkLaunch.js';
import type { CheckReport } from './findings.js';

export interface SpecCheckOptions extends CheckOptions {
  /** A card in place of the spec's. */
  readonly device?: string;
}

/**
 * Checks one launch spec.
 * @param value the parsed JSON; @param baseDir where its relative `ptx` path starts.
 * @throws LaunchSpecError for a bad spec, an unreadable file, a launch that the device refuses, or blocks out of range.
 */
export function checkSpec(value: unknown, baseDir: string, options: SpecCheckOptions): CheckReport {
  const spec = checkLaunchSpec(value, options.device);
  const device = deviceOf(spec, baseDir);
  const ptx = readPtx(resolve(baseDir, spec.ptx));
  entryOf(ptx, spec);
  requireBlocks(spec, options);
  const { launch, buffers } = placeOnExecutor(spec, device, ptx, new NodeMemory().createSpace());
  return checkLaunch(launch, ptx, checkedMemory(buffers, launch.kernel), options);
}

/** Reads and checks a spec file; paths in it are relative to it. */
export function checkSpecFile(path: string, options: SpecCheckOptions): CheckReport {
  return checkSpec(readSpec(path), resolve(path, '..'), options);
}

function checkedMemory(buffers: readonly PlacedBuffer[], kernel: IrFunction): CheckedMemory {
  const allocations: CheckedMemory['allocations'][number][] = [];
  const freed: CheckedMemory['freed'][number][] = [];
  for (const placed of buffers) {
    const { spec: buffer, address, bytes } = placed;
    const name = nameOf(placed, kernel);
    if (buffer.freed) freed.push({ address, bytes, name });
    else allocations.push({ address, bytes, name, isUnwritten: isUnwritten(buffer) });
  }
  return { allocations, freed };
}

function nameOf({ spec, path, arg, isArgument }: PlacedBuffer, kernel: IrFunction): string {
  if (isArgument && arg !== undefined)
    return `the buffer of argument ${arg} (\`${kernel.parameters[arg]?.name ?? '?'}\`)`;
  return `the buffer ${spec.name ?? path}`;
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
