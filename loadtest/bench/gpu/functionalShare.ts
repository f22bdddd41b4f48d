import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GpuNode } from '../../../simulator/cluster/index.js';
import type {
  CompletionSink,
  DriverCommand,
  DriverOp,
  DriverResult,
} from '../../../simulator/driver/index.js';
import {
  checkLaunchSpec,
  entryOf,
  placeSpec,
  readPtx,
  readSpec,
} from '../../../simulator/launchSpec/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';

const LAUNCHES = 'simulator/gpu/reference/launches';

export interface ShareRow {
  readonly launch: string;
  /** CPU time of a launch from its command to its completion, in microseconds. */
  readonly firstUs: number;
  readonly againUs: number;
  /** What of it is not execution of the kernel: driver, dispatch, traces, rates, clock. */
  readonly firstShare: number;
  readonly againShare: number;
}

/** How much of the host's time launches spend on keeping time: the first one, which is traced, and those after it. */
export function shareRows(root: string, again: number, only?: string): ShareRow[] {
  const folder = join(root, LAUNCHES);
  return readdirSync(folder)
    .filter((name) => only === undefined || name.includes(only))
    .sort()
    .map((name) => shareRow(join(folder, name), name.replace(/\.json$/, ''), again));
}

function shareRow(path: string, launch: string, again: number): ShareRow {
  const spec = checkLaunchSpec(readSpec(path));
  const ptx = readPtx(join(path, '..', spec.ptx));
  const clock = new VirtualClock();
  const node = new GpuNode(clock, { gpus: [spec.device], stopwatch: cpuSeconds });
  let context = 0;
  let result: DriverResult | undefined;
  const sink: CompletionSink = {
    onCompletion: (done) => {
      if (done.failure !== undefined) throw new Error(`${launch}: ${done.failure.message}`);
      result = done.result ?? {};
    },
  };
  const call = <O extends DriverOp>(op: O, args: Extract<DriverCommand, { op: O }>['args']): DriverResult => {
    result = undefined;
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    node.submit({ ticket: 1, context, stream: 0, op, args } as unknown as DriverCommand, sink);
    while (result === undefined && clock.step());
    return result ?? {};
  };
  context = call('contextCreate', { gpu: 0 }).handle ?? 0;
  const { handle: module = 0, symbols = [] } = call('moduleLoad', { ptx, file: spec.ptx });
  const { params } = placeSpec(spec, entryOf(ptx, spec), {
    allocate: (bytes) => call('malloc', { bytes }).address ?? 0,
    write: (address, bytes) => call('memcpyHostToDevice', { address, bytes, pinned: true }),
    free: (address) => call('free', { address }),
    createObject: (resource, sampler) => call('objectCreate', { resource, sampler }).handle ?? 0,
    symbols,
  });
  const { kernel, grid, block, dynamicSharedBytes, cooperative } = spec;
  const args = { module, kernel, grid, block, dynamicSharedBytes, params, cooperative };
  const timed = (): { allSeconds: number; executorSeconds: number } => {
    const from = cpuSeconds();
    const { launch: report } = call('launch', args);
    return { allSeconds: cpuSeconds() - from, executorSeconds: report?.executorSeconds ?? 0 };
  };
  const first = timed();
  let allSeconds = 0;
  let executorSeconds = 0;
  for (let run = 0; run < again; run++) {
    const each = timed();
    allSeconds += each.allSeconds;
    executorSeconds += each.executorSeconds;
  }
  node.close();
  return {
    launch,
    firstUs: first.allSeconds * 1e6,
    againUs: (allSeconds / again) * 1e6,
    firstShare: 1 - first.executorSeconds / first.allSeconds,
    againShare: 1 - executorSeconds / allSeconds,
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
