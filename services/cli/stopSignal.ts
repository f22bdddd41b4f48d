/** Under npm one Ctrl-C arrives twice: the terminal signals every process, and npm passes its own on. */
export const SAME_SIGNAL_MS = 500;

/** How often a server that npm started looks whether it still has somebody above it. */
const ORPHAN_CHECK_MS = 250;

/**
 * Resolves with the first SIGINT or SIGTERM; a second one ends the process with 130. `npx` passes a SIGTERM to its shell and
 * to nobody else: a server that it started, and that has lost its parent, was told to stop.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    if (process.env['npm_command'] !== undefined) {
      const parent = process.ppid;
      const check = setInterval(() => {
        if (process.ppid === parent) return;
        clearInterval(check);
        resolve('SIGTERM');
      }, ORPHAN_CHECK_MS);
      check.unref();
    }
    let firstMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = performance.now();
      if (firstMs !== undefined && nowMs - firstMs > SAME_SIGNAL_MS) process.exit(130);
      firstMs ??= nowMs;
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
