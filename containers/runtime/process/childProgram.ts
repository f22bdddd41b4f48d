import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../simulator/files/index.js';
import type { InputType } from '../../protocol/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { memoryGuardRefusal } from './groupMemory.js';
import type { ProcessArguments } from './modelProcess.js';
import { modulePath } from './modulePath.js';
import type { OwnProcessSource } from './processSource.js';
import type { PythonArguments } from './pythonProcess.js';

/** What Node is started with. */
export interface ChildProgram {
  readonly flags: readonly string[];
  readonly file: string;
  readonly folder: string;
  readonly args: ProcessArguments | PythonArguments;
}

/** What its process is to know, of whatever kind it is. */
export interface ChildIdentity extends ReplicaIdentity {
  /** What the registry says, where the model itself says nothing. */
  readonly inputType?: InputType;
  readonly contentHash?: string;
}

/** Compiled JavaScript even when this side runs as TypeScript: Node itself loads it. */
const FOLDER = 'dist/containers/runtime/process';
const DEFAULT_PYTHON = 'python3';

/** @throws Error when there is nothing to start */
export function childProgram(source: OwnProcessSource, identity: ChildIdentity): ChildProgram {
  const { memoryMiB } = source;
  const path = modulePath(source.path);
  const common = {
    ...identity,
    path,
    parentPid: process.pid,
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
  };
  if (source.kind === 'python') {
    refuseUnwatched(memoryMiB);
    const args = { ...common, python: source.python ?? DEFAULT_PYTHON };
    return { flags: [], file: fileOf('pythonProcess.js'), folder: dirname(path), args };
  }
  const file = fileOf('modelProcess.js');
  if (source.kind === 'exec') {
    refuseUnwatched(memoryMiB);
    return { flags: [], file, folder: path, args: { ...common, command: source.command } };
  }
  const flags = memoryMiB === undefined ? [] : [`--max-old-space-size=${memoryMiB}`];
  return { flags, file, folder: dirname(path), args: common };
}

function refuseUnwatched(memoryMiB: number | undefined): void {
  const refusal = memoryMiB === undefined ? undefined : memoryGuardRefusal();
  if (refusal !== undefined) throw new Error(refusal);
}

function fileOf(name: string): string {
  const file = join(packageRoot(), FOLDER, name);
  if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
  return file;
}
