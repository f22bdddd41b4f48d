import type { MessagePort } from 'node:worker_threads';
import type { NodePreparation } from '../../../simulator/cluster/index.js';
import type { KernelModel } from '../../models/index.js';
import type { KernelModelStart } from '../nodeHost.js';

/** To the loader's thread: a node, by the port on which it asks. */
export interface LoaderConnection {
  readonly port: MessagePort;
  /** Device profiles of its GPUs. */
  readonly gpus: readonly string[];
}

/** From a node to the loader. */
export interface LoadRequest {
  readonly line: number;
  readonly request: KernelModelStart;
}

/** From the loader to a node, one for each request, in their order. */
export type LoadReply =
  | {
      readonly kind: 'loaded';
      readonly line: number;
      readonly model: KernelModel;
      readonly preparation: NodePreparation;
    }
  /** The model cannot start. */
  | { readonly kind: 'refused'; readonly line: number; readonly reason: string };
