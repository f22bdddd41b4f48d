import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../files/index.js';
import { reasonOf } from '../text/index.js';
import { PIECE_BYTES } from './bufferContents.js';
import { elementBytes, elements } from './elementTypes.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { Destination, NodeSession } from './nodeSession.js';
import { OutputSummary, type BufferSummary } from './outputSummary.js';
import type { PlacedOutput } from './placement.js';

/** Where a buffer is dumped, if anywhere: `<file>.bin` in the directory. */
export interface DumpPlace {
  readonly directory: string | undefined;
  readonly file: string;
}

/** Reads a buffer from the device, piece by piece: its sum, and its elements at `indices`. */
export function readOutput(
  session: NodeSession,
  { type, count, address }: PlacedOutput,
  indices: readonly number[],
  { directory, file }: DumpPlace,
  from: Destination = {},
): Pick<BufferSummary, 'sum' | 'samples'> {
  const summary = new OutputSummary({}, indices);
  const dump = directory === undefined ? undefined : openDump(directory, file);
  const width = elementBytes(type);
  const perPiece = PIECE_BYTES / width;
  for (let first = 0; first < count; first += perPiece) {
    const size = Math.min(perPiece, count - first) * width;
    const { bytes } = session.call(
      'memcpyDeviceToHost',
      { address: address + first * width, bytes: size, pinned: true },
      from,
    );
    if (bytes === undefined) continue;
    summary.add(elements(type, bytes));
    if (dump !== undefined) writeDump(dump, bytes);
  }
  if (dump !== undefined) closeSync(dump.file);
  return summary.result();
}

/** A file that a buffer is being written to. */
interface Dump {
  readonly path: string;
  readonly file: number;
}

/** @throws LaunchSpecError when it cannot be made */
export function makeDumpDirectory(directory: string): void {
  try {
    makeDirectory(resolve(directory));
    if (!statSync(directory).isDirectory()) throw new Error(`${directory} is a file`);
  } catch (error) {
    throw dumpError(error);
  }
}

function openDump(directory: string, name: string): Dump {
  const path = join(directory, `${name}.bin`);
  try {
    return { path, file: openSync(path, 'w') };
  } catch (error) {
    throw dumpError(error);
  }
}

/** Leaves no file that holds a part of the buffer. */
function writeDump(dump: Dump, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(dump.file, bytes, at);
  } catch (error) {
    closeSync(dump.file);
    rmSync(dump.path, { force: true });
    throw dumpError(error);
  }
}

function dumpError(error: unknown): LaunchSpecError {
  return new LaunchSpecError('unreadableFile', `dump directory: ${reasonOf(error)}`);
}
