import { estimateRegistersPerThread, type IrFunction } from '../../ptx/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { registersThatFit } from './occupancy.js';

const estimates = new WeakMap<IrFunction, WeakMap<DeviceProfile, number>>();

/**
 * How far above what fits an estimate may be before a block is refused for it: where so few registers are missing, the
 * card's assembler may well do with those that there are.
 */
const BENEFIT_OF_DOUBT = 1.25;

/**
 * Registers a thread of a kernel as it is executed, as the card's assembler would give them.
 * @param threads of the block that they are for: an estimate that is a little too high is no reason to refuse it
 */
export function estimateRegisters(kernel: IrFunction, profile: DeviceProfile, threads?: number): number {
  const estimate = estimateOf(kernel, profile);
  if (threads === undefined) return estimate;
  const fitting = registersThatFit(profile, threads);
  return estimate <= fitting * BENEFIT_OF_DOUBT ? Math.min(estimate, fitting) : estimate;
}

function estimateOf(kernel: IrFunction, profile: DeviceProfile): number {
  let known = estimates.get(kernel);
  if (known === undefined) {
    known = new WeakMap();
    estimates.set(kernel, known);
  }
  let registers = known.get(profile);
  if (registers === undefined) {
    const { limits } = profile;
    registers = estimateRegistersPerThread(kernel, {
      registersPerSm: limits.registersPerSm,
      threadsPerSm: limits.threadsPerSm,
      mostRegisters: limits.registersPerThread,
      uniformRegisters: limits.uniformRegistersPerWarp > 0,
    });
    known.set(profile, registers);
  }
  return registers;
}
