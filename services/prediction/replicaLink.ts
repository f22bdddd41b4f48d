import type { ContainerChannel, ContainerFrame, FrameSink } from '../../containers/protocol/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { ReplicaGroup, ReplicaQueue } from '../batching/index.js';
import type { Directory } from './directory.js';
import type { PredictionObserver } from './observer.js';

/** A replica in use. */
export interface ReplicaHandle {
  /**
   * Gives it nothing more to do; closes its channel and calls back once what it had is answered. At once when it was lost
   * or has not said hello.
   */
  drain(done: () => void): void;
}

/** A replica from its first frame on: introduced by `hello`, then its queue's. */
export class ReplicaLink implements FrameSink<ContainerFrame>, ReplicaHandle {
  private queue: ReplicaQueue | undefined;
  private group: ReplicaGroup | undefined;
  private refused = false;

  constructor(
    private readonly channel: ContainerChannel,
    private readonly directory: Directory,
    private readonly observer: PredictionObserver,
    private readonly isApart: boolean,
  ) {}

  onFrame(frame: ContainerFrame): void {
    if (this.refused) return;
    if (this.queue !== undefined) {
      this.queue.onFrame(frame);
      return;
    }
    if (frame.kind !== 'hello') {
      const why = frame.kind === 'down' ? frame.reason : `'${frame.kind}' came before 'hello'`;
      this.refuse('', '', '', why);
      return;
    }
    const model = this.directory.model(frame.model, frame.version);
    if (model === undefined) {
      const why = `model '${frame.model}' version '${frame.version}' is not registered`;
      this.refuse(frame.model, frame.version, frame.replica, why);
      return;
    }
    try {
      this.queue = model.replicas.add(this.channel, frame, this.isApart);
      this.group = model.replicas;
    } catch (error) {
      const why = reasonOf(error);
      this.refuse(frame.model, frame.version, frame.replica, why);
    }
  }

  drain(done: () => void): void {
    if (this.queue !== undefined && this.group !== undefined) {
      this.group.retire(this.queue, done);
      return;
    }
    this.refused = true;
    this.channel.close();
    done();
  }

  private refuse(model: string, version: string, replica: string, why: string): void {
    this.refused = true;
    this.channel.close();
    this.observer.onReplicaRefused(model, version, replica, why);
  }
}
