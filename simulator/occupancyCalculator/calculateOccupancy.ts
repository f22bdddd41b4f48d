import { resolve } from 'node:path';
import {
  activeClusters,
  blockFootprint,
  checkedNeeds,
  GpuError,
  launchCluster,
  occupancy,
  occupancyLimits,
  type BlockFootprint,
  type DeviceProfile,
  type OccupancyLimit,
} from '../gpu/index.js';
import {
  checkLaunchSpec,
  deviceOf,
  entryOf,
  LaunchSpecError,
  readPtx,
  readSpec,
  type LaunchSpec,
} from '../launchSpec/index.js';
import { lowerModule, parseModule, type IrFunction, type IrModule } from '../ptx/index.js';
import type { BlockSizeRow, LimitRow, OccupancyReport } from './occupancyReport.js';

/** What is asked about a spec's launch in place of what it says. */
export interface OccupancyQuestion {
  /** A card: its name, or a file's path. */
  readonly device?: string;
  /** Registers a thread, in place of the estimate: what `ptxas -v` says. */
  readonly registers?: number;
  readonly block?: readonly [number, number, number];
  readonly dynamicSharedBytes?: number;
  /** Share of the SM's memory, in percent of the most, that the launch prefers as shared memory. */
  readonly carveoutPercent?: number;
}

/** Block sizes that are compared. */
const BLOCK_SIZES = [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

/** Reads a spec file; paths in it are relative to it. @throws LaunchSpecError, as `calculateOccupancy` does */
export function calculateOccupancyFile(path: string, question: OccupancyQuestion = {}): OccupancyReport {
  return calculateOccupancy(readSpec(path), resolve(path, '..'), question);
}

/**
 * What the occupancy API of a card's driver answers for a spec's launch, and why. Nothing runs.
 * @throws LaunchSpecError for a bad spec, an unreadable file, and a launch that the device refuses
 */
export function calculateOccupancy(
  value: unknown,
  baseDir: string,
  question: OccupancyQuestion = {},
): OccupancyReport {
  const spec = changed(checkLaunchSpec(value, question.device), question);
  const profile = deviceOf(spec, baseDir);
  const ptx = readPtx(resolve(baseDir, spec.ptx));
  entryOf(ptx, spec);
  const module = lowerModule(parseModule(ptx, spec.ptx));
  const kernel = runnable(module, spec);
  const threads = product(spec.block);
  requireRegisters(profile, question.registers);
  const { grid, block, dynamicSharedBytes, nonPortableCluster } = spec;
  const cluster = refusing(() => launchCluster(kernel, spec.cluster));
  const shape = { grid, block, dynamicSharedBytes, cluster, nonPortableCluster };
  const needs = refusing(() => checkedNeeds(profile, module, kernel, shape, question.registers));
  const { registersPerThread: registers, sharedBytes, block: footprint } = needs;
  const carveout = question.carveoutPercent;
  const found = occupancy(profile, footprint, carveout);
  const limits = limitRows(profile, footprint, carveout);
  const blocks = product(grid);
  const size = cluster === undefined ? undefined : product(cluster);
  const active = activeClusters(profile, found.blocksPerSm, size ?? 1);
  return {
    kernel: spec.kernel,
    ptxFile: spec.ptx,
    device: profile.name,
    grid,
    block,
    threads,
    warps: footprint.warps,
    registersPerThread: registers,
    registers: question.registers === undefined ? 'estimated' : 'given',
    staticSharedBytes: needs.staticSharedBytes,
    dynamicSharedBytes,
    ...(carveout === undefined ? {} : { carveoutPercent: carveout }),
    blocksPerSm: found.blocksPerSm,
    warpsPerSm: found.warpsPerSm,
    mostWarpsPerSm: profile.limits.warpsPerSm,
    share: found.share,
    boundBy: limits.filter((row) => row.blocksPerSm === found.blocksPerSm).map(({ limit }) => limit),
    limits,
    sharedConfigurationBytes: found.sharedConfigurationBytes,
    l1Bytes: found.l1Bytes,
    ...(size === undefined ? {} : { cluster: { blocks: size, active } }),
    sms: profile.sms,
    blocks,
    waves: active === 0 ? 0 : blocks / (active * (size ?? 1)),
    byBlockSize: blockSizes(profile, registers, sharedBytes, carveout),
  };
}

function changed(spec: LaunchSpec, { block, dynamicSharedBytes }: OccupancyQuestion): LaunchSpec {
  return {
    ...spec,
    ...(block === undefined ? {} : { block: [block[0], block[1], block[2]] }),
    ...(dynamicSharedBytes === undefined ? {} : { dynamicSharedBytes }),
  };
}

function runnable(module: IrModule, spec: LaunchSpec): IrFunction {
  const kernel = module.functions.find((fn) => fn.isEntry && fn.name === spec.kernel);
  if (kernel === undefined)
    throw new LaunchSpecError('invalidSpec', `kernel: no entry '${spec.kernel}'`, 'kernel');
  if (kernel.refusal === undefined) return kernel;
  const { line, instruction, reason } = kernel.refusal;
  throw new LaunchSpecError(
    'refused',
    `kernel: '${spec.kernel}' cannot run, ${spec.ptx}:${line}: '${instruction}': ${reason}`,
    'kernel',
  );
}

function requireRegisters(profile: DeviceProfile, given = 0): void {
  const most = profile.limits.registersPerThread;
  if (given <= most) return;
  throw new LaunchSpecError(
    'refused',
    `registers: ${given} a thread; the limit is ${most} on ${profile.name}`,
    'registers',
  );
}

function limitRows(profile: DeviceProfile, block: BlockFootprint, carveout: number | undefined): LimitRow[] {
  const { limits } = profile;
  const { sharedConfigurationBytes } = occupancy(profile, block, carveout);
  const fits = occupancyLimits(profile, block, carveout);
  const row = (limit: OccupancyLimit, blockTakes: number, smHas: number): LimitRow => ({
    limit,
    blockTakes,
    smHas,
    blocksPerSm: fits[limit],
  });
  return [
    row('threads', block.threads, limits.threadsPerSm),
    row('warps', block.warps, limits.warpsPerSm),
    row('registers', block.registers, limits.registersPerSm),
    row(
      'shared',
      block.sharedBytes,
      carveout === undefined ? limits.sharedPerSmBytes : sharedConfigurationBytes,
    ),
    row('blocks', 1, limits.blocksPerSm),
  ];
}

function blockSizes(
  profile: DeviceProfile,
  registers: number,
  sharedBytes: number,
  carveout: number | undefined,
): BlockSizeRow[] {
  return BLOCK_SIZES.filter((threads) => threads <= profile.limits.threadsPerBlock).map((threads) => {
    const footprint = blockFootprint(profile, threads, registers, sharedBytes);
    const { blocksPerSm, warpsPerSm, share } = occupancy(profile, footprint, carveout);
    return { threads, blocksPerSm, warpsPerSm, share };
  });
}

function refusing<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof GpuError)) throw error;
    throw new LaunchSpecError('refused', error.message, error.field);
  }
}

function product([x, y, z]: readonly [number, number, number]): number {
  return x * y * z;
}
