import { MemoryError } from '../executor/index.js';
import { GpuError } from '../gpu/index.js';
import type { DriverErrorCode, DriverFailure } from './commands.js';

/** Why a command is refused; becomes the failure of its completion. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly code: DriverErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** The failure that an error of a lower room amounts to; what is no refusal is a bug and is thrown on. */
export function failureOf(error: unknown, otherwise?: DriverErrorCode): DriverFailure {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  if (error instanceof GpuError && error.code === 'invalidLaunch') {
    return { code: 'invalidLaunch', message: error.message };
  }
  if (error instanceof GpuError && error.code === 'invalidShare') {
    return { code: 'invalidValue', message: error.message };
  }
  if (error instanceof MemoryError) {
    const code = error.code === 'outOfBackingMemory' ? 'outOfBackingMemory' : 'invalidValue';
    return { code, message: error.message };
  }
  if (otherwise !== undefined && error instanceof Error) return { code: otherwise, message: error.message };
  throw error;
}
