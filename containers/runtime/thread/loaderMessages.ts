import type { MessagePort } from 'node:worker_threads';
import type { NodePreparation } from '../../../simulator/cluster/index.js';
import type { PreparedKernel, WantedCode } from '../../../simulator/executor/index.js';
import type { KernelModel } from '../../models/index.js';
import type { KernelModelStart } from '../nodeHost.js';

/** To the loader's thread: a node, by the port on which it asks. */
export interface LoaderConnection {
  readonly port: MessagePort;
  /** Device profiles of its GPUs. */
  readonly gpus: readonly string[];
}

/** From a node to the loader. */
export type LoadRequest =
  | {
      readonly kind: 'load';
      readonly line: number;
      readonly request: KernelModelStart;
      /** Whether launches may be killed or struck by faults, and their stores have to be kept. */
      readonly isObserved: boolean;
    }
  /** Code of a kernel that the loader has given before, in another form. */
  | { readonly kind: 'make'; readonly wanted: WantedCode };

/** From the loader to a node: one for each model, in the order of requests, and one for each code that could be made. */
export type LoadReply =
  | {
      readonly kind: 'loaded';
      readonly line: number;
      readonly model: KernelModel;
      readonly preparation: NodePreparation;
    }
  | { readonly kind: 'made'; readonly kernel: PreparedKernel }
  /** The model cannot start. */
  | { readonly kind: 'refused'; readonly line: number; readonly reason: string };
