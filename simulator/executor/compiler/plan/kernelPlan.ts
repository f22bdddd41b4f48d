import type { CodeForm } from './codeForm.js';
import type { IrFunction, IrModule } from '../../../ptx/index.js';
import type { LocalLayout, SharedLayout } from '../../module/index.js';
import type {
  AccessGroups,
  ExitMarks,
  FlowGraph,
  SyncPoint,
  NodeLiveness,
  ThreadContext,
} from '../analysis/index.js';
import type { ImportedOperations, RuntimeImports } from '../hostCalls/index.js';
import type { Library } from '../library/index.js';

/** What all regions of a kernel share while it is compiled. */
export interface KernelPlan {
  readonly ir: IrModule;
  readonly fn: IrFunction;
  readonly form: CodeForm;
  /** Whether threads give way to one another, because they wait for each other or may have to stop. */
  readonly takesTurns: boolean;
  /** Whether blocks meet in clusters: then shared addresses tell ranks, and shared memory lies where the launch record says. */
  readonly meetsInCluster: boolean;
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
