import type { MessagePort } from 'node:worker_threads';
import type { UnknownKernel } from '../../../simulator/cluster/index.js';
import type { KernelAnalysis } from '../../../simulator/idempotency/index.js';

/** To the analyst's thread: a node, by the port on which it asks. */
export interface AnalystConnection {
  readonly port: MessagePort;
  readonly cacheDirectory: string | undefined;
}

/** From a node to the analyst; answered in order, one reply each. */
export type AnalysisRequest = UnknownKernel;

export type AnalysisReply =
  | {
      readonly kind: 'analysed';
      readonly analysis: KernelAnalysis;
      /** Of the host, for looking it up or analysing it. */
      readonly hostNs: number;
      /** It was analysed before. */
      readonly isRemembered: boolean;
    }
  /** It stays unknown. */
  | { readonly kind: 'failed'; readonly key: string; readonly reason: string };
