/** Monotonic nanoseconds that all processes and threads of this host share. */
export function wallNs(): number {
  return Number(process.hrtime.bigint());
}
