import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  loadModule,
  NodeMemory,
  WasmExecutor,
  type AddressSpace,
  type ExecutionCounters,
  type ExecutorLaunch,
  type Optimisation,
} from '../../../simulator/executor/index.js';
import { checkLaunchSpec, placeSpec, type LaunchSpec } from '../../../simulator/launchSpec/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';
import { timed } from './stopwatch.js';
import type { Timing } from './statistics.js';

/** Thread-instructions a block: more than any kernel of the table needs, but counted as in any launch. */
const FUEL = 1e12;

/** A launch spec placed on a node's memory, to be run by the executor alone: no simulated time passes. */
export class PtxRun {
  readonly spec: LaunchSpec;
  readonly addresses: readonly number[];
  private readonly memory = new NodeMemory();
  private readonly space: AddressSpace;
  private readonly executor: WasmExecutor;
  private readonly launch: ExecutorLaunch;

  /** @param path of the launch spec @param without optimisations left out; grids never go over threads here */
  constructor(path: string, without: ReadonlySet<Optimisation> = new Set()) {
    const spec = checkLaunchSpec(JSON.parse(readFileSync(path, 'utf8')));
    const text = readFileSync(resolve(dirname(path), spec.ptx), 'utf8');
    const space = this.memory.createSpace();
    const module = loadModule(parseModule(text, spec.ptx), space);
    const kernel = module.ir.functions.find((fn) => fn.isEntry && fn.name === spec.kernel);
    if (kernel === undefined) throw new Error(`${spec.ptx} has no kernel ${spec.kernel}`);
    const { params, buffers } = placeSpec(spec, kernel, {
      allocate: (bytes) => space.map(bytes, 'readWrite').virtualAddress,
      write: (address, bytes) => space.view(address, bytes.length).set(bytes),
      free: (address) => space.unmap(address),
      symbols: [],
    });
    this.spec = spec;
    this.space = space;
    this.addresses = spec.args.map((_, arg) => buffers.find((buffer) => buffer.arg === arg)?.address ?? 0);
    this.executor = new WasmExecutor(this.memory, { without: new Set([...without, 'threads']) });
    const { grid, block, dynamicSharedBytes } = spec;
    this.launch = { module, kernel, shape: { grid, block, dynamicSharedBytes }, params };
  }

  /** The argument whose buffer holds the results. */
  get output(): number {
    return this.spec.args.findIndex((argument) => 'buffer' in argument && argument.buffer.out);
  }

  /** Live bytes of an argument's buffer. */
  bytes(argument: number): Uint8Array {
    const spec = this.spec.args[argument];
    const address = this.addresses[argument];
    if (spec === undefined || !('buffer' in spec) || address === undefined)
      throw new RangeError(`argument ${argument} is no buffer`);
    return this.space.view(address, spec.buffer.count * 4);
  }

  /** The whole grid. @throws Error with the fault's message. */
  run(): { readonly counters: ExecutionCounters; readonly timing: Timing } {
    const [x, y, z] = this.launch.shape.grid;
    const { value, timing } = timed(() =>
      this.executor.run(this.launch, { lo: 0, hi: x * y * z }, 'fast', FUEL),
    );
    if (value.status === 'fault') throw new Error(value.fault.message);
    return { counters: value.counters, timing };
  }
}
