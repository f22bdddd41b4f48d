import type { DeviceProfile } from '../gpu/index.js';
import { isInline } from './copyTraffic.js';
import type { ContextState, DriverState, PendingCommand } from './driverState.js';

/**
 * Whether the device's front end is at work for a context, by itself and on no SM and no copy engine: a time stamp, a small fill or
 * copy. What its streams hold behind that follows without the host, so that the context is not idle.
 */
export function isAtFrontEnd(state: DriverState, context: ContextState, profile: DeviceProfile): boolean {
  for (const { queue } of context.streams.values()) {
    const oldest = state.pending.get(queue[0] ?? -1);
    if (oldest === undefined) continue;
    if (isFrontEndWork(oldest, profile)) return true;
    for (const node of oldest.run?.sequences ?? []) {
      const pending = state.pending.get(node);
      if (pending !== undefined && isFrontEndWork(pending, profile)) return true;
    }
  }
  return false;
}

/** Of a command that runs: what no SM, no copy engine and no host does. */
export function isFrontEndWork({ phase, command }: PendingCommand, profile: DeviceProfile): boolean {
  if (phase !== 'running') return false;
  if (command.op === 'memset' || command.op === 'memcpyHostToDevice') return isInline(command, profile);
  return command.op === 'eventRecord';
}
