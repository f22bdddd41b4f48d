import { NODE_MEMORY_BYTES } from '../../simulator/executor/index.js';
import { checkedNeeds, GpuError, type DeviceProfile } from '../../simulator/gpu/index.js';
import type { IrModule } from '../../simulator/ptx/index.js';
import { deviceRegions, FieldError } from './deviceLayout.js';
import { planLaunches } from './launchPlan.js';
import type { KernelModelManifest } from './manifest.js';
import { BATCHES_IN_FLIGHT } from './manifestCheck.js';

const MIB = 2 ** 20;

/**
 * Holds a model to the GPUs that there are: its arrays with all batches in flight, and the blocks of its launches, with their registers, for
 * the smallest and the largest batch.
 * @throws FieldError naming what no GPU can hold, and of which the last one asked has how much.
 */
export function checkDeviceFit(
  manifest: KernelModelManifest,
  modules: ReadonlyMap<string, IrModule>,
  gpus: readonly DeviceProfile[],
): void {
  let misfit: FieldError | undefined;
  for (const gpu of gpus) {
    misfit = memoryMisfit(manifest, gpu) ?? launchMisfit(manifest, modules, gpu);
    if (misfit === undefined) return;
  }
  if (misfit !== undefined) throw misfit;
}

function memoryMisfit(manifest: KernelModelManifest, gpu: DeviceProfile): FieldError | undefined {
  const { declaredBytes } = gpu.memory;
  const limitBytes = Math.min(declaredBytes, NODE_MEMORY_BYTES);
  let total = 0;
  let largest = { name: '', kind: 'buffer', bytes: 0 };
  for (const region of deviceRegions(manifest)) {
    const bytes = region.kind === 'weight' ? region.bytes : BATCHES_IN_FLIGHT * region.bytes;
    total += bytes;
    if (bytes > largest.bytes) largest = { ...region, bytes };
  }
  if (total <= limitBytes) return undefined;
  const mib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;
  const has =
    declaredBytes <= NODE_MEMORY_BYTES
      ? `${gpu.name} has ${mib(declaredBytes)}`
      : `a simulated ${gpu.name} holds ${mib(NODE_MEMORY_BYTES)}`;
  return new FieldError(
    `${largest.kind}s '${largest.name}'`,
    `all arrays with ${BATCHES_IN_FLIGHT} batches of ${manifest.maxBatchSize} in flight take ${mib(total)}, ${mib(largest.bytes)} of them this one: ${has}`,
  );
}

function launchMisfit(
  manifest: KernelModelManifest,
  modules: ReadonlyMap<string, IrModule>,
  gpu: DeviceProfile,
): FieldError | undefined {
  for (const batch of new Set([1, manifest.maxBatchSize])) {
    for (const [index, launch] of planLaunches(manifest, batch).entries()) {
      const module = modules.get(launch.module);
      const kernel = module?.functions.find(({ name, isEntry }) => isEntry && name === launch.kernel);
      if (module === undefined || kernel === undefined) continue;
      const { grid, block, dynamicSharedBytes } = launch;
      try {
        const registers = registersOf(gpu, block[0] * block[1] * block[2]);
        checkedNeeds(gpu, module, kernel, { grid, block, dynamicSharedBytes }, registers);
      } catch (error) {
        if (!(error instanceof GpuError)) throw error;
        const field = error.field === undefined ? '' : `.${error.field}`;
        return new FieldError(`launches[${index}]${field}`, `for a batch of ${batch}, ${error.message}`);
      }
    }
  }
  return undefined;
}

/** Registers a thread: 0 where as many as a thread can have would fit, since an estimate takes its time. */
function registersOf({ limits }: DeviceProfile, threads: number): 0 | undefined {
  return threads * limits.registersPerThread <= limits.registersPerBlock ? 0 : undefined;
}
