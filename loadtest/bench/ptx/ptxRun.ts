import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  NodeMemory,
  WasmExecutor,
  type DeviceAddressSpace,
  type ExecutionCounters,
  type ExecutorLaunch,
} from '../../../simulator/executor/index.js';
import type { WasmExecutorOptions } from '../../../simulator/executor/testing/index.js';
import {
  checkLaunchSpec,
  deviceOf,
  placeOnExecutor,
  type ExecutorPlacement,
  type LaunchSpec,
} from '../../../simulator/launchSpec/index.js';
import { timed } from './stopwatch.js';
import type { Timing } from './statistics.js';

/** Thread-instructions a block: more than any kernel of the table needs, but counted as in any launch. */
const FUEL = 1e12;

/** A launch spec placed on a node's memory, to be run by the executor alone: no simulated time passes. */
export class PtxRun {
  readonly spec: LaunchSpec;
  private readonly space: DeviceAddressSpace;
  private readonly executor: WasmExecutor;
  private readonly launch: ExecutorLaunch;
  private readonly buffers: ExecutorPlacement['buffers'];

  /** @param path of the launch spec @param options what the executor does without, and on how many threads; one unless given */
  constructor(path: string, options: Pick<WasmExecutorOptions, 'without' | 'threads'> = {}) {
    this.spec = checkLaunchSpec(JSON.parse(readFileSync(path, 'utf8')));
    const text = readFileSync(resolve(dirname(path), this.spec.ptx), 'utf8');
    const memory = new NodeMemory();
    this.space = memory.createSpace();
    const { launch, buffers } = placeOnExecutor(
      this.spec,
      deviceOf(this.spec, dirname(path)),
      text,
      this.space,
    );
    this.launch = launch;
    this.buffers = buffers;
    this.executor = new WasmExecutor(memory, options);
  }

  /** The argument whose buffer holds the results. */
  get output(): number {
    return this.spec.args.findIndex((argument) => 'buffer' in argument && argument.buffer.out);
  }

  /** Live bytes of an argument's buffer. */
  bytes(argument: number): Uint8Array {
    const found = this.buffers.find(({ arg }) => arg === argument);
    if (found === undefined) throw new RangeError(`argument ${argument} is no buffer`);
    return this.space.view(found.address, found.bytes);
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

  /** Ends the executor's threads. */
  close(): void {
    this.executor.close();
  }
}
