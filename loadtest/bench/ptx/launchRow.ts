import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GpuNode } from '../../../simulator/cluster/index.js';
import type { CompletionSink, DriverCommand, DriverCompletion } from '../../../simulator/driver/index.js';
import { loadModule, NodeMemory, WasmExecutor } from '../../../simulator/executor/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { distribution, type Distribution } from './statistics.js';
import { timed } from './stopwatch.js';

const VECADD = 'simulator/gpu/reference/kernels/vecadd.ptx';
const THREADS = 64;
/** So many until V8 has optimised the whole way and its compiler threads, whose CPU time would count, are idle. */
const WARM_UP_LAUNCHES = 30_000;
const GROUPS = 21;
const LAUNCHES = 200;

export interface LaunchRow {
  /** Host time of the executor for a launch of 64 threads that it has run before, in microseconds. */
  readonly executorUs: Distribution;
  /** The same from the command to its completion, simulated time included. */
  readonly driverUs: Distribution;
}

export function launchRow(root: string): LaunchRow {
  const ptx = readFileSync(join(root, VECADD), 'utf8');
  return { executorUs: measured(executorLaunch(ptx)), driverUs: measured(driverLaunch(ptx)) };
}

function measured(launch: () => void): Distribution {
  for (let run = 0; run < WARM_UP_LAUNCHES; run++) launch();
  const groups = Array.from({ length: GROUPS }, () => {
    const { timing } = timed(() => {
      for (let run = 0; run < LAUNCHES; run++) launch();
    });
    return (timing.cpuMs / LAUNCHES) * 1000;
  });
  return distribution(groups);
}

function executorLaunch(ptx: string): () => void {
  const memory = new NodeMemory({ backingBytes: 64 * 2 ** 20 });
  const space = memory.createSpace();
  const module = loadModule(parseModule(ptx, VECADD), space);
  const [kernel] = module.ir.functions.filter((fn) => fn.isEntry);
  const addresses = [0, 1, 2].map(() => space.map(4 * THREADS, 'readWrite').virtualAddress);
  const executor = new WasmExecutor(memory);
  const shape = { grid: [1, 1, 1], block: [THREADS, 1, 1], dynamicSharedBytes: 0 } as const;
  const launch = { module, kernel, shape, params: params(addresses) };
  return () => {
    const result = executor.run(launch, { lo: 0, hi: 1 }, 'fast', 2 ** 32);
    if (result.status !== 'done') throw new Error('the launch did not end');
  };
}

function driverLaunch(ptx: string): () => void {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, { gpus: ['h200'], backingBytes: 64 * 2 ** 20 });
  let last: DriverCompletion | undefined;
  const sink: CompletionSink = { onCompletion: (completion) => (last = completion) };
  let ticket = 0;
  const submit = (command: Pick<DriverCommand, 'op' | 'args'>, context: number) => {
    last = undefined;
    const whole = { ticket: ++ticket, context, stream: 0, ...command } as DriverCommand;
    node.submit(whole, sink);
    while (last === undefined && clock.step());
    const completion = last as DriverCompletion | undefined;
    if (completion === undefined || completion.failure !== undefined)
      throw new Error(completion?.failure?.message ?? `${command.op} never completed`);
    return completion.result ?? {};
  };
  const context = submit({ op: 'contextCreate', args: { gpu: 0 } }, 0).handle ?? 0;
  const module = submit({ op: 'moduleLoad', args: { ptx, file: VECADD } }, context).handle ?? 0;
  const addresses = [0, 1, 2].map(
    () => submit({ op: 'malloc', args: { bytes: 4 * THREADS } }, context).address ?? 0,
  );
  const args = {
    module,
    kernel: 'vecadd',
    grid: [1, 1, 1],
    block: [THREADS, 1, 1],
    dynamicSharedBytes: 0,
    params: params(addresses),
    cooperative: false,
  } as const;
  return () => void submit({ op: 'launch', args }, context);
}

/** `vecadd(const float* a, const float* b, float* c, int n)`. */
function params(addresses: readonly number[]): Uint8Array {
  const packed = new Uint8Array(28);
  const view = new DataView(packed.buffer);
  addresses.forEach((address, index) => view.setBigUint64(8 * index, BigInt(address), true));
  view.setInt32(24, THREADS, true);
  return packed;
}
