import type { LaunchClass } from '../../../simulator/scheduling/index.js';
import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  ItemResult,
  ResultFrame,
} from '../../protocol/index.js';

interface Waiter {
  readonly wanted: (frame: ContainerFrame) => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The frontend's end of a channel in tests: keeps what arrives, and asks. */
export class FrontendDouble implements FrameSink<ContainerFrame> {
  readonly frames: ContainerFrame[] = [];
  private readonly waiting: Waiter[] = [];
  private nextBatch = 1;

  constructor(readonly channel: ContainerChannel) {
    channel.open(this);
  }

  onFrame(frame: ContainerFrame): void {
    this.frames.push(frame);
    for (const waiter of this.waiting.splice(0)) {
      if (waiter.wanted(frame)) waiter.resolve();
      else if (frame.kind === 'down') waiter.reject(new Error(`the container is down: ${frame.reason}`));
      else this.waiting.push(waiter);
    }
  }

  /** @returns the batch's id; its items' ids are 0, 1, 2, … */
  ask(inputs: readonly Uint8Array[], launchClass?: LaunchClass): number {
    const batchId = this.nextBatch++;
    this.channel.send({
      kind: 'predict',
      batchId,
      items: inputs.map((bytes, id) => ({ id, bytes, budgetNs: 1e9 })),
      ...(launchClass === undefined ? {} : { launchClass }),
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

  /** Resolves when such a frame has arrived, or has before; rejects when the container goes down instead. */
  async seen(wanted: (frame: ContainerFrame) => boolean): Promise<void> {
    if (this.frames.some(wanted)) return;
    await new Promise<void>((resolve, reject) => this.waiting.push({ wanted, resolve, reject }));
  }
}

/** Little-endian f32 bytes of one input. */
export function floats(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}
