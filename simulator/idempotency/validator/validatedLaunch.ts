import type { Dim3 } from '../../executor/index.js';
import type { AllocationMap } from './allocationMap.js';

/** What a verdict may know of a launch: nothing that memory holds. */
export interface ValidatedLaunch {
  /** Argument bytes at the offsets of the kernel's parameter space. */
  readonly params: Uint8Array;
  readonly shape: { readonly grid: Dim3; readonly block: Dim3 };
  /** Device addresses of the module's variables. */
  readonly symbols?: ReadonlyMap<string, number>;
  readonly allocations?: AllocationMap;
}
