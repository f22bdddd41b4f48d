import { contextBytes } from '../../simulator/driver/index.js';
import { checkedNeeds, GpuError, type DeviceProfile } from '../../simulator/gpu/index.js';
import type { IrModule } from '../../simulator/ptx/index.js';
import { deviceRegions, FieldError } from './deviceLayout.js';
import { planLaunches } from './launchPlan.js';
import type { KernelModelManifest } from './manifest.js';
import { BATCHES_IN_FLIGHT, memoryNeeds, REPLICA_BACKING_BYTES, replicaBytes, taken } from './memoryNeeds.js';

const MIB = 2 ** 20;

/** Cards that cannot hold a model even alone, by name, each with why. */
export type CardMisfits = Readonly<Partial<Record<string, string>>>;

/**
 * Holds a model to cards: its memory with all batches in flight, and the blocks of its launches, with their registers, for
 * the smallest and the largest batch.
 */
export function deviceMisfits(
  manifest: KernelModelManifest,
  modules: ReadonlyMap<string, IrModule>,
  cards: readonly DeviceProfile[],
): ReadonlyMap<string, FieldError> {
  const misfits = new Map<string, FieldError>();
  for (const card of cards) {
    const misfit = memoryMisfit(manifest, modules, card) ?? launchMisfit(manifest, modules, card);
    if (misfit !== undefined) misfits.set(card.name, misfit);
  }
  return misfits;
}

function memoryMisfit(
  manifest: KernelModelManifest,
  modules: ReadonlyMap<string, IrModule>,
  card: DeviceProfile,
): FieldError | undefined {
  const regions = deviceRegions(manifest);
  const needs = memoryNeeds(regions, modules.values());
  const { declaredBytes } = card.memory;
  const bytes = replicaBytes(needs, contextBytes(card));
  if (bytes <= declaredBytes && needs.backingBytes <= REPLICA_BACKING_BYTES) return undefined;
  const mib = (count: number): string => `${Math.ceil(count / MIB)} MiB`;
  const has =
    bytes > declaredBytes
      ? `with a context of ${mib(contextBytes(card))}, modules and all of it, ${mib(bytes)}: ${card.name} has ${mib(declaredBytes)}`
      : `a simulated ${card.name} holds ${mib(REPLICA_BACKING_BYTES)}`;
  let largest = { name: '', kind: 'buffer', bytes: 0 };
  for (const region of regions) {
    const { copies, bytes: each } = taken(region);
    if (copies * each > largest.bytes) largest = { ...region, bytes: copies * each };
  }
  return new FieldError(
    `${largest.kind}s '${largest.name}'`,
    `all arrays with ${BATCHES_IN_FLIGHT} batches of ${manifest.maxBatchSize} in flight take ${mib(needs.arrayBytes)}, ${mib(largest.bytes)} of them this one: ${has}`,
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
