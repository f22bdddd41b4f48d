import type { MessagePort } from 'node:worker_threads';
import type { UnknownKernel } from '../../../simulator/cluster/index.js';
import type { KernelAnalysis } from '../../../simulator/idempotency/index.js';

/** To the analyst's thread: a node, by the port on which it asks. */
export interface AnalystConnection {
  readonly port: MessagePort;
  readonly cacheDirectory: string | undefined;
  /** Of npm, which is asked what analysis leaves open, where it is installed. */
  readonly solverPackage: string;
}

/** From a node to the analyst; answered in order, one reply each. `proved` may come after that. */
export type AnalysisRequest = UnknownKernel;

export type AnalysisReply =
  | {
      readonly kind: 'analysed';
      readonly analysis: KernelAnalysis;
      /** Of the host, for looking it up or analysing it. */
      readonly hostNs: number;
      /** It was analysed before. */
      readonly isRemembered: boolean;
      /** A solver might find more, and there is none. */
      readonly isUnasked: boolean;
    }
  /** A solver was asked about a kernel that was analysed before. */
  | {
      readonly kind: 'proved';
      /** Where it found more. */
      readonly analysis?: KernelAnalysis;
      readonly hostNs: number;
      /** It gave no answer: what was found without it stands. */
      readonly isBroken: boolean;
    }
  /** It stays unknown. */
  | { readonly kind: 'failed'; readonly key: string; readonly reason: string };
