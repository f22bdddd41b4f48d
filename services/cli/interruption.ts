import { SAME_SIGNAL_MS } from './stopSignal.js';

/** What a shell says of a process that a signal has ended. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

type EndingSignal = (typeof SIGNALS)[number];

let heard: EndingSignal | undefined;

/** What the process ends with where an `interruption` has heard a signal; undefined: none has. */
export function interruptedCode(): number | undefined {
  return heard === undefined ? undefined : EXIT_CODES[heard];
}

export interface Interruption {
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** From here on a signal ends the process as it would without this. */
  end(): void;
}

/**
 * For a command that has something to finish when it is told to stop: what was found so far, a terminal to put right. It is to do so at
 * once; a second signal ends the process. Commands without such a thing need none of this: a signal ends them.
 */
export function interruption(): Interruption {
  const stop = new AbortController();
  let firstMs: number | undefined;
  const end = onSignals((signal) => {
    const nowMs = performance.now();
    heard ??= signal;
    if (firstMs !== undefined && nowMs - firstMs > SAME_SIGNAL_MS) process.exit(EXIT_CODES[signal]);
    firstMs ??= nowMs;
    stop.abort();
  });
  return { signal: stop.signal, end };
}

/**
 * For something that must not be left behind, such as a temporary folder.
 * @param cleanUp called before a signal ends the process: synchronous
 * @returns to be called once there is nothing left
 */
export function cleanedUp(cleanUp: () => void): () => void {
  return onSignals((signal) => {
    cleanUp();
    process.exit(EXIT_CODES[signal]);
  });
}

/** @returns which takes the listener away */
function onSignals(listener: (signal: EndingSignal) => void): () => void {
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}
