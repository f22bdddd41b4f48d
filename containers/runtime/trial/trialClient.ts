import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  ItemResult,
  ResultFrame,
} from '../../protocol/index.js';

const BUDGET_NS = 1e9;

/** The frontend's end of a channel, asking one batch at a time. */
export class TrialClient implements FrameSink<ContainerFrame> {
  /** Why the container cannot run, once it has said so. */
  downReason: string | undefined;
  isReady = false;
  private result: ResultFrame | undefined;
  private nextBatch = 1;

  constructor(
    private readonly channel: ContainerChannel,
    /** Runs the clock until nothing is left to happen. */
    private readonly settle: () => void,
  ) {
    channel.open(this);
    settle();
  }

  onFrame(frame: ContainerFrame): void {
    if (frame.kind === 'hello') this.isReady = true;
    if (frame.kind === 'down') this.downReason = frame.reason;
    if (frame.kind === 'result') this.result = frame;
  }

  /** @returns the results in the order of the inputs, and the batch's time at the container. */
  ask(inputs: readonly Uint8Array[]): {
    readonly results: readonly ItemResult[];
    readonly serviceNs: number;
  } {
    this.result = undefined;
    this.channel.send({
      kind: 'predict',
      batchId: this.nextBatch++,
      items: inputs.map((bytes, id) => ({ id, bytes, budgetNs: BUDGET_NS })),
    });
    this.settle();
    // Read again: the clock has run since.
    const result = this.result as ResultFrame | undefined;
    if (result === undefined) throw new Error(this.downReason ?? 'the container gave no answer');
    return result;
  }

  close(): void {
    this.channel.close();
  }
}
