import type { ContainerChannel } from '../../containers/protocol/index.js';
import type { ModelRecord, RegistryView } from '../registry/index.js';
import {
  DEFAULT_BACK_OFF,
  Replica,
  type BackOff,
  type ContainerStarter,
  type ReplicaStatus,
} from './replica.js';

export interface DeployerOptions {
  readonly registry: RegistryView;
  readonly starter: ContainerStarter;
  /** Takes the channel of a replica into use: the engine's. */
  readonly addReplica: (channel: ContainerChannel) => void;
  readonly backOff?: BackOff;
  /** A replica was lost or could not start; it will be started again. */
  readonly onLost?: (status: ReplicaStatus) => void;
  /** Kernels of a replica have printed something; a container passes on little of much. */
  readonly onPrinted?: (status: ReplicaStatus, text: string) => void;
}

/**
 * Runs what the registry names: one replica of every registered model version, older ones too, so that a rollback finds
 * its model up. A version that is deleted stops.
 */
export class Deployer {
  private readonly replicas = new Map<ModelRecord, Replica>();
  private unwatch: () => void = () => undefined;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: DeployerOptions) {}

  start(): void {
    this.unwatch = this.options.registry.watch(({ kind }) => {
      if (kind === 'model') this.reconcile();
    });
    this.reconcile();
  }

  /** Stops every replica. */
  stop(): void {
    this.unwatch();
    for (const replica of this.replicas.values()) replica.stop();
    this.replicas.clear();
  }

  /** Resolves once no replica is on its first way up: each is up, or was lost and waits for another start. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.checkSettled();
    });
  }

  statuses(): readonly ReplicaStatus[] {
    return [...this.replicas.values()].map((replica) => replica.status());
  }

  private onStateChange(status: ReplicaStatus): void {
    if (status.state === 'down') this.options.onLost?.(status);
    this.checkSettled();
  }

  private checkSettled(): void {
    if (this.statuses().some(({ state }) => state === 'starting')) return;
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  private reconcile(): void {
    const { registry, starter, addReplica, backOff = DEFAULT_BACK_OFF } = this.options;
    // A version that is deleted and registered anew is another record, and another container.
    const wanted = new Set(registry.models().filter((model) => model.container.kind !== 'external'));
    for (const [model, replica] of this.replicas) {
      if (wanted.has(model)) continue;
      this.replicas.delete(model);
      replica.stop();
    }
    for (const model of wanted) {
      if (this.replicas.has(model)) continue;
      const replica = new Replica(
        model,
        0,
        starter,
        addReplica,
        backOff,
        (status) => this.onStateChange(status),
        (status, text) => this.options.onPrinted?.(status, text),
      );
      this.replicas.set(model, replica);
      replica.start();
    }
  }
}
