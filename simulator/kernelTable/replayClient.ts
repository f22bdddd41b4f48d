import { wholeNumberHistogram, type Histogram } from '../../simulator/statistics/index.js';
import type { CompletionSink, DriverCommand, DriverCompletion } from '../driver/index.js';
import { KernelTableError } from './kernelTableError.js';

type LaunchArgs = Extract<DriverCommand, { op: 'launch' }>['args'];

/** A launch of a pass, of which a share is idempotent. */
export interface ClientLaunch {
  readonly idempotent: number;
  readonly args: LaunchArgs;
  readonly refusedArgs: LaunchArgs;
}

/** What a client works with. */
export interface ClientSurroundings {
  submit(command: DriverCommand, sink: CompletionSink): void;
  nowNs(): number;
  /** How many more launches may be submitted, all clients together; takes them. */
  take(wanted: number): number;
  /** From 0 to below 1, for shares. */
  draw(): number;
}

/** Sends passes of one table into a stream of its own context; a pass is over when its last launch is. */
export class ReplayClient implements CompletionSink {
  launches = 0;
  requests = 0;
  readonly latencies: Histogram = wholeNumberHistogram();
  /** Of a pass; the histogram rounds. */
  longestNs = 0;
  private ticket = 0;
  /** Starts of passes under way, oldest first, with the tickets of their last launches. */
  private readonly passes: {
    readonly startNs: number;
    readonly lastTicket: number;
    readonly isWhole: boolean;
  }[] = [];

  constructor(
    private readonly around: ClientSurroundings,
    private readonly context: number,
    private readonly stream: number,
    private readonly table: readonly ClientLaunch[],
    /** Starts the next pass when one is over. */
    private readonly isClosedLoop: boolean,
  ) {}

  get inFlight(): number {
    return this.passes.length;
  }

  /** Launches that were sent and are not through. */
  get waiting(): number {
    return this.ticket - this.launches;
  }

  /** Sends a pass, or as much of one as may still be sent. */
  start(): void {
    const count = this.around.take(this.table.length);
    if (count === 0) return;
    this.passes.push({
      startNs: this.around.nowNs(),
      lastTicket: this.ticket + count,
      isWhole: count === this.table.length,
    });
    const { context, stream } = this;
    for (let index = 0; index < count; index++) {
      this.ticket += 1;
      const args = this.argsOf(this.table[index]);
      this.around.submit({ ticket: this.ticket, context, stream, op: 'launch', args }, this);
    }
  }

  private argsOf({ idempotent, args, refusedArgs }: ClientLaunch): LaunchArgs {
    if (idempotent <= 0 || idempotent >= 1) return args;
    return this.around.draw() < idempotent ? args : refusedArgs;
  }

  onCompletion({ ticket, failure, timeNs }: DriverCompletion): void {
    if (failure !== undefined) throw new KernelTableError('refused', failure.message);
    this.launches += 1;
    const pass = this.passes[0];
    if (pass?.lastTicket !== ticket) return;
    this.passes.shift();
    if (pass.isWhole) {
      this.requests += 1;
      const latencyNs = Math.max(1, Math.round(timeNs - pass.startNs));
      this.longestNs = Math.max(this.longestNs, latencyNs);
      this.latencies.recordValue(latencyNs);
    }
    if (this.isClosedLoop) this.start();
  }
}
