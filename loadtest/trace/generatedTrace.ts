import { KeyedDraw } from '../../selection/index.js';
import type { GapSource } from './gaps.js';
import type { Arrival, Trace } from './trace.js';

/** An endless trace of gaps, repeatable from its seed. */
export class GeneratedTrace implements Trace {
  readonly summary = [];
  private readonly draw: KeyedDraw;
  private arrivals = 0;
  private atNs = 0;

  /** @param scale arrivals come so many times as fast. */
  constructor(
    readonly name: string,
    private readonly gap: GapSource,
    private readonly scale: number,
    seed: number,
    readonly meanPerSecond: number | undefined,
  ) {
    this.draw = new KeyedDraw(seed);
  }

  next(): Arrival {
    const number = this.arrivals++;
    this.atNs += (this.gap(this.draw.of(`gap ${number}`)) * 1e9) / this.scale;
    return { atNs: this.atNs, where: `arrival ${number}` };
  }

  progress(): undefined {
    return undefined;
  }

  close(): void {}
}
