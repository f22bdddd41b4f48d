import type { IrFunction, IrModule } from '../../ptx/index.js';
import type { LocalLayout, SharedLayout } from '../module/index.js';
import type { AccessGroups } from './accessGroups.js';
import type { ExitMarks } from './exitMarks.js';
import type { FlowGraph, SyncPoint } from './flowGraph.js';
import type { ImportedOperations } from './importedOperations.js';
import type { Library } from './library.js';
import type { NodeLiveness } from './nodeLiveness.js';
import type { Optimisation } from './optimisations.js';
import type { ThreadContext } from './threadContext.js';
import type { RuntimeImports } from './runtimeCallEmitter.js';

/** Which of the forms of a kernel's code to make; `{}` is the fast one. */
export interface CodeForm {
  /** Every access to global memory is written to the journal. */
  readonly observed?: boolean;
  /** A block that has used up its fuel stops at the next edge back instead of faulting. */
  readonly resumable?: boolean;
  /** Several threads run blocks at once, each in an area of its own: atomics on global memory are atomic among them. */
  readonly threaded?: boolean;
  /** Most groups of four lanes that the launch's blocks let go together (`mostGroups`); of the fast form. */
  readonly groups?: number;
  /** Lanes go together wherever they can, for tests: though the order of threads may show, and though it may not pay. */
  readonly alwaysTogether?: boolean;
  /** What is left out of fast code, to see what it brings; the results are the same. */
  readonly without?: ReadonlySet<Optimisation>;
}

/** What all regions of a kernel share while it is compiled. */
export interface KernelPlan {
  readonly ir: IrModule;
  readonly fn: IrFunction;
  readonly form: CodeForm;
  /** Whether threads give way to one another, because they wait for each other or may have to stop. */
  readonly takesTurns: boolean;
  /** Whether lanes of a warp are seen to go in step. */
  readonly isInStep: boolean;
  readonly graph: FlowGraph;
  readonly exits: ExitMarks;
  readonly liveness: NodeLiveness;
  readonly exact: Uint8Array;
  readonly groups: AccessGroups;
  readonly sharedLayout: SharedLayout;
  readonly localLayout: LocalLayout;
  readonly context: ThreadContext;
  /** Registers that warp operations read from the contexts of waiting threads. */
  readonly exchanged: ReadonlySet<number>;
  readonly library: Library;
  /** Index of the function that writes the journal; of observed code. */
  readonly journal: number;
  readonly imported: ImportedOperations;
  readonly runtime: RuntimeImports;
  /** Whether a block's shared memory must be cleared before it. */
  readonly usesShared: boolean;
  /** Where a thread may leave its region when it goes back from one node to another. */
  pointOf(from: number, to: number): SyncPoint | undefined;
  /** First node of a region: 0 is the kernel's entry, k + 1 what follows sync point k. */
  entryOf(region: number): number;
  /** Where a module variable's device address lies in the executor's area. */
  symbolAddress(name: string): number;
}
