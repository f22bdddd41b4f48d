import {
  loadModule,
  NodeMemory,
  WasmExecutor,
  type DeviceAddressSpace,
  type ExecutorLaunch,
} from '../../../executor/index.js';
import type { IrFunction } from '../../../ptx/index.js';
import { Arena } from './arena.js';
import type { LaunchInstance, PlacedPointer } from './launchInstance.js';

/** Thread-instructions a block of a first run: small arenas need far fewer. */
const FUEL = 20_000_000;
const BACKING_BYTES = 64 * 2 ** 20;

/** An instance in a device memory of its own, ready to run any number of times. */
export interface PlacedInstance {
  readonly launch: ExecutorLaunch;
  readonly executor: WasmExecutor;
  readonly arena: Arena;
  /** All of memory before the launch. */
  readonly initial: Uint8Array;
  readonly blocks: number;
  readonly fuel: number;
  /** Address of each allocation of the instance. */
  readonly addresses: readonly number[];
}

/** Where instances are run: one node's memory, and code that is compiled once a kernel. */
export class OracleBench {
  private readonly memory = new NodeMemory({ backingBytes: BACKING_BYTES });
  // Lane by lane: what the oracles say rests on the plainest code there is.
  private readonly executor = new WasmExecutor(this.memory, { vectorAfter: Infinity });

  /**
   * Gives an instance a fresh address space, so that its addresses are the same whatever ran before, calls `use`, and takes
   * the space away again.
   * @throws RangeError when the entry is not there, an argument does not fit, blocks wait for one another, or memory is
   * larger than an arena may be.
   */
  with<T>(instance: LaunchInstance, use: (placed: PlacedInstance) => T): T {
    const space = this.memory.createSpace();
    try {
      return use(this.place(instance, space));
    } finally {
      this.memory.destroySpace(space);
    }
  }

  private place(instance: LaunchInstance, space: DeviceAddressSpace): PlacedInstance {
    const module = loadModule(instance.ir, space);
    const kernel = module.ir.functions.find(({ isEntry, name }) => isEntry && name === instance.entry);
    if (kernel === undefined) throw new RangeError(`${instance.ir.file} has no entry ${instance.entry}`);
    const addresses = instance.allocations.map(
      ({ bytes }) => space.map(Math.max(bytes.length, 1), 'readWrite').virtualAddress,
    );
    instance.allocations.forEach(({ bytes, pointers = [] }, index) => {
      const view = space.view(addresses[index] ?? 0, bytes.length);
      view.set(bytes);
      write(view, pointers, addresses, `allocation ${index}`);
    });
    const params = packed(kernel, instance, addresses);
    const launch: ExecutorLaunch = { module, kernel, shape: instance.shape, params };
    const [x, y, z] = instance.shape.grid;
    const { executor } = this;
    // What cannot run here at all can be placed: validators judge it.
    if (kernel.refusal === undefined && executor.needsWholeGrid(launch))
      throw new RangeError(`${instance.entry}: its blocks wait for one another, so they cannot run in turn`);
    const arena = new Arena(space);
    return { launch, executor, arena, initial: arena.read(), blocks: x * y * z, fuel: FUEL, addresses };
  }
}

/** The kernel's parameter bytes. @throws RangeError when arguments and parameters differ in number or size. */
function packed(kernel: IrFunction, instance: LaunchInstance, addresses: readonly number[]): Uint8Array {
  const { name, parameters, parameterBytes } = kernel;
  if (parameters.length !== instance.args.length)
    throw new RangeError(`${name} takes ${parameters.length} arguments, got ${instance.args.length}`);
  const params = new Uint8Array(parameterBytes);
  parameters.forEach(({ offset, bytes }, index) => {
    const argument = instance.args[index];
    if (argument?.bytes.length !== bytes)
      throw new RangeError(
        `${name}: argument ${index} has ${argument?.bytes.length} bytes, its parameter ${bytes}`,
      );
    params.set(argument.bytes, offset);
    const view = params.subarray(offset, offset + bytes);
    write(view, argument.pointers ?? [], addresses, `${name}: argument ${index}`);
  });
  return params;
}

function write(
  bytes: Uint8Array,
  pointers: readonly PlacedPointer[],
  addresses: readonly number[],
  where: string,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { at, allocation, offset } of pointers) {
    const address = addresses[allocation];
    if (address === undefined)
      throw new RangeError(`${where} names allocation ${allocation}, which is not there`);
    view.setBigUint64(at, BigInt(address + offset), true);
  }
}
