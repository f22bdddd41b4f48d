import {
  encodeObject,
  loadModule,
  OBJECT_BYTES,
  textureObject,
  type DeviceAddressSpace,
  type ExecutorLaunch,
  type LoadedModule,
} from '../executor/index.js';
import { checkedNeeds, launchCluster, type DeviceProfile } from '../gpu/index.js';
import { parseModule, type IrFunction } from '../ptx/index.js';
import { LaunchSpecError } from './launchSpecError.js';
import { placeSpec, type PlacedBuffer, type SpecHost } from './placement.js';
import type { LaunchSpec } from './schema.js';

/** Where the blocks of a cooperative launch meet. */
const GRID_WORKSPACE_BYTES = 256;

/** A spec's launch on an executor alone, without a driver or a device: for tools that watch it run. */
export interface ExecutorPlacement {
  readonly launch: ExecutorLaunch;
  readonly buffers: readonly PlacedBuffer[];
  /** Static and dynamic, of a block. */
  readonly sharedBytes: number;
}

/**
 * Places a spec's buffers in an address space and packs its arguments.
 * @throws LaunchSpecError for what does not fit the kernel, and for launches that the spec's device refuses
 */
export function placeOnExecutor(
  spec: LaunchSpec,
  device: DeviceProfile,
  ptx: string,
  space: DeviceAddressSpace,
): ExecutorPlacement {
  const module = refusing(() => loadModule(parseModule(ptx, spec.ptx), space));
  const kernel = module.ir.functions.find((fn) => fn.isEntry && fn.name === spec.kernel);
  if (kernel === undefined)
    throw new LaunchSpecError('invalidSpec', `kernel: no entry '${spec.kernel}'`, 'kernel');
  requireRunnable(spec, kernel);
  const { grid, block, dynamicSharedBytes, nonPortableCluster } = spec;
  const cluster = refusing(() => launchCluster(kernel, spec.cluster));
  const shape = { grid, block, dynamicSharedBytes, cluster, nonPortableCluster };
  const { sharedBytes } = refusing(() => checkedNeeds(device, module.ir, kernel, shape));
  const { params, buffers } = placeSpec(spec, kernel, hostOf(module, space));
  const meeting = spec.cooperative
    ? { cooperative: true, gridWorkspace: space.map(GRID_WORKSPACE_BYTES, 'readWrite').virtualAddress }
    : {};
  return { launch: { module, kernel, shape, params, ...meeting }, buffers, sharedBytes };
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
    createObject: (resource, sampler) => {
      const { virtualAddress } = refusing(() => space.map(OBJECT_BYTES, 'read'));
      space.view(virtualAddress, OBJECT_BYTES).set(encodeObject(textureObject(resource, sampler)));
      return virtualAddress;
    },
    symbols: module.ir.variables.flatMap(({ name, bytes }) => {
      const address = module.symbols.get(name);
      return address === undefined ? [] : [{ name, address, bytes }];
    }),
  };
}

function requireRunnable({ ptx, kernel: name }: LaunchSpec, { refusal }: IrFunction): void {
  if (refusal === undefined) return;
  const { line, instruction, reason } = refusal;
  throw new LaunchSpecError(
    'refused',
    `kernel: '${name}' cannot run, ${ptx}:${line}: '${instruction}': ${reason}`,
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
