import { killGroup } from './memoryGuard.js';

const SIGNAL_MS = 500;

/** Ends this process as a child of it has ended: the server tells how from this one. */
export function endAlike(code: number | null, signal: NodeJS.Signals | null, parentPid: number): void {
  // No server is there any more to end what the model has started.
  if (process.ppid !== parentPid) killGroup();
  if (signal === null) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  // One that Node ignores.
  setTimeout(() => process.exit(1), SIGNAL_MS);
}
