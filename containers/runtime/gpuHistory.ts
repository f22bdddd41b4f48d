import type { GpuSample } from './gpuSample.js';

/** Two samples of one GPU: what happened between them is what it does now. */
export interface GpuSpan {
  readonly latest: GpuSample;
  /** None: the span goes back to where counting began. */
  readonly earlier: GpuSample | undefined;
}

/** A node's GPUs at one moment, and how much of the host's time until then it had a batch in flight. */
export interface NodeSample {
  readonly gpus: readonly GpuSample[];
  readonly hostNs: number;
  readonly hostBusyNs: number;
}

/** Keeps a node's samples of the last while, oldest first. */
export class GpuHistory {
  private readonly samples: NodeSample[] = [];

  /** @param spanNs what spans cover, in the node's time, once there are samples enough; at least */
  constructor(private readonly spanNs: number) {}

  add(sample: NodeSample): void {
    this.samples.push(sample);
    const nowNs = asOf(sample);
    // The oldest goes once the one after it is old enough.
    while (this.samples.length > 2 && nowNs - asOf(this.samples[1]) >= this.spanNs) this.samples.shift();
  }

  /** A node that begins anew counts anew. */
  clear(): void {
    this.samples.length = 0;
  }

  /** One for each GPU; none before the first sample. */
  spans(): readonly GpuSpan[] {
    const earliest = this.samples.length > 1 ? this.samples[0] : undefined;
    const gpus = this.samples.at(-1)?.gpus ?? [];
    return gpus.map((latest, index) => ({ latest, earlier: earliest?.gpus[index] }));
  }

  /** Of the host's time that spans cover, the part with a batch in flight; undefined before there are two samples. */
  hostBusyShare(): number | undefined {
    const latest = this.samples.at(-1);
    const [earliest] = this.samples;
    if (latest === undefined || latest.hostNs <= earliest.hostNs) return undefined;
    const share = (latest.hostBusyNs - earliest.hostBusyNs) / (latest.hostNs - earliest.hostNs);
    return Math.min(1, Math.max(0, share));
  }
}

function asOf({ gpus }: NodeSample): number {
  return gpus[0]?.asOfNs ?? 0;
}
