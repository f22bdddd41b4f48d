import { DEVICE_HEAP_BYTES, PRINTF_FIFO_BYTES, usesHeap } from '../executor/index.js';
import type { DeviceProfile } from '../gpu/index.js';
import type { IrModule } from '../ptx/index.js';

/** CUDA's default `cudaLimitStackSize`. */
const STACK_BYTES = 1024;

/** What a module takes of the GPU's memory, beside its code. */
export interface ModuleMemory {
  /** Bytes of each `.global` and `.const` variable. */
  readonly variables: readonly number[];
  /** Its kernels allocate: the context has a heap from its loading on. */
  readonly usesHeap: boolean;
  /** Its kernels print: the same with the buffer of `printf`. */
  readonly prints: boolean;
}

/** Bytes that a context takes of its GPU before anything is allocated: a stack for every thread that the SMs can hold. */
export function contextBytes({ sms, warpSize, limits }: DeviceProfile): number {
  return sms * limits.warpsPerSm * warpSize * STACK_BYTES;
}

/** @param ir lowered */
export function moduleMemory({ variables, functions }: IrModule): ModuleMemory {
  return {
    variables: variables.flatMap(({ space, bytes }) =>
      space === 'global' || space === 'const' ? [bytes] : [],
    ),
    usesHeap: functions.some(usesHeap),
    prints: functions.some(({ instructions }) => instructions.some(({ opcode }) => opcode === 'vprintf')),
  };
}

/** Bytes that modules take together in one context, which has one heap and one buffer for all of them. */
export function modulesBytes(modules: Iterable<ModuleMemory>): number {
  let bytes = 0;
  let hasHeap = false;
  let hasBuffer = false;
  for (const module of modules) {
    bytes += module.variables.reduce((sum, each) => sum + each, 0);
    hasHeap ||= module.usesHeap;
    hasBuffer ||= module.prints;
  }
  return bytes + (hasHeap ? DEVICE_HEAP_BYTES : 0) + (hasBuffer ? PRINTF_FIFO_BYTES : 0);
}
