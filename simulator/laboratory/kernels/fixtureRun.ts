import { readFileSync } from 'node:fs';
import {
  encodeObject,
  loadModule,
  NodeMemory,
  OBJECT_BYTES,
  textureObject,
  WasmExecutor,
} from '../../executor/index.js';
import type {
  AddressSpace,
  Executor,
  ExecutorLaunch,
  ExecutorVariant,
  LoadedModule,
} from '../../executor/index.js';
import { launchCluster } from '../../gpu/index.js';
import { parseModule, type IrModule } from '../../ptx/index.js';
import type { Buffers, FixtureLaunch, HostArray, KernelFixture } from './kernelFixture.js';
import { argumentBytes, extents, objectName } from './launchArguments.js';

/** What an executor and the reference interpreter have in common. */
export type KernelRunner = Pick<Executor, 'run' | 'resume'>;

export interface FixtureResult {
  readonly buffers: Buffers;
  readonly printed: string;
}

const FUEL = 50_000_000;
/** Device memory that holds any fixture. */
export const FIXTURE_BACKING_BYTES = 32 * 2 ** 20;
/** Where the blocks of a cooperative launch meet. */
const GRID_WORKSPACE_BYTES = 64;

/**
 * Runs a fixture's launches in a fresh device memory and reads its buffers back.
 *
 * @param fuel thread-instructions a block; of the resumable variant, between two yields
 * @throws Error with the fault's message when a launch does not end
 */
export function runFixture(
  fixture: KernelFixture,
  variant: ExecutorVariant,
  runner?: KernelRunner,
  fuel = FUEL,
): FixtureResult {
  const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
  const placed = new PlacedFixture(fixture, memory.createSpace());
  // Short as the launches are, lanes go together: what that leaves is what there is to see.
  const executor: KernelRunner = runner ?? new WasmExecutor(memory, { vectorAfter: 0 });
  let printed = '';
  for (const launch of placed.launches(parsed(fixture)))
    printed += runLaunch(fixture, launch, executor, variant, fuel);
  const buffers = placed.read();
  fixture.settle?.(buffers);
  return { buffers, printed };
}

/** A fixture's buffers in a device memory. */
export class PlacedFixture {
  private readonly addresses = new Map<string, number>();

  constructor(
    private readonly fixture: KernelFixture,
    private readonly space: AddressSpace,
  ) {
    for (const [name, array] of Object.entries(fixture.buffers())) {
      const { virtualAddress } = space.map(Math.max(array.byteLength, 1), 'readWrite');
      this.addresses.set(name, virtualAddress);
    }
    for (const [name, { buffer, resource, sampler }] of Object.entries(fixture.objects ?? {})) {
      const { virtualAddress } = space.map(OBJECT_BYTES, 'read');
      const object = textureObject({ ...resource, address: this.address(buffer) }, sampler);
      space.view(virtualAddress, OBJECT_BYTES).set(encodeObject(object));
      this.addresses.set(objectName(name), virtualAddress);
    }
    this.fill();
  }

  /** What the buffers hold before the first launch. */
  fill(): void {
    for (const [name, array] of Object.entries(this.fixture.buffers()))
      this.space.view(this.address(name), array.byteLength).set(bytesOf(array));
  }

  /** The launches, in order, of the fixture's text. */
  launches(ir: IrModule): ExecutorLaunch[] {
    const module = loadModule(ir, this.space);
    return this.fixture.launches.map((launch) => executorLaunch(module, launch, this.addresses));
  }

  read(): Buffers {
    const buffers = this.fixture.buffers();
    for (const [name, array] of Object.entries(buffers))
      bytesOf(array).set(this.space.view(this.address(name), array.byteLength));
    return buffers;
  }

  private address(name: string): number {
    return this.addresses.get(name) ?? 0;
  }
}

/** Variants run the same text, which is parsed once. */
function parsed(fixture: KernelFixture): IrModule {
  const known = modules.get(fixture);
  if (known !== undefined) return known;
  const module = parseModule(readFileSync(fixture.ptx, 'utf8'), `${fixture.name}.ptx`);
  modules.set(fixture, module);
  return module;
}
const modules = new WeakMap<KernelFixture, IrModule>();

/** What the reference makes of the fixture's inputs. */
export function referenceResult(fixture: KernelFixture): Buffers {
  const buffers = fixture.buffers();
  fixture.reference(buffers);
  fixture.settle?.(buffers);
  return buffers;
}

function runLaunch(
  fixture: KernelFixture,
  launch: ExecutorLaunch,
  executor: KernelRunner,
  variant: ExecutorVariant,
  fuel: number,
): string {
  const [x, y, z] = launch.shape.grid;
  let result = executor.run(launch, { lo: 0, hi: x * y * z }, variant, fuel);
  let printed = result.printed ?? '';
  while (result.status === 'yield' && executor.resume !== undefined) {
    result = executor.resume(result.suspended, fuel);
    printed += result.printed ?? '';
  }
  if (result.status === 'fault') throw new Error(`${fixture.name}: ${result.fault.message}`);
  if (result.status === 'yield')
    throw new Error(`${fixture.name}: yielded to an executor that cannot resume`);
  return printed;
}

function executorLaunch(
  module: LoadedModule,
  launch: FixtureLaunch,
  addresses: ReadonlyMap<string, number>,
): ExecutorLaunch {
  const kernel = module.ir.functions.find((fn) => fn.isEntry && fn.name === launch.kernel);
  if (kernel === undefined) throw new Error(`${module.ir.file} has no kernel ${launch.kernel}`);
  const params = new Uint8Array(kernel.parameterBytes);
  const view = new DataView(params.buffer);
  kernel.parameters.forEach((parameter, index) => {
    const argument = launch.args[index];
    if (argument === undefined) throw new Error(`${launch.kernel}: argument ${index} is missing`);
    const { bytes, pointers } = argumentBytes(argument);
    if (bytes.length !== parameter.bytes) {
      throw new Error(
        `${launch.kernel}: argument ${index} has ${bytes.length} bytes, its parameter ${parameter.bytes}`,
      );
    }
    params.set(bytes, parameter.offset);
    for (const { offset, buffer } of pointers) {
      view.setBigUint64(parameter.offset + offset, BigInt(addresses.get(buffer) ?? 0), true);
    }
  });
  return {
    module,
    kernel,
    shape: {
      grid: extents(launch.grid),
      block: extents(launch.block),
      dynamicSharedBytes: launch.dynamicSharedBytes ?? 0,
      cluster: launchCluster(kernel, launch.cluster === undefined ? undefined : extents(launch.cluster)),
    },
    params,
    ...(launch.cooperative === true
      ? {
          cooperative: true,
          gridWorkspace: module.space.map(GRID_WORKSPACE_BYTES, 'readWrite').virtualAddress,
        }
      : {}),
  };
}

/** The array's bytes, in place. */
export function bytesOf(array: HostArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
