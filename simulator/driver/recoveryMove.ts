import type { CopyCommand } from './copyTraffic.js';
import type { PendingCommand } from './driverState.js';

const NO_BYTES = new Uint8Array(0);

/**
 * The copy over the bus that saves a launch's memory at the host, or restores it, as a copy engine has it: pinned, and in the launch's
 * place in its stream. Undefined: no such copy is under way.
 */
export function recoveryMove({ command, recovery }: PendingCommand): CopyCommand | undefined {
  const { ticket, context, stream } = command;
  const { step, saved } = recovery ?? {};
  if (saved === undefined) return undefined;
  const { address, bytes } = saved;
  if (step === 'saving') {
    return { ticket, context, stream, op: 'memcpyDeviceToHost', args: { address, bytes, pinned: true } };
  }
  if (step === 'restoring') {
    const args = { address, bytes: NO_BYTES, declaredBytes: bytes, pinned: true };
    return { ticket, context, stream, op: 'memcpyHostToDevice', args };
  }
  return undefined;
}
