import type { DriverFailure, DriverResult } from './commands.js';
import type { ContextState, PendingCommand } from './driverState.js';

/** Watches the driver's commands; what it is shown is the driver's own state, to read and to let be. */
export interface DriverObserver {
  /** Has reached its stream, where it waits for what is before it. Commands that act at once never do. */
  onQueued(command: PendingCommand, context: ContextState): void;
  /** Is its stream's oldest, or a node of a graph that waits for no other any more, and begins. A wait for an event begins anew whenever something was recorded. */
  onStarted(command: PendingCommand, context: ContextState): void;
  /** @param context undefined: it has none, or no longer */
  onCompleted(
    command: PendingCommand,
    context: ContextState | undefined,
    result: DriverResult | undefined,
    failure: DriverFailure | undefined,
  ): void;
  /** A copy engine begins on a copy. */
  onCopyStarted(engine: string, copy: PendingCommand, context: ContextState): void;
  /** It is free again: the copy is done, or its context is. */
  onCopyEnded(engine: string, sequence: number): void;
}
