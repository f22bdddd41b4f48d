import { layoutLocal } from '../executor/index.js';
import {
  checkedNeeds,
  launchCluster,
  estimateRegisters,
  GpuError,
  occupancyLimits,
  staticSharedBytes,
  type DeviceProfile,
  type OccupancyLimit,
} from '../gpu/index.js';
import { registerPressure, type IrFunction, type IrModule, type IrOperand } from '../ptx/index.js';
import type {
  DisassembledFunction,
  DisassemblyOptions,
  LaunchOccupancy,
  LaunchRefusal,
  MemoryNeed,
} from './disassembly.js';

const DEFAULT_THREADS = 256;

/** What a function as it is executed takes of a thread, a block and an SM. */
export function describeResources(
  fn: IrFunction,
  module: IrModule,
  profile: DeviceProfile,
  options: DisassemblyOptions,
): Pick<DisassembledFunction, 'registers' | 'memory' | 'occupancy'> {
  const pressure = registerPressure(fn);
  const memory = memoryNeed(fn, module, options.dynamicSharedBytes ?? 0);
  return {
    registers: {
      virtual: fn.registers.length,
      live: pressure.all,
      liveVarying: pressure.varying,
      perThread: estimateRegisters(fn, profile),
    },
    memory,
    ...(fn.isEntry ? { occupancy: launchOccupancy(fn, module, profile, options) } : {}),
  };
}

function memoryNeed(fn: IrFunction, module: IrModule, dynamicSharedBytes: number): MemoryNeed {
  const used = symbolsOf(fn);
  const bytesIn = (space: string): number =>
    module.variables
      .filter((variable) => variable.space === space && used.has(variable.name))
      .reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    staticSharedBytes: staticSharedBytes(module, fn),
    dynamicSharedBytes,
    localBytes: layoutLocal(fn).bytes,
    constBytes: bytesIn('const'),
    globalBytes: bytesIn('global'),
  };
}

function symbolsOf(fn: IrFunction): Set<string> {
  const found = new Set<string>();
  const visit = (operand: IrOperand): void => {
    if (operand.kind === 'symbol') found.add(operand.name);
    else if (operand.kind === 'address' && typeof operand.base === 'string') found.add(operand.base);
    else if (operand.kind === 'vector') operand.elements.forEach(visit);
  };
  for (const { sources } of fn.instructions) sources.forEach(visit);
  return found;
}

function launchOccupancy(
  fn: IrFunction,
  module: IrModule,
  profile: DeviceProfile,
  { block: asked, dynamicSharedBytes = 0 }: DisassemblyOptions,
): LaunchOccupancy | LaunchRefusal {
  const [x = DEFAULT_THREADS, y = 1, z = 1] = asked ?? fn.directives['reqntid'] ?? [];
  const cluster = launchCluster(fn, fn.directives['explicitcluster'] === undefined ? undefined : [1, 1, 1]);
  const shape = {
    grid: cluster ?? [1, 1, 1],
    block: [x, y, z],
    dynamicSharedBytes,
    cluster,
    nonPortableCluster: true,
  } as const;
  let block;
  try {
    ({ block } = checkedNeeds(profile, module, fn, shape));
  } catch (error) {
    if (error instanceof GpuError) return { refused: error.message };
    throw error;
  }
  const limits = occupancyLimits(profile, block);
  const blocksPerSm = Math.min(...Object.values(limits));
  const warpsPerSm = blocksPerSm * block.warps;
  return {
    threads: block.threads,
    warps: block.warps,
    blocksPerSm,
    warpsPerSm,
    share: warpsPerSm / profile.limits.warpsPerSm,
    boundBy: (Object.keys(limits) as OccupancyLimit[]).filter((limit) => limits[limit] === blocksPerSm),
    limits,
  };
}
