import type { Timing } from './statistics.js';

/** Times what this thread does; the CPU time is the whole process's, which has nothing else to do meanwhile. */
export function timed<T>(work: () => T): { readonly value: T; readonly timing: Timing } {
  const cpu = process.cpuUsage();
  const from = performance.now();
  const value = work();
  const wallMs = performance.now() - from;
  const { user, system } = process.cpuUsage(cpu);
  return { value, timing: { wallMs, cpuMs: (user + system) / 1000 } };
}
