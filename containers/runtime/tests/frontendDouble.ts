import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  ItemResult,
  ResultFrame,
} from '../../protocol/index.js';

/** The frontend's end of a channel in tests: keeps what arrives, and asks. */
export class FrontendDouble implements FrameSink<ContainerFrame> {
  readonly frames: ContainerFrame[] = [];
  private readonly waiting: { wanted: (frame: ContainerFrame) => boolean; resolve: () => void }[] = [];
  private nextBatch = 1;

  constructor(readonly channel: ContainerChannel) {
    channel.open(this);
  }

  onFrame(frame: ContainerFrame): void {
    this.frames.push(frame);
    for (const waiter of [...this.waiting]) {
      if (!waiter.wanted(frame)) continue;
      this.waiting.splice(this.waiting.indexOf(waiter), 1);
      waiter.resolve();
    }
  }

  /** @returns the batch's id; its items' ids are 0, 1, 2, … */
  ask(inputs: readonly Uint8Array[]): number {
    const batchId = this.nextBatch++;
    this.channel.send({
      kind: 'predict',
      batchId,
      items: inputs.map((bytes, id) => ({ id, bytes, budgetNs: 1e9 })),
    });
    return batchId;
  }

  kinds(): string[] {
    return this.frames.map(({ kind }) => kind);
  }

  result(batchId: number): ResultFrame | undefined {
    return this.frames.find(
      (frame): frame is ResultFrame => frame.kind === 'result' && frame.batchId === batchId,
    );
  }

  /** 'label' for answers, the code for failures. */
  outcomes(batchId: number): string[] {
    return (this.result(batchId)?.results ?? []).map((result: ItemResult) =>
      result.ok ? result.output : result.code,
    );
  }

  /** Resolves when such a frame has arrived, or has before. */
  async seen(wanted: (frame: ContainerFrame) => boolean): Promise<void> {
    if (this.frames.some(wanted)) return;
    await new Promise<void>((resolve) => this.waiting.push({ wanted, resolve }));
  }
}

/** Little-endian f32 bytes of one input. */
export function floats(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}
