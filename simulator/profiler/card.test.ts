import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { traceRange } from '../executor/index.js';
import { kernelFixtures, runFixture, type KernelFixture } from '../laboratory/kernels/index.js';
import { CountingSink } from './countingSink.js';
import { noCounts, type Counts } from './metrics.js';

type Pair = readonly [number, number];
type Kinds = Readonly<Record<'load' | 'store' | 'atomic', Pair>>;

/** What a card's own counters said of each launch. */
interface CardCounters {
  readonly programs: Readonly<
    Record<string, readonly { readonly kernel: string; readonly global: Kinds; readonly shared: Kinds }[]>
  >;
}

const card = JSON.parse(
  readFileSync(new URL('../laboratory/counters/cardCounters.json', import.meta.url), 'utf8'),
) as CardCounters;

/** Why some programs' machine code does not do what their PTX says, or not in the order in which we run it. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  'the assembler joins, splits or predicates accesses, or keeps values in registers': [
    'blockArgmax',
    'kahanSum',
    'bitonicSort',
    'flashHead',
    'gameOfLife',
    'csrScalar',
    'pageRank',
    'bfloatNorm',
    'ackermann',
    'quickSort',
    'recursionZoo',
    'virtualShapes',
    'fft',
    'kMeans',
    'sharedArrays',
  ],
  'the assembler sums atomics of a warp before it sends them, or does shared ones by compare and swap': [
    'sharedHistogram',
    'hashTable64',
    'constantTables',
    'stringSearch',
    'cooperativeHeat',
  ],
  'who waits, wins or comes first is a matter of time': [
    'lookbackScan',
    'radixPass',
    'bellmanFord',
    'components',
    'hashTable32',
    'lockedBuckets',
    'compaction',
  ],
  'printf is code of its own on a card': ['printReport'],
};

/** Equal as well, and long. */
const LONG = ['mergeSort', 'oddEvenMerge', 'tiledGemm', 'mandelbrot'];

/** Came when no card could be counted. */
const UNCOUNTED = ['barrierPipeline', 'bulkCopies'];

const left = new Set([...Object.values(OTHERWISE).flat(), ...LONG, ...UNCOUNTED]);
const held = kernelFixtures.filter(({ name }) => !left.has(name));

describe('counters of a card', () => {
  it('are there for every program, and most are held to them', () => {
    const counted = kernelFixtures.map(({ name }) => name).filter((name) => !UNCOUNTED.includes(name));
    expect(Object.keys(card.programs).sort()).toEqual(counted.sort());
    expect(held.length).toBeGreaterThanOrEqual(48);
  });

  it.each(held.map((fixture) => [fixture.name, fixture] as const))(
    '%s: the same requests, sectors, wavefronts and bank conflicts',
    (name, fixture) => {
      expect(countLaunches(fixture)).toEqual(
        card.programs[name].map(({ kernel, global, shared }) => ({ kernel, global, shared })),
      );
    },
  );
});

function countLaunches(fixture: KernelFixture): { kernel: string; global: Kinds; shared: Kinds }[] {
  const launches: { kernel: string; global: Kinds; shared: Kinds }[] = [];
  runFixture(fixture, 'fast', {
    run: (launch, range, _variant, fuel) => {
      const sink = new CountingSink(launch.kernel);
      const result = traceRange(launch, range, sink, fuel);
      expect(sink.threadInstructions).toBe(result.counters.threadInstructions);
      const counts = noCounts();
      for (let index = 0; index < sink.table.instructions; index++) sink.table.addTo(counts, index);
      launches.push({ kernel: launch.kernel.name, global: globalOf(counts), shared: sharedOf(counts) });
      return result;
    },
  });
  return launches;
}

function globalOf(counts: Counts): Kinds {
  return {
    load: [counts.globalLoadRequests, counts.globalLoadSectors],
    store: [counts.globalStoreRequests, counts.globalStoreSectors],
    atomic: [counts.globalAtomicRequests, counts.globalAtomicSectors],
  };
}

/** Wavefronts and conflicts. */
function sharedOf(counts: Counts): Kinds {
  return {
    load: [counts.sharedLoadWavefronts, counts.sharedLoadWavefronts - counts.sharedLoadIdealWavefronts],
    store: [counts.sharedStoreWavefronts, counts.sharedStoreWavefronts - counts.sharedStoreIdealWavefronts],
    atomic: [
      counts.sharedAtomicWavefronts,
      counts.sharedAtomicWavefronts - counts.sharedAtomicIdealWavefronts,
    ],
  };
}
