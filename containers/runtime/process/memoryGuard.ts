import { writeSync } from 'node:fs';
import { groupMiB } from './groupMemory.js';

export interface GuardLimits {
  readonly parentPid: number;
  /** Of memory; none when left out. */
  readonly memoryMiB?: number;
  /** What Node takes by itself, where the model runs in it; left out where others of its group are the model. */
  readonly nodeMiB?: number;
}

const EVERY_MS = 500;
const MIB = 1024 * 1024;
const STDERR_FD = 2;

/** Ends the process, and what it has started, when the server is gone or when it takes more memory than it may, in buffers too. */
export function startGuard(limits: GuardLimits): void {
  guard(limits);
  setInterval(guard, EVERY_MS, limits);
}

function guard({ parentPid, memoryMiB, nodeMiB }: GuardLimits): void {
  if (process.ppid !== parentPid) killGroup();
  if (memoryMiB === undefined) return;
  const isNode = nodeMiB !== undefined;
  const residentMiB = isNode
    ? process.memoryUsage.rss() / MIB
    : // It leads its group.
      groupMiB(process.pid, process.pid, memoryMiB);
  if (residentMiB <= memoryMiB + (nodeMiB ?? 0)) return;
  // Not by way of the main thread, which may be busy.
  writeSync(
    STDERR_FD,
    `Memory error: ${Math.round(residentMiB)} MiB resident, more than memory_mib ${memoryMiB}` +
      `${isNode ? ` and ${nodeMiB} for Node` : ''}\n`,
  );
  killGroup();
}

export function killGroup(): void {
  process.kill(0, 'SIGKILL');
}
