import type { HostNetwork } from '../../../simulator/cluster/index.js';
import { type HostLine } from '../../../simulator/cluster/index.js';
import {
  FrameReader,
  encodeFrame,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
} from '../../protocol/index.js';
import type { ContainerOutlet, ModelContainer } from '../modelContainer.js';

/**
 * Both ends of a line between two hosts of a simulated network, for virtual time: frames travel as the bytes that a
 * socket would carry, and take the time that the hosts' cards and the switch give them.
 */
export class NetworkChannel implements ContainerChannel, ContainerOutlet {
  private readonly outbound: HostLine<Uint8Array>;
  private readonly inbound: HostLine<Uint8Array>;
  private readonly early: ContainerFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;
  private container: ModelContainer | undefined;
  private isClosed = false;

  constructor(network: HostNetwork, frontendHost: string, containerHost: string) {
    const toContainer = new FrameReader((frame) => {
      if (!this.isClosed) this.container?.onFrame(frame as FrontendFrame);
    });
    const toFrontend = new FrameReader((frame) => this.arrive(frame as ContainerFrame));
    this.outbound = network.connect(frontendHost, containerHost, {
      onMessage: (bytes) => toContainer.push(bytes),
    });
    this.inbound = network.connect(containerHost, frontendHost, {
      onMessage: (bytes) => toFrontend.push(bytes),
    });
  }

  /** The container at the other end; it may have answered before it is known here. */
  connect(container: ModelContainer): void {
    this.container = container;
    if (this.isClosed) container.close();
  }

  /** From the container. */
  onFrame(frame: ContainerFrame): void {
    if (this.isClosed) return;
    const bytes = encodeFrame(frame);
    this.inbound.send(bytes, bytes.length);
  }

  send(frame: FrontendFrame): void {
    if (this.isClosed) return;
    const bytes = encodeFrame(frame);
    this.outbound.send(bytes, bytes.length);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    if (this.sink !== undefined) throw new Error('this channel is open already');
    this.sink = sink;
    for (const frame of this.early.splice(0)) sink.onFrame(frame);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.container?.close();
  }

  private arrive(frame: ContainerFrame): void {
    if (this.isClosed) return;
    if (this.sink === undefined) this.early.push(frame);
    else this.sink.onFrame(frame);
    if (frame.kind === 'down') this.close();
  }
}
