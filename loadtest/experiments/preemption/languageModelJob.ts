import { KeyedDraw } from '../../../selection/index.js';
import type { DeviceProfile } from '../../../simulator/gpu/index.js';
import { capacityOf, fullSaveNs, type KnownKernel } from './knownStreams.js';

export interface JobKernel extends KnownKernel {
  /** Share of the job's launches that are launches of it. */
  readonly share: number;
  /** Share of its launches that are proved idempotent. */
  readonly idempotent: number;
  /** Every launch of it is, whatever its arguments: what a check of whole kernels finds. */
  readonly isWhole: boolean;
  readonly saveNs: number;
}

export interface JobSettings {
  readonly kernels: number;
  /** Share of launches that are proved idempotent. */
  readonly idempotentShare: number;
  /** Which kernels those belong to: the ones that hold most on the SMs, or any. */
  readonly idempotentAre: 'largest' | 'any';
  /** Kernels of which every launch is idempotent whatever its arguments. */
  readonly wholeKernels: number;
  readonly seed: number;
}

/** Mean of contexts' saving times, by launches: PICKER (EuroSys'26) tells 64.3 us for GPT-2, from 4 to 98. */
const MEAN_SAVE_NS = 64_300;

const REGISTERS = [64, 64, 80, 96];

/** Kernels whose grids do not fill the card: those that a step's one token leaves little to do. */
const SMALL_SHARE = 0.5;

/**
 * Kernels like those of a language model's inference: most launches of a few, most of one to three waves that fill the card, from
 * 40 us to 1 ms long, with contexts whose saving takes 4 to 98 us and about 64 us in the mean.
 */
export function languageModelJob(card: DeviceProfile, settings: JobSettings): JobKernel[] {
  const draw = new KeyedDraw(settings.seed).of('kernels');
  const drawn = Array.from({ length: settings.kernels }, (_, index) => {
    const threads = [64, 128, 256, 512][Math.floor(4 * draw())];
    let kernel: KnownKernel = {
      name: `kernel${index}`,
      threads,
      // Tiles of matrix products: compilers give their threads as many registers as let blocks fill an SM's file.
      registers: REGISTERS[Math.floor(REGISTERS.length * draw())],
      sharedBytes: threads * Math.floor(48 + 48 * draw()),
      waves: 1 + Math.floor(3 * draw()),
      blockNs: 40_000 * 8 ** draw(),
    };
    const part = draw() < SMALL_SHARE ? draw() ** 2 : 1;
    if (part < 1) {
      kernel = { ...kernel, waves: 1, blocks: Math.max(1, Math.round(part * capacityOf(card, kernel))) };
    }
    return { ...kernel, weight: 1 / Math.sqrt(index + 1), saveNs: fullSaveNs(card, kernel), order: draw() };
  });
  const weights = weightsOfMean(drawn);
  const ranked = drawn.map((kernel, index) => ({ kernel, share: weights[index] }));
  ranked.sort((a, b) =>
    settings.idempotentAre === 'largest'
      ? b.kernel.saveNs - a.kernel.saveNs
      : a.kernel.order - b.kernel.order,
  );
  // Kernels that only write, fills and the like: the rarest.
  const byPart = [...ranked].sort((a, b) => a.share - b.share);
  const whole = new Set(byPart.slice(0, settings.wholeKernels));
  let left = byPart
    .slice(0, settings.wholeKernels)
    .reduce((rest, { share }) => rest - share, settings.idempotentShare);
  return ranked.map((one) => {
    const { kernel, share } = one;
    const isWhole = whole.has(one);
    const proved = isWhole ? share : Math.max(0, Math.min(share, left));
    if (!isWhole) left -= proved;
    return { ...kernel, share, isWhole, idempotent: proved / share };
  });
}

/** Shares of launches, Zipf's with a tilt to large or small contexts so that the mean saving time is the paper's. */
function weightsOfMean(kernels: readonly { readonly weight: number; readonly saveNs: number }[]): number[] {
  const shares = (tilt: number): number[] => {
    const raw = kernels.map(({ weight, saveNs }) => weight * Math.exp((tilt * saveNs) / MEAN_SAVE_NS));
    const sum = raw.reduce((a, b) => a + b, 0);
    return raw.map((each) => each / sum);
  };
  const meanOf = (of: readonly number[]) =>
    of.reduce((sum, share, at) => sum + share * kernels[at].saveNs, 0);
  let [low, high] = [-20, 20];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (meanOf(shares(middle)) < MEAN_SAVE_NS) low = middle;
    else high = middle;
  }
  return shares(low);
}

/** Kernels of one critical query: eight in a row, 0.6 ms in all, each on the whole card. */
export function criticalQuery(card: DeviceProfile): KnownKernel[] {
  const shape = { threads: 256, registers: 64, sharedBytes: 8192, waves: 1 };
  return Array.from({ length: 8 }, (_, index) => {
    const kernel = { ...shape, name: `query${index}`, blockNs: 40_000 + 10_000 * index };
    return { ...kernel, blocks: capacityOf(card, { ...kernel }) };
  });
}
