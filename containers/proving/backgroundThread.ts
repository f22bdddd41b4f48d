import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** About a tenth of a core where threads of ordinary priority want all of them (Linux's `nice`). */
const NICENESS = 10;

/**
 * Makes the thread that calls it give way to those that serve, and the threads that it starts from then on. Where the system has no
 * priorities of threads it is a thread like others.
 */
export function giveWay(): void {
  try {
    const [, thread] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    if (thread !== undefined) setPriority(Number(thread), NICENESS);
  } catch {
    // No Linux, or no /proc: it only works less quietly.
  }
}
