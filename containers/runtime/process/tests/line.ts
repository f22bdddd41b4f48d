import type {
  ContainerChannel,
  ContainerFrame,
  DownFrame,
  HelloFrame,
  ItemResult,
  ResultFrame,
} from '../../../protocol/index.js';

/** A line to a model's process and what came on it. */
export class Line {
  readonly frames: ContainerFrame[] = [];
  private waiting: (() => void)[] = [];
  private batches = 0;

  constructor(readonly channel: ContainerChannel) {
    channel.open({
      onFrame: (frame) => {
        this.frames.push(frame);
        for (const wake of this.waiting.splice(0)) wake();
      },
    });
  }

  hello(): Promise<HelloFrame> {
    return this.next((frame) => frame.kind === 'hello');
  }

  down(): Promise<DownFrame> {
    return this.next((frame) => frame.kind === 'down');
  }

  /** What it has printed so far. */
  printed(stream: 'stdout' | 'stderr'): string[] {
    return this.frames.flatMap((one) => (one.kind === 'printed' && one.stream === stream ? [one.text] : []));
  }

  async ask(...texts: readonly (string | Uint8Array)[]): Promise<readonly ItemResult[]> {
    const batchId = this.batches++;
    const items = texts.map((text, id) => ({ id, bytes: Buffer.from(text as string), budgetNs: 1e9 }));
    this.channel.send({ kind: 'predict', batchId, items });
    const answered = (one: ContainerFrame): one is ResultFrame =>
      one.kind === 'result' && one.batchId === batchId;
    const { results } = await this.next<ResultFrame>(answered);
    return [...results].sort((a, b) => a.id - b.id);
  }

  async next<F extends ContainerFrame>(is: (frame: ContainerFrame) => boolean): Promise<F> {
    for (;;) {
      const found = this.frames.find(is);
      if (found !== undefined) return found as F;
      const last = this.frames.at(-1);
      if (last?.kind === 'down') throw new Error(`the line is down: ${last.reason}`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }
}
