import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
} from '../../containers/protocol/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';

/** What a frontend spends on a query and on a batch, in CPU time. */
export interface FrontendCosts {
  /** Everything from a query's bytes on the socket to its answer's, but what grows with the input. */
  readonly queryNs: number;
  readonly inputByteNs: number;
  /** A frame to or from a container. */
  readonly frameNs: number;
  readonly sentByteNs: number;
}

interface Job {
  readonly costNs: number;
  readonly work: () => void;
}

/**
 * The one thread of a frontend, in virtual time, as an event loop is: what comes in is taken in order, and what a job
 * sends it sends within the job, which takes so much longer for it.
 */
export class FrontendCpu implements EventSink {
  private readonly jobs: Job[] = [];
  private isBusy = false;
  /** Charged since the last job began, and not waited for yet. */
  private chargedNs = 0;
  private spentNs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    readonly costs: FrontendCosts,
  ) {
    clock.attach(port, this);
  }

  /** CPU time spent so far. */
  get busyNs(): number {
    return this.spentNs;
  }

  /** Does `work` after everything that was there before, when so much CPU time has gone into it. */
  take(costNs: number, work: () => void): void {
    this.jobs.push({ costNs, work });
    if (!this.isBusy) this.begin();
  }

  /** The next job begins so much later. */
  charge(costNs: number): void {
    this.chargedNs += costNs;
    this.spentNs += costNs;
  }

  onEvent(): void {
    this.jobs.shift()?.work();
    this.isBusy = false;
    this.begin();
  }

  private begin(): void {
    const next = this.jobs.at(0);
    if (next === undefined) return;
    this.isBusy = true;
    this.spentNs += next.costNs;
    this.clock.schedule(this.port, this.clock.nowNs() + this.chargedNs + next.costNs, 'done');
    this.chargedNs = 0;
  }
}

/** A frontend's line to a replica, with what its frames cost the frontend. */
export class ChargedChannel implements ContainerChannel {
  constructor(
    private readonly inner: ContainerChannel,
    private readonly cpu: FrontendCpu,
  ) {}

  send(frame: FrontendFrame): void {
    const { frameNs, sentByteNs } = this.cpu.costs;
    const bytes =
      frame.kind === 'predict' ? frame.items.reduce((total, item) => total + item.bytes.length, 0) : 0;
    this.cpu.charge(frameNs + bytes * sentByteNs);
    this.inner.send(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    const { frameNs } = this.cpu.costs;
    this.inner.open({ onFrame: (frame) => this.cpu.take(frameNs, () => sink.onFrame(frame)) });
  }

  close(): void {
    this.inner.close();
  }
}
