import type { LaunchClass } from '../../simulator/scheduling/index.js';
import type { CardMisfits, MemoryNeeds } from '../models/index.js';
import type { ContainerFrame, FrameSink, FrontendFrame, InputType } from '../protocol/index.js';
import type { ExecSource, ProcessSource, PythonSource } from './process/index.js';
import type { ReplicaIdentity } from './replicaIdentity.js';

/** What runs a model. */
export type ContainerSource =
  /** A folder with a manifest, run on a GPU node; absolute, or relative to the package's root. */
  | {
      readonly kind: 'kernelModel';
      readonly path: string;
      /** How much its launches may be made to wait by others; absent: `standard`. */
      readonly launchClass?: LaunchClass;
      /** The name of the only GPU that its replicas may have (`gpuName`); absent: any. */
      readonly gpu?: string;
      /** What one replica takes of a GPU; absent: found out when it is needed. */
      readonly memory?: MemoryNeeds;
      /** Of the cards that there were when it was registered, those that cannot hold it. */
      readonly misfits?: CardMisfits;
    }
  /** Answers every input with the same output, in process: the yardstick of serving overhead. */
  | { readonly kind: 'constant'; readonly output: string }
  /** A user's JavaScript module in a process of its own. */
  | ({ readonly kind: 'process' } & ProcessSource)
  /** A user's Python module in a process of its own. */
  | ({ readonly kind: 'python' } & PythonSource)
  /** A user's program, which reads and writes lines of JSON. */
  | ({ readonly kind: 'exec' } & ExecSource);

/** One replica to start. */
export interface ContainerStart extends ReplicaIdentity {
  /** What the registry says of the model; a container that takes something else does not start. */
  readonly inputType: InputType;
  readonly inputLength?: number;
  readonly container: ContainerSource;
  /** The hash of `sourceContent` when the version was registered; files that say something else do not start. */
  readonly contentHash?: string;
}

/**
 * A replica at work. It takes the frontend's frames and answers into the sink it was made with: `hello` once it is
 * ready, one result a batch, `down` when it cannot go on. It never answers inside `onFrame`'s call chain as seen by the
 * frontend: channels see to that.
 */
export interface ModelContainer extends FrameSink<FrontendFrame> {
  /** Batches taken and not answered. */
  readonly batchesInFlight: number;
  /** Stops at once and gives back what it holds; batches in flight get no answer. */
  close(): void;
}

export type ContainerOutlet = FrameSink<ContainerFrame>;
