import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  HelloFrame,
  ItemResult,
  ResultFrame,
} from '../../../containers/protocol/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import type { WarmUp } from './warmUpInputs.js';

/** Batches of a warm-up are numbered from here on: no queue gets that far. */
export const FIRST_WARM_UP_BATCH = 4_000_000_000;

export interface WarmUpOptions {
  /** What to ask a replica that has said hello; undefined: nothing. A throw is told as the reason that it is down. */
  readonly warmUpFor: (hello: HelloFrame) => WarmUp | undefined;
  /** The replica is asked now. */
  readonly onWarming: (warmUp: WarmUp) => void;
  /** It has answered; the last batch, a single input that it is warm for, in so many milliseconds. */
  readonly onWarm: (lastBatchMs: number) => void;
  /** A replica that has not answered by then is given up. */
  readonly limitMs: number;
}

/**
 * A channel whose replica says `hello` only once it has answered what it was asked to warm up, so that the first query
 * does not wait for compilers. One whose answers are known to be wrong, or that answers nothing, is `down`.
 */
export class WarmUpChannel implements ContainerChannel {
  private sink: FrameSink<ContainerFrame> | undefined;
  private hello: HelloFrame | undefined;
  private warmUp: WarmUp | undefined;
  private isOver = false;
  private batch = 0;
  private askedMs = 0;
  /** Came before the sink has heard `hello`. */
  private readonly early: ContainerFrame[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly inner: ContainerChannel,
    private readonly options: WarmUpOptions,
  ) {}

  send(frame: FrontendFrame): void {
    this.inner.send(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner.open({ onFrame: (frame) => this.onFrame(frame, sink) });
  }

  isUnheard(): boolean {
    return this.inner.isUnheard?.() === true;
  }

  close(reason?: string): void {
    this.end();
    this.inner.close(reason);
  }

  private onFrame(frame: ContainerFrame, sink: FrameSink<ContainerFrame>): void {
    if (frame.kind === 'result' && frame.batchId >= FIRST_WARM_UP_BATCH) this.onAnswer(frame);
    else if (this.isOver) sink.onFrame(frame);
    else if (frame.kind === 'hello' && this.hello === undefined) this.onHello(frame);
    else if (frame.kind === 'down') {
      this.end();
      sink.onFrame(frame);
    } else if (frame.kind === 'printed') sink.onFrame(frame);
    else this.early.push(frame);
  }

  private onHello(hello: HelloFrame): void {
    this.hello = hello;
    try {
      this.warmUp = this.options.warmUpFor(hello);
    } catch (error) {
      this.fail(reasonOf(error));
      return;
    }
    if (this.warmUp === undefined) {
      this.finish(hello);
      return;
    }
    this.options.onWarming(this.warmUp);
    const { limitMs } = this.options;
    this.timer = setTimeout(() => this.fail(`it did not answer its warm-up in ${limitMs} ms`), limitMs);
    this.timer.unref();
    this.ask(this.warmUp);
  }

  private ask({ batches }: WarmUp): void {
    const budgetNs = this.options.limitMs * 1e6;
    this.askedMs = performance.now();
    this.inner.send({
      kind: 'predict',
      batchId: FIRST_WARM_UP_BATCH + this.batch,
      items: batches[this.batch].map((bytes, id) => ({ id, bytes, budgetNs })),
    });
  }

  private onAnswer({ batchId, results }: ResultFrame): void {
    const { hello, warmUp, batch } = this;
    if (this.isOver || hello === undefined || warmUp === undefined) return;
    if (batchId !== FIRST_WARM_UP_BATCH + batch) return;
    const problem = problemOf(warmUp, batch, results);
    if (problem !== undefined) {
      this.fail(problem);
      return;
    }
    this.batch += 1;
    if (this.batch < warmUp.batches.length) {
      this.ask(warmUp);
      return;
    }
    this.options.onWarm(performance.now() - this.askedMs);
    this.finish(hello);
  }

  private finish(hello: HelloFrame): void {
    this.end();
    const { sink } = this;
    if (sink === undefined) return;
    sink.onFrame(hello);
    for (const frame of this.early.splice(0)) sink.onFrame(frame);
  }

  private fail(reason: string): void {
    if (this.isOver) return;
    this.end();
    this.inner.close();
    this.sink?.onFrame({ kind: 'down', reason });
  }

  private end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }
}

function problemOf(warmUp: WarmUp, batch: number, results: readonly ItemResult[]): string | undefined {
  if (warmUp.problem === undefined) return undefined;
  const asked = warmUp.batches[batch].length;
  if (results.length !== asked) return `it answered ${results.length} of ${asked} golden inputs`;
  for (const result of results) {
    const problem = warmUp.problem(result.id, result);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
