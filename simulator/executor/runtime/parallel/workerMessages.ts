import type { MessagePort } from 'node:worker_threads';
import type { IrModule } from '../../../ptx/index.js';
import type { CodeForm, Optimisation } from '../../compiler/index.js';
import type { KernelFault, LaunchShape } from '../../types.js';
import type { PreparedKernel } from '../preparedKernels.js';

/** What a worker is started with. */
export interface WorkerStart {
  readonly memory: WebAssembly.Memory;
  readonly port: MessagePort;
  readonly without: readonly Optimisation[];
}

export type ToBlockWorker =
  /** A module that launches will name by its number. */
  | { readonly kind: 'module'; readonly id: number; readonly ir: IrModule }
  /** Code for launches to come, which need not be compiled then. */
  | { readonly kind: 'code'; readonly kernel: PreparedKernel }
  /** Blocks to run; everything else about the launch stands in the worker's area. */
  | {
      readonly kind: 'launch';
      /** Number of the worker among those of the launch. */
      readonly helper: number;
      readonly module: number;
      /** Index of the kernel among the module's functions. */
      readonly kernel: number;
      readonly form: CodeForm;
      readonly shape: LaunchShape;
      readonly area: number;
      readonly queue: SharedArrayBuffer;
      readonly blocks: number;
      readonly perTurn: number;
      readonly threads: number;
      readonly firstBlock: number;
      /** Whether to take part though no blocks are left. */
      readonly together: boolean;
    }
  /** The launch has ended at this block (see BlockShare.forgetFrom). */
  | { readonly kind: 'forget'; readonly block: number };

export type FromBlockWorker =
  | { readonly kind: 'fault'; readonly fault: KernelFault }
  | { readonly kind: 'failed'; readonly reason: string };
