import type { ContextState, DriverState, PendingCommand, StreamState } from './driverState.js';

/** The command may not start before another one is over. */
export function waitFor(state: DriverState, pending: PendingCommand, sequence: number): void {
  if (!state.pending.has(sequence)) return;
  pending.blockers += 1;
  const waiting = state.dependents.get(sequence);
  if (waiting === undefined) state.dependents.set(sequence, [pending.sequence]);
  else waiting.push(pending.sequence);
}

/**
 * CUDA's rule of the legacy default stream: what it gets waits for all that the context's blocking streams have got so
 * far, and what they get waits for what it has got so far.
 */
export function joinAfterOthers(
  state: DriverState,
  context: ContextState,
  stream: StreamState,
  pending: PendingCommand,
): void {
  if (context.defaultStream !== 'legacy' || stream.nonBlocking) return;
  if (stream.id !== 0) {
    const last = context.streams.get(0)?.queue.at(-1);
    if (last !== undefined) waitFor(state, pending, last);
    return;
  }
  for (const other of context.streams.values()) {
    const last = other.queue.at(-1);
    if (other !== stream && !other.nonBlocking && last !== undefined) waitFor(state, pending, last);
  }
}
