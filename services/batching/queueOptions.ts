import type { ContainerChannel, HelloFrame, LaunchClass } from '../../containers/protocol/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { BatchingObserver } from './batchRecord.js';
import type { BatchSizeController } from './batchSize.js';
import type { Evaluation } from './evaluation.js';
import type { HangPatience } from './hangPatience.js';
import type { HangLimits } from './hangWatchdog.js';
import type { Batch } from './inFlight.js';
import type { ReplicaQueue } from './replicaQueue.js';
import type { ServicePast } from './servicePast.js';
import type { SuspectInputs } from './suspectInputs.js';

/** What a lost replica had. */
export interface ReplicaLoss {
  readonly reason: string;
  /** In order of sending. */
  readonly inFlight: readonly Batch[];
  /** Most urgent first. */
  readonly queued: readonly Evaluation[];
  /** It had answered nothing: nothing from before can have taken it down. */
  readonly isFresh: boolean;
  /** It was taken out of use on purpose, or the way to it broke: what it worked on has nothing to do with it. */
  readonly isIntended: boolean;
}

export interface ReplicaQueueOptions {
  readonly clock: Clock;
  /** The queue's name on the clock. */
  readonly port: string;
  readonly channel: ContainerChannel;
  readonly hello: HelloFrame;
  /** What the container's launches have where a batch says nothing. */
  readonly launchClass: LaunchClass;
  readonly controller: BatchSizeController;
  /** Evaluations that may wait; more are refused. */
  readonly maxQueued: number;
  /** How long a batch that is not full waits for company. */
  readonly delayNs: number;
  /** When silence means that the replica is lost; undefined: never. */
  readonly hang: HangLimits | undefined;
  /** The model's, shared by its replicas. */
  readonly patience: HangPatience;
  readonly suspects: SuspectInputs;
  /** What batches of late have taken all replicas of the model. */
  readonly elsewhere: ServicePast;
  /** Takes what may take the replica down to one that is there for it; says whether there is one. */
  readonly sendApart: (evaluation: Evaluation) => boolean;
  readonly observer: BatchingObserver;
  /** Told whenever what it has before it, or what it is seen to need, may be another than before. */
  readonly onLoad: (queue: ReplicaQueue) => void;
  /** Told once, with everything that was queued or sent and not answered. */
  readonly onLost: (queue: ReplicaQueue, loss: ReplicaLoss) => void;
}
