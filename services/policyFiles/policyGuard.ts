import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { PolicyProcessArguments } from './policyProcess.js';

const EVERY_MS = 50;
const MIB = 1024 * 1024;
const STDERR_FD = 2;

/** A thread beside the policy, which ends the process when the server is gone or it takes more memory than it may, in buffers too. */
function guard({ parentPid, memoryMiB }: PolicyProcessArguments): void {
  const residentMiB = process.memoryUsage.rss() / MIB;
  if (process.ppid === parentPid && residentMiB <= memoryMiB) return;
  if (residentMiB > memoryMiB)
    writeSync(
      STDERR_FD,
      `Memory error: it took ${Math.round(residentMiB)} MiB, and ${memoryMiB} are the most\n`,
    );
  process.kill(process.pid, 'SIGKILL');
}

setInterval(guard, EVERY_MS, workerData as PolicyProcessArguments);
