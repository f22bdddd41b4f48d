export class SilentError extends Error {}

/**
 * @returns what `work` comes to. @throws SilentError `nothing was heard for N s` (as a rejection) if that takes longer. Where this process
 * itself stood still meanwhile, what has arrived by then is heard first: nobody else was silent.
 */
export function withinTime<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let looking: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // Timers come before arrivals in a turn of the event loop, immediates after them.
      looking = setImmediate(() => reject(new SilentError(`nothing was heard for ${ms / 1000} s`)));
    }, ms);
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      clearImmediate(looking);
    });
  });
}
