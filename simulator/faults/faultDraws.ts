import { LATEST_PART, type FaultPoint } from '../gpu/index.js';
import { checkFaults, type FaultAt, type FaultOptions } from './faultOptions.js';

/** Says which launches are struck, and where: a function of the seed, the GPU and the launch's number there. */
export class FaultDraws {
  private readonly rate: number;
  private readonly seed: number;
  private readonly isFlip: boolean;
  private readonly at: ReadonlyMap<number, FaultAt>;

  /** @throws FaultError `invalidFaults` */
  constructor(options: FaultOptions) {
    const { seed = 1, rate = 0, kind, at = [] } = checkFaults(options);
    this.seed = seed;
    this.rate = rate;
    this.isFlip = kind === 'bitFlip';
    this.at = new Map(at.map((each) => [each.launch, each]));
  }

  /** @param launch number of the launch on its GPU, from 0; blocks are `[lo, hi)`. @returns undefined: it is not struck */
  pointOf(gpu: number, launch: number, lo: number, hi: number): FaultPoint | undefined {
    const given = this.at.get(launch);
    if (given === undefined && !(this.rate > 0 && this.draw(gpu, launch, 0) < this.rate)) return undefined;
    const { block, part = LATEST_PART * this.draw(gpu, launch, 1) } = given ?? {};
    const drawn = lo + Math.floor((hi - lo) * this.draw(gpu, launch, 2));
    return {
      block: Math.min(hi - 1, block === undefined ? drawn : Math.max(lo, block)),
      part,
      ...(this.isFlip ? { flippedBit: Math.floor(8 * this.draw(gpu, launch, 3)) } : {}),
    };
  }

  /** Uniform in [0, 1). */
  private draw(gpu: number, launch: number, index: number): number {
    let hash = 0x2545f491;
    for (const word of [this.seed, Math.floor(this.seed / 2 ** 32), gpu, launch, index]) {
      hash = finalized(Math.imul(hash ^ (word | 0), 0x9e3779b1) + 0x85ebca77);
    }
    return (hash >>> 0) / 2 ** 32;
  }
}

/** The finalizer of murmur3. */
function finalized(x: number): number {
  let h = x ^ (x >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
