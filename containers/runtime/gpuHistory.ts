import type { GpuSample } from './gpuSample.js';

/** Two samples of one GPU: what happened between them is what it does now. */
export interface GpuSpan {
  readonly latest: GpuSample;
  /** None: the span goes back to where counting began. */
  readonly earlier: GpuSample | undefined;
}

/** Keeps a node's samples of the last while, oldest first. */
export class GpuHistory {
  private readonly samples: (readonly GpuSample[])[] = [];

  /** @param spanNs what spans cover, in the node's time, once there are samples enough; at least */
  constructor(private readonly spanNs: number) {}

  add(gpus: readonly GpuSample[]): void {
    this.samples.push(gpus);
    const nowNs = asOf(gpus);
    // The oldest goes once the one after it is old enough.
    while (this.samples.length > 2 && nowNs - asOf(this.samples[1]) >= this.spanNs) this.samples.shift();
  }

  /** A node that begins anew counts anew. */
  clear(): void {
    this.samples.length = 0;
  }

  /** One for each GPU; none before the first sample. */
  spans(): readonly GpuSpan[] {
    const latest = this.samples.at(-1);
    const earliest = this.samples.length > 1 ? this.samples[0] : undefined;
    return (latest ?? []).map((sample, index) => ({ latest: sample, earlier: earliest?.[index] }));
  }
}

function asOf(gpus: readonly GpuSample[]): number {
  return gpus[0]?.asOfNs ?? 0;
}
