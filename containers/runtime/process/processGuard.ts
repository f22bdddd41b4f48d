import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface GuardLimits {
  readonly parentPid: number;
  /** Of memory, with what Node takes by itself; none when left out. */
  readonly memoryMiB?: number;
  readonly nodeMiB?: number;
}

const EVERY_MS = 500;
const MIB = 1024 * 1024;
const STDERR_FD = 2;

/**
 * A thread of a model's process, which looks after it while the model keeps the event loop busy: it ends the process, and
 * what that has started, when the server is gone or when it takes more memory than it may, in buffers too.
 */
function guard({ parentPid, memoryMiB = Infinity, nodeMiB = 0 }: GuardLimits): void {
  if (process.ppid !== parentPid) killGroup();
  const residentMiB = process.memoryUsage.rss() / MIB;
  if (residentMiB <= memoryMiB + nodeMiB) return;
  // Not by way of the main thread, which may be busy.
  writeSync(
    STDERR_FD,
    `Memory error: ${Math.round(residentMiB)} MiB resident, more than memory_mib ${memoryMiB} and ${nodeMiB} for Node\n`,
  );
  killGroup();
}

function killGroup(): void {
  process.kill(0, 'SIGKILL');
}

const limits = workerData as GuardLimits;
guard(limits);
setInterval(guard, EVERY_MS, limits);
