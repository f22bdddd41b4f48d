import { isa } from '../ptx/index.js';
import type { IrInstruction } from '../ptx/index.js';

/** What an instruction means for the order of memory, by the PTX memory model. */
export interface MemoryOrder {
  readonly isFence: boolean;
  /** Atomics and accesses marked relaxed, acquire or release: two of them never make a data race. */
  readonly isStrong: boolean;
  readonly isVolatile: boolean;
  readonly isAcquire: boolean;
  readonly isRelease: boolean;
  /** Strong or volatile: other threads may be told something through it. */
  readonly synchronises: boolean;
}

export function memoryOrderOf({ opcode, modifiers }: IrInstruction): MemoryOrder {
  const { watch } = isa(opcode);
  const isAtomic = watch === 'update';
  const isAccess = watch === 'access';
  const has = (...names: string[]): boolean =>
    (isAtomic || isAccess) && names.some((name) => modifiers.includes(name));
  const isStrong = isAtomic || has('relaxed', 'acquire', 'release', 'mmio');
  const isVolatile = has('volatile');
  return {
    isFence: watch === 'barrierOfMemory' || (watch === 'fence' && !modifiers.includes('proxy')),
    isStrong,
    isVolatile,
    isAcquire: has('acquire', 'acq_rel'),
    isRelease: has('release', 'acq_rel'),
    synchronises: isStrong || isVolatile,
  };
}
