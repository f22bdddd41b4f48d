import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { packageRoot } from '../../../simulator/files/index.js';
import { ContentCheck, pythonContent } from '../../content/index.js';
import { encodeFrame, type InputType } from '../../protocol/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { endAlike } from './endAlike.js';
import { startGuard } from './memoryGuard.js';

/** What `ModelChild` hands over as the only argument, as JSON. */
export interface PythonArguments extends ReplicaIdentity {
  /** Absolute. */
  readonly path: string;
  /** A name on PATH, or absolute. */
  readonly python: string;
  readonly inputType?: InputType;
  /** Of all processes of the group but this one. */
  readonly memoryMiB?: number;
  readonly parentPid: number;
  /** Of the module's files when it was registered; with others it does not start. */
  readonly contentHash?: string;
}

const RUNNER = 'containers/python/runModel.py';
/** The line to the server, which Python gets: one end of a socket pair. */
const LINE_FD = 3;
/** Python's end of the line to this process. */
const KEEPER_FD = 4;

/**
 * The keeper of a model in Python: holds the module's files to what was registered, its processes to their memory, and ends
 * them when the server is gone. Frames go past it.
 */
function main(args: PythonArguments): void {
  const { path, python, parentPid, memoryMiB, contentHash, ...identity } = args;
  startGuard({ parentPid, ...(memoryMiB === undefined ? {} : { memoryMiB }) });
  const check = new ContentCheck(contentHash, () => pythonContent(path));
  const change = check.change();
  if (change !== undefined) {
    refuse(`${path}: ${change}`);
    return;
  }
  const model = JSON.stringify({ ...identity, path });
  const child = spawn(python, ['-B', '-X', 'faulthandler', join(packageRoot(), RUNNER), model], {
    stdio: ['ignore', 'inherit', 'inherit', LINE_FD, 'pipe'],
  });
  child.on('error', ({ message }) => {
    if (child.pid === undefined) refuse(`python: ${missing(python, message)}`);
  });
  // Python alone holds the line: when it closes it, the server hears of it.
  child.on('spawn', () => closeSync(LINE_FD));
  child.on('exit', (code, signal) => endAlike(code, signal, parentPid));
  const line = child.stdio[KEEPER_FD] as Duplex | undefined;
  line?.on('error', () => undefined);
  // What it has read may have come in between.
  line?.once('data', () => {
    const changed = check.change();
    line.end(`${JSON.stringify(changed === undefined ? null : `${path}: ${changed}`)}\n`);
  });
}

function missing(python: string, message: string): string {
  const found = message.includes('ENOENT') ? 'is not there' : `cannot be started (${message})`;
  const where = python.startsWith('/') ? '' : ' on PATH';
  return `${python} ${found}${where}: install Python 3.8 or later where the model runs, or say which one with --python`;
}

function refuse(reason: string): void {
  writeSync(LINE_FD, encodeFrame({ kind: 'down', reason }));
}

main(JSON.parse(process.argv[2]) as PythonArguments);
