import { readFileSync } from 'node:fs';
import { loadModule, NodeMemory, WasmExecutor } from '../executor/index.js';
import type {
  AddressSpace,
  Executor,
  ExecutorLaunch,
  ExecutorVariant,
  LoadedModule,
} from '../executor/index.js';
import { parseModule, type IrModule } from '../ptx/index.js';
import type { Buffers, FixtureLaunch, HostArray, KernelFixture } from './kernelFixture.js';
import { argumentBytes, extents } from './launchArguments.js';

/** What an executor and the reference interpreter have in common. */
export type KernelRunner = Pick<Executor, 'run' | 'resume'>;

export interface FixtureResult {
  readonly buffers: Buffers;
  readonly printed: string;
}

const FUEL = 50_000_000;
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
  const memory = new NodeMemory({ backingBytes: 32 * 2 ** 20 });
  const space = memory.createSpace();
  const module = loadModule(parsed(fixture), space);
  const buffers = fixture.buffers();
  const addresses = new Map<string, number>();
  for (const [name, array] of Object.entries(buffers)) {
    const { virtualAddress } = space.map(Math.max(array.byteLength, 1), 'readWrite');
    addresses.set(name, virtualAddress);
    space.view(virtualAddress, array.byteLength).set(bytesOf(array));
  }
  const executor: KernelRunner = runner ?? new WasmExecutor(memory);
  let printed = '';
  for (const launch of fixture.launches) {
    printed += runLaunch(fixture, executorLaunch(module, launch, addresses), executor, variant, fuel);
  }
  for (const [name, array] of Object.entries(buffers)) readBack(space, addresses.get(name) ?? 0, array);
  fixture.settle?.(buffers);
  return { buffers, printed };
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

function readBack(space: AddressSpace, address: number, array: HostArray): void {
  bytesOf(array).set(space.view(address, array.byteLength));
}
