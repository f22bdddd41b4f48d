import type { CommandSink } from '../../simulator/driver/index.js';
import type { Clock } from '../../simulator/time/index.js';
import { ModelError, inputForm, type KernelModel } from '../models/index.js';
import type { ContainerFrame, FrontendFrame } from '../protocol/index.js';
import type { BusyMeter } from './busyMeter.js';
import { loadRegistered } from './sourceContent.js';
import { KernelModelContainer, type HostTurn } from './kernel/index.js';
import type { ContainerOutlet } from './modelContainer.js';
import type { ReplicaIdentity } from './replicaIdentity.js';
import type { KernelModelStart } from './nodeHost.js';

/** The part of a GPU node that containers use. */
export interface NodeAccess {
  readonly clock: Clock;
  readonly driver: CommandSink;
  readonly gpuCount: number;
  readonly meter: BusyMeter;
  /** Lets the host do something else between parts of long work; at once unless given. */
  readonly hostTurn?: HostTurn;
  /** What a line's container held of its GPU is given back: the last that is heard of it. */
  readonly onFreed?: (line: number) => void;
}

interface RunningContainer {
  readonly identity: ReplicaIdentity;
  /** Missing only while it is being made. */
  container: KernelModelContainer | undefined;
  readonly outlet: ContainerOutlet;
}

/** The kernel models of one node. On which of its GPUs each runs is said by whoever starts it. */
export class NodeContainers {
  private readonly running = new Map<number, RunningContainer>();
  private waiting: (() => void)[] = [];

  constructor(private readonly node: NodeAccess) {}

  get size(): number {
    return this.running.size;
  }

  /**
   * Starts a container under a line number; a failure is a `down` frame at the outlet.
   * @param loaded the model at the request's path, where another thread has loaded it
   */
  start(line: number, request: KernelModelStart, outlet: ContainerOutlet, loaded?: KernelModel): void {
    let model: KernelModel;
    try {
      model = loaded ?? loadRegistered(request);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.refuse(line, outlet, error.message);
      return;
    }
    const { model: name, version, replica, launchClass, gpu = 0 } = request;
    const mismatch = gpu < this.node.gpuCount ? mismatchOf(request, model) : `the node has no GPU ${gpu}`;
    if (mismatch !== undefined) {
      this.refuse(line, outlet, mismatch);
      return;
    }
    const identity = { model: name, version, replica };
    const entry: RunningContainer = { identity, container: undefined, outlet };
    this.running.set(line, entry);
    const { clock, driver, meter, hostTurn } = this.node;
    entry.container = new KernelModelContainer({
      model,
      identity,
      clock,
      driver,
      gpu,
      meter,
      ...(hostTurn === undefined ? {} : { hostTurn }),
      onFreed: () => this.node.onFreed?.(line),
      ...(launchClass === undefined ? {} : { launchClass }),
      outlet: {
        onFrame: (frame: ContainerFrame) => {
          if (frame.kind === 'down') this.forget(line);
          outlet.onFrame(frame);
          this.checkDrained();
        },
      },
    });
  }

  /** Whose a context is. */
  ownerOf(context: number): ReplicaIdentity | undefined {
    for (const { container, identity } of this.running.values()) {
      if (container?.context === context) return identity;
    }
    return undefined;
  }

  /** The same for people. */
  nameOf(context: number): string | undefined {
    const owner = this.ownerOf(context);
    return owner === undefined ? undefined : `${owner.model} ${owner.version}, replica ${owner.replica}`;
  }

  onFrame(line: number, frame: FrontendFrame): void {
    this.running.get(line)?.container?.onFrame(frame);
  }

  stop(line: number): void {
    this.running.get(line)?.container?.close();
    this.forget(line);
    this.checkDrained();
  }

  /** Stops all; each line hears `down`. */
  stopAll(reason: string): void {
    for (const [line, { outlet }] of [...this.running]) {
      this.stop(line);
      outlet.onFrame({ kind: 'down', reason });
    }
  }

  /** Calls back once no batch is in flight, at once when none is. */
  drain(done: () => void): void {
    this.waiting.push(done);
    this.checkDrained();
  }

  private forget(line: number): void {
    this.running.delete(line);
  }

  private refuse(line: number, outlet: ContainerOutlet, reason: string): void {
    outlet.onFrame({ kind: 'down', reason });
    this.node.onFreed?.(line);
  }

  private checkDrained(): void {
    if (this.waiting.length === 0) return;
    for (const { container } of this.running.values()) {
      if (container !== undefined && container.batchesInFlight > 0) return;
    }
    for (const done of this.waiting.splice(0)) done();
  }
}

function mismatchOf(request: KernelModelStart, { folder, manifest }: KernelModel): string | undefined {
  const { type } = manifest.inputs[0];
  const { length } = inputForm(manifest);
  const who = `model '${request.model}' version '${request.version}'`;
  if (request.inputType !== type) {
    return `${folder}: inputs[0].type: the model takes ${type}, ${who} is registered with ${request.inputType}`;
  }
  if (request.inputLength !== undefined && request.inputLength !== length) {
    return `${folder}: inputs[0].shape: the model takes ${length} values, ${who} is registered with ${request.inputLength}`;
  }
  return undefined;
}
