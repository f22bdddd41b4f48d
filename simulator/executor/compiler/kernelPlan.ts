import type { IrFunction, IrModule } from '../../ptx/index.js';
import type { LocalLayout, SharedLayout } from '../module/index.js';
import type { AccessGroups } from './accessGroups.js';
import type { FlowGraph } from './flowGraph.js';
import type { ImportedOperations } from './importedOperations.js';
import type { Library } from './library.js';
import type { NodeLiveness } from './nodeLiveness.js';
import type { ThreadContext } from './threadContext.js';

/** What all regions of a kernel share while it is compiled. */
export interface KernelPlan {
  readonly ir: IrModule;
  readonly fn: IrFunction;
  readonly graph: FlowGraph;
  readonly liveness: NodeLiveness;
  readonly exact: Uint8Array;
  readonly groups: AccessGroups;
  readonly sharedLayout: SharedLayout;
  readonly localLayout: LocalLayout;
  readonly context: ThreadContext;
  /** Registers that warp operations read from the contexts of waiting threads. */
  readonly exchanged: ReadonlySet<number>;
  readonly library: Library;
  readonly imported: ImportedOperations;
  /** Whether a block's shared memory must be cleared before it. */
  readonly usesShared: boolean;
  /** First node of a region: 0 is the kernel's entry, k + 1 what follows sync point k. */
  entryOf(region: number): number;
  /** Where a module variable's device address lies in the executor's area. */
  symbolAddress(name: string): number;
}
