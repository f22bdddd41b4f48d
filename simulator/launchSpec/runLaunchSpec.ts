import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GpuNodeOptions } from '../cluster/index.js';
import type { LaunchReport } from '../driver/index.js';
import { packArguments } from './arguments.js';
import { elementBytes, elements } from './elementTypes.js';
import { PIECE_BYTES, fillPiece, isUnwritten } from './bufferContents.js';
import { LaunchSpecError } from './launchSpecError.js';
import { NodeSession } from './nodeSession.js';
import { entryOf, readPtx, readSpec, requireDevice } from './specFiles.js';
import { OutputSummary, sampleIndices, type BufferSummary } from './outputSummary.js';
import { checkLaunchSpec, type BufferSpec, type LaunchSpec } from './schema.js';

export interface LaunchSpecOptions {
  /** Also writes each reported buffer, raw and little-endian, to `arg<k>.bin` there. */
  readonly dumpDirectory?: string;
  /** Seconds of host time, for `executorSeconds`. */
  readonly stopwatch?: () => number;
  /** Options of the node it runs on, but for the GPU. */
  readonly node?: Omit<GpuNodeOptions, 'gpus' | 'stopwatch'>;
}

export interface LaunchSpecResult {
  /** Simulated duration of the kernel with caches warm from an equal launch before it, in microseconds. */
  readonly durationUs: number;
  readonly ptxThreadInstructions: number;
  readonly ptxWarpInstructions: number;
  readonly dramBytes: number;
  readonly buffers: readonly BufferSummary[];
  readonly executorSeconds: number;
  /** What the kernel's `printf` calls wrote, when it has any. */
  readonly printed?: string;
}

/**
 * Runs one launch spec in virtual time and reports its outputs and duration.
 * @param value the parsed JSON; @param baseDir where its relative `ptx` path starts.
 * @throws LaunchSpecError for a bad spec, an unreadable file, a refused launch or a kernel fault.
 */
export function runLaunchSpec(
  value: unknown,
  baseDir: string,
  options: LaunchSpecOptions = {},
): LaunchSpecResult {
  const spec = checkLaunchSpec(value);
  requireDevice(spec);
  const ptx = readPtx(resolve(baseDir, spec.ptx));
  const kernel = entryOf(ptx, spec);
  const session = new NodeSession({
    ...options.node,
    gpus: [spec.device],
    ...(options.stopwatch === undefined ? {} : { stopwatch: options.stopwatch }),
  });
  const module = session.call('moduleLoad', { ptx, file: spec.ptx }).handle ?? 0;
  const addresses = spec.args.map((argument, index) =>
    'buffer' in argument ? makeBuffer(session, argument.buffer, `args[${index}].buffer`) : undefined,
  );
  spec.args.forEach((argument, index) => {
    const address = addresses[index];
    if ('buffer' in argument && argument.buffer.freed && address !== undefined)
      session.call('free', { address });
  });
  const params = packArguments(kernel, spec.args, (index) => addresses[index]);
  session.node.device(0).warmNextLaunch();
  const { launch } = session.call('launch', {
    module,
    kernel: spec.kernel,
    grid: spec.grid,
    block: spec.block,
    dynamicSharedBytes: spec.dynamicSharedBytes,
    params,
  });
  if (launch === undefined) throw new LaunchSpecError('refused', 'the launch gave no report');
  return summarise(launch, readOutputs(session, spec, addresses, options.dumpDirectory));
}

/** Reads and runs a spec file; paths in it are relative to it. */
export function runLaunchSpecFile(path: string, options: LaunchSpecOptions = {}): LaunchSpecResult {
  return runLaunchSpec(readSpec(path), resolve(path, '..'), options);
}

function makeBuffer(session: NodeSession, spec: BufferSpec, field: string): number {
  const width = elementBytes(spec.type);
  const address = session.call('malloc', { bytes: spec.count * width }).address ?? 0;
  if (isUnwritten(spec)) return address;
  const perPiece = PIECE_BYTES / width;
  for (let first = 0; first < spec.count; first += perPiece) {
    const bytes = new Uint8Array(Math.min(perPiece, spec.count - first) * width);
    fillPiece(spec, first, bytes, field);
    session.call('memcpyHostToDevice', { address: address + first * width, bytes, pinned: true });
  }
  return address;
}

function readOutputs(
  session: NodeSession,
  spec: LaunchSpec,
  addresses: readonly (number | undefined)[],
  dumpDirectory: string | undefined,
): BufferSummary[] {
  const summaries: BufferSummary[] = [];
  spec.args.forEach((argument, arg) => {
    const address = addresses[arg];
    if (!('buffer' in argument) || !argument.buffer.out || address === undefined) return;
    const { type, count } = argument.buffer;
    const expected = Object.keys(spec.expect?.samples ?? {}).map(Number);
    const indices = expected.length > 0 ? expected : sampleIndices(count);
    const summary = new OutputSummary(arg, indices);
    const dump = dumpDirectory === undefined ? undefined : openDump(dumpDirectory, arg);
    const width = elementBytes(type);
    const perPiece = PIECE_BYTES / width;
    for (let first = 0; first < count; first += perPiece) {
      const size = Math.min(perPiece, count - first) * width;
      const { bytes } = session.call('memcpyDeviceToHost', {
        address: address + first * width,
        bytes: size,
        pinned: true,
      });
      if (bytes === undefined) continue;
      summary.add(elements(type, bytes));
      if (dump !== undefined) writeSync(dump, bytes);
    }
    if (dump !== undefined) closeSync(dump);
    summaries.push(summary.result());
  });
  return summaries;
}

function openDump(directory: string, arg: number): number {
  try {
    mkdirSync(directory, { recursive: true });
    return openSync(join(directory, `arg${arg}.bin`), 'w');
  } catch (error) {
    throw new LaunchSpecError(
      'unreadableFile',
      `dump directory: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function summarise(launch: LaunchReport, buffers: BufferSummary[]): LaunchSpecResult {
  return {
    durationUs: Math.round(launch.endNs - launch.startNs) / 1000,
    ptxThreadInstructions: launch.threadInstructions,
    ptxWarpInstructions: launch.warpInstructions,
    dramBytes: launch.dramBytes,
    buffers,
    executorSeconds: launch.executorSeconds,
    ...(launch.printed === undefined ? {} : { printed: launch.printed }),
  };
}
