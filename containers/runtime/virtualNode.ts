import { GpuNode, type GpuNodeOptions } from '../../simulator/cluster/index.js';
import type { Clock } from '../../simulator/time/index.js';
import { Timeline } from '../../simulator/timeline/index.js';
import type { ContainerChannel } from '../protocol/index.js';
import { BusyMeter } from './busyMeter.js';
import { gpuActivities, watchGpus } from './gpuActivity.js';
import { gpuSamples } from './gpuSample.js';
import { InProcessChannel } from './inProcessChannel.js';
import type { ContainerOutlet, ModelContainer } from './modelContainer.js';
import { NodeContainers } from './nodeContainers.js';
import { Reservations, type NodeRoom } from './placement/index.js';
import type { KernelModelStart, NodeHost, NodeReport, TimelineSink } from './nodeHost.js';

/** The GPU node's own options; one H200 by default. */
export interface VirtualNodeOptions extends Partial<GpuNodeOptions> {
  readonly clock: Clock;
}

/** A GPU node in the present thread, on the clock that the frontend runs on: for replays and experiments. */
export class VirtualNode implements NodeHost {
  readonly name: string;
  readonly gpuNode: GpuNode;
  private readonly clock: Clock;
  private readonly meter = new BusyMeter();
  private readonly containers: NodeContainers;
  private recording: { readonly timeline: Timeline; readonly sink: TimelineSink } | undefined;
  private readonly reservations: Reservations;
  private nextLine = 0;
  private closed = false;

  constructor(options: VirtualNodeOptions) {
    const { clock, gpus = ['h200'], name = 'node0', ...rest } = options;
    this.name = name;
    this.clock = clock;
    this.gpuNode = new GpuNode(clock, { ...rest, name, gpus });
    this.reservations = new Reservations(name, this.gpuNode.profiles);
    this.containers = new NodeContainers({
      onFreed: (line) => this.reservations.release(line),
      clock,
      driver: this.gpuNode,
      gpuCount: gpus.length,
      meter: this.meter,
    });
  }

  start(request: KernelModelStart): ContainerChannel {
    const line = this.nextLine++;
    const channel = new InProcessChannel(this.clock, `${this.name}/container${line}`);
    const { containers, reservations } = this;
    const end: ModelContainer = {
      batchesInFlight: 0,
      onFrame: (frame) => {
        if (frame.kind === 'predict') reservations.onSent(line);
        containers.onFrame(line, frame);
      },
      close: () => containers.stop(line),
    };
    channel.connect(end);
    if (this.closed) {
      channel.onFrame({ kind: 'down', reason: this.closedReason });
      return channel;
    }
    const { gpu = 0, memory } = request;
    if (memory !== undefined) reservations.reserve(line, gpu, request, memory);
    const outlet: ContainerOutlet = {
      onFrame: (frame) => {
        if (frame.kind === 'result') reservations.onAnswered(line, frame.serviceNs);
        channel.onFrame(frame);
      },
    };
    containers.start(line, request, outlet);
    return channel;
  }

  room(): NodeRoom {
    return this.reservations.room();
  }

  watchRoom(listener: () => void): void {
    this.reservations.watch(listener);
  }

  /** A cordoned GPU takes no replica more. */
  cordon(gpu: number, isCordoned: boolean): void {
    this.reservations.cordon(gpu, isCordoned);
  }

  report(): NodeReport {
    const verdicts = this.gpuNode.verdictMetrics();
    return {
      node: this.name,
      room: this.room(),
      replicas: this.containers.size,
      busyHostSeconds: 0,
      busySimulatedSeconds: this.meter.times().busySimulatedNs / 1e9,
      dilation: undefined,
      hostBusyShare: undefined,
      clockLagSeconds: 0,
      gpus: gpuActivities(this.gpuNode),
      spans: gpuSamples(this.gpuNode, (context) => this.containers.ownerOf(context)).map((latest) => ({
        latest,
        earlier: undefined,
      })),
      ...(verdicts === undefined ? {} : { verdicts }),
    };
  }

  watchGpus(watched: boolean): void {
    watchGpus(this.gpuNode, watched);
  }

  record(limit: number, sink: TimelineSink): ReturnType<NodeHost['record']> {
    if (this.closed) return 'down';
    if (this.recording !== undefined) return 'recording';
    const timeline = new Timeline(this.gpuNode, (text) => sink.onText(text), {
      limit,
      contextName: (context) => this.containers.nameOf(context),
    });
    this.recording = { timeline, sink };
    return 'begun';
  }

  stopRecording(): void {
    const { recording } = this;
    this.recording = undefined;
    recording?.timeline.end();
    recording?.sink.onEnd();
  }

  drain(done: () => void): void {
    this.containers.drain(done);
  }

  close(done: () => void): void {
    if (!this.closed) {
      this.closed = true;
      this.stopRecording();
      this.containers.stopAll(this.closedReason);
      this.gpuNode.close();
    }
    done();
  }

  private get closedReason(): string {
    return `GPU node '${this.name}' is closed`;
  }
}
