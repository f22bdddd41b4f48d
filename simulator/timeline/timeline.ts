import type { GpuNode, NodeObserver } from '../cluster/index.js';
import { DeviceTimeline } from './deviceTimeline.js';
import { DriverTimeline } from './driverTimeline.js';
import { TrackNumbers } from './track.js';
import { TraceWriter, type TraceWriterOptions } from './traceWriter.js';

export interface TimelineOptions extends TraceWriterOptions {
  /** What a context is there for, for its track's name. */
  readonly contextName?: (context: number) => string | undefined;
}

/**
 * Records what a node does from here on, until `end`, in Chrome's trace event format. It keeps what is under way and
 * nothing else; a node has one recording at a time. What is simulated does not depend on it.
 */
export class Timeline implements NodeObserver {
  readonly driver: DriverTimeline;
  readonly devices: readonly DeviceTimeline[];
  private readonly writer: TraceWriter;
  private hasEnded = false;

  /** @param sink gets the text piece by piece, the last one within `end` */
  constructor(
    private readonly node: GpuNode,
    sink: (text: string) => void,
    options: TimelineOptions = {},
  ) {
    this.writer = new TraceWriter(
      sink,
      {
        simulator: 'windjammer',
        node: node.name,
        clock: "simulated time since the node's start; nothing here is host time",
        fromNs: node.nowNs(),
      },
      options,
    );
    const gpus = node.profiles.map(({ productName }, gpu) => {
      const process = { pid: gpu + 1, numbers: new TrackNumbers() };
      this.writer.processName(process.pid, `GPU ${gpu}: ${productName} (simulated)`, process.pid);
      return process;
    });
    this.devices = gpus.map(
      ({ pid, numbers }, gpu) => new DeviceTimeline(node.device(gpu), this.writer, numbers, pid),
    );
    this.driver = new DriverTimeline(
      this.writer,
      gpus,
      () => node.nowNs(),
      options.contextName ?? (() => undefined),
    );
    node.observe(this);
  }

  /** Events that the limit has left out so far. */
  get dropped(): number {
    return this.writer.dropped;
  }

  /** Stops, and completes the text. A second call does nothing. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.node.observe(undefined);
    const nowNs = this.node.nowNs();
    for (const device of this.devices) device.end(nowNs);
    this.driver.end(nowNs);
    this.writer.end();
  }
}
