import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import type { KernelClass, KernelRow } from './kernelTable.js';

/** How the launches of one pass of a model are distributed. */
export interface TableStatistics {
  readonly kernels: number;
  /** Launches of each class, of which each has its own durations. */
  readonly classes: Readonly<Record<KernelClass, number>>;
  /** Quantiles at `QUANTILES`. */
  readonly durationsNs: readonly number[];
  readonly sms: readonly number[];
}

/** At which parts of the launches quantiles are told. */
export const QUANTILES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1] as const;

/**
 * What was published of one forward pass on a V100 (Orion, EuroSys 2024: ResNet-50 with a batch of 4, BERT with one of 2), as
 * a distribution.
 */
export const TABLE_STATISTICS: Readonly<Record<'resnet50' | 'bert', TableStatistics>> = {
  resnet50: {
    kernels: 175,
    classes: { compute: 54, memory: 80, unknown: 41 },
    durationsNs: [4000, 5056, 6528, 12512, 59359, 96191, 116191, 173759, 379966],
    sms: [1, 13, 28, 64, 112, 256, 256, 392, 392],
  },
  bert: {
    kernels: 572,
    classes: { compute: 193, memory: 202, unknown: 177 },
    durationsNs: [3072, 9536, 10336, 34368, 128830, 138592, 496636, 514397, 516733],
    sms: [1, 64, 144, 192, 240, 576, 768, 1152, 1152],
  },
};

/** A table with these statistics: kernels bound by arithmetic are the long ones, as they are in networks. */
export function tableLike(statistics: TableStatistics, seed: number): KernelRow[] {
  const random = xoroshiro128plus(seed);
  const { kernels, classes, durationsNs, sms } = statistics;
  const classOf = spread(classes, kernels);
  const byRank = Array.from({ length: kernels }, (_, rank) => {
    const share = (rank + 0.5) / kernels;
    return {
      bound:
        classOf[
          Math.min(
            kernels - 1,
            Math.max(0, Math.round(rank + (uniformFloat64(random) - 0.5) * kernels * 0.4)),
          )
        ],
      durationNs: Math.round(quantile(durationsNs, share)),
      sms: Math.round(quantile(sms, uniformFloat64(random))),
    };
  });
  const left = [...byRank];
  return Array.from({ length: kernels }, () => {
    const [row] = left.splice(Math.floor(uniformFloat64(random) * left.length), 1);
    return { name: `${row.bound}_kernel`, memoryFootprintBytes: 0, ...row };
  });
}

/** The same table as text; columns of which no row says anything are left out. */
export function tableText(rows: readonly KernelRow[]): string {
  const profiles: Readonly<Record<KernelClass, string>> = { compute: '1', memory: '0', unknown: '-1' };
  const hasVerdicts = rows.some(({ idempotent }) => idempotent !== undefined);
  const hasContexts = rows.some(({ contextBytes }) => contextBytes !== undefined);
  const lines = rows.map((row) => {
    const { name, bound, memoryFootprintBytes, sms, durationNs, idempotent, contextBytes } = row;
    return [
      `${name},${profiles[bound]},${memoryFootprintBytes},${sms},${durationNs}`,
      ...(hasVerdicts ? [row.isIdempotentKernel === true ? 'kernel' : (idempotent ?? '')] : []),
      ...(hasContexts ? [contextBytes ?? ''] : []),
    ].join();
  });
  const more = [...(hasVerdicts ? ['Idempotent'] : []), ...(hasContexts ? ['Context_bytes'] : [])];
  return [['Name,Profile,Memory_footprint,SM_usage,Duration', ...more].join(), ...lines, ''].join('\n');
}

/** Classes from the shortest launches to the longest. */
function spread(classes: TableStatistics['classes'], kernels: number): KernelClass[] {
  const order: readonly KernelClass[] = ['unknown', 'memory', 'compute'];
  return order.flatMap((name) => Array.from({ length: classes[name] }, () => name)).slice(0, kernels);
}

/** Straight lines between quantiles, of logarithms. */
function quantile(values: readonly number[], share: number): number {
  let index = 1;
  while (index < QUANTILES.length - 1 && share > QUANTILES[index]) index += 1;
  const low = QUANTILES[index - 1];
  const part = (share - low) / (QUANTILES[index] - low);
  return values[index - 1] ** (1 - part) * values[index] ** part;
}
