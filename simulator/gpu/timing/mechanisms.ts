import type { DeviceProfile, DeviceTiming, TimingRule } from '../profiles/index.js';

/** A part of the timing model that can be left out, so that experiments tell what it is good for. */
export interface Mechanism {
  readonly name: string;
  /** What it stands for. */
  readonly what: string;
  /** The same card without it. */
  without(card: DeviceProfile): DeviceProfile;
}

type Latencies = DeviceTiming['latency'];

/** Where a capacity counts as without end. */
const ENDLESS = 1e9;
/** An exponent at which only the largest limit counts. */
const LARGEST_ONLY = 50;

/** All that a launch's own time is made of; what launches side by side do to one another is told apart in `issueTurns` and `memoryPath`. */
export const MECHANISMS: readonly Mechanism[] = [
  byFigures('launchOverhead', 'time of a launch beyond its blocks', { launchOverheadNs: 0 }),
  byFigures('blockStart', "a block's set-up and its warps' first instructions", {
    blockStartCycles: 0,
    prologueSlots: 0,
  }),
  byFigures('ramp', 'blocks start one after the other', { blocksPerCycle: ENDLESS }),
  byRule('waves', 'blocks beyond a full card wait for a place, and the last wave may be nearly empty'),
  byRule('unevenBlocks', 'blocks of a grid that execute differently take their own times'),
  {
    name: 'chains',
    what: 'a result is not there before its latency',
    without: (card) => withTiming(card, { latency: mapLatencies(card, () => 0) }),
  },
  byFigures('warpIssue', 'a warp alone does not issue every cycle', { warpIssueCycles: 0 }),
  byLatencies('branches', 'what follows a branch waits for it', { branch: 0 }),
  byFigures('loadsInFlight', 'a warp has only so many loads under way', { schedulingWindow: 4096 }),
  byFigures('lookAhead', 'the assembler brings few instructions forward', { lookAhead: 4096 }),
  byRule('storeOrder', 'a load stays behind stores that may change it'),
  byRule('localMemory', 'local memory goes through L1 and L2'),
  byRule('assemblerLayout', 'unrolled loops, guarded ifs, operations and loads taken in by others'),
  byRule(
    'instructionCosts',
    'PTX instructions are other numbers of machine instructions, of several classes',
  ),
  byFigures('pipes', 'classes of instructions have units of their own', {
    integerPerCycle: ENDLESS,
    float32PerCycle: ENDLESS,
    float64PerCycle: ENDLESS,
    specialPerCycle: ENDLESS,
    tensorPerCycle: ENDLESS,
  }),
  byFigures('issueSlots', 'schedulers issue one instruction a cycle', { issuePerCycle: ENDLESS }),
  {
    name: 'schedulerBalance',
    what: 'a warp belongs to one scheduler',
    without: (card) => ({ ...card, schedulersPerSm: 1 }),
  },
  byRule('divergence', 'lanes that are off take part in what their warp issues'),
  byRule('barriers', 'warps wait for one another'),
  byFigures('overlapNorm', 'limits that nearly bind cost more than the one that binds', {
    overlapExponent: LARGEST_ONLY,
  }),
  byFigures('chainNorm', 'waits for answers and for turns overlap only in part', {
    chainExponent: LARGEST_ONLY,
    togetherExponent: LARGEST_ONLY,
  }),
  {
    name: 'startsTogether',
    what: 'blocks that start together wait together',
    without: (card) => withTiming(card, { togetherExponent: card.timing.chainExponent }),
  },
  byFigures('drift', 'memory gets blocks that started together out of step', { driftRounds: ENDLESS }),
  byRule('looseBlocks', 'blocks without barriers or memory waits drift apart'),
  byRule('coalescing', 'a request takes as many sectors and lines as its lanes spread over'),
  byFigures('l1Throughput', 'L1 and shared memory serve one wavefront a cycle', {
    wavefrontsPerCycle: ENDLESS,
    tagsPerCycle: ENDLESS,
  }),
  byRule('bankConflicts', 'lanes on one bank of shared memory wait for one another'),
  {
    name: 'l1Reuse',
    what: 'L1 keeps lines',
    without: (card) => ({ ...card, memory: { ...card.memory, l1Bytes: 0 } }),
  },
  byRule('sharedLines', 'what all blocks of a multiprocessor read is fetched once'),
  byFigures('l1Fill', 'lines that arrive take turns of L1', { fillCyclesPerLine: 0 }),
  byFigures('l2Port', "a multiprocessor's way to L2 is so wide", { l2PortBytesPerCycle: ENDLESS }),
  byFigures('pages', 'a multiprocessor knows only of so many pages where they are', {
    pagesPerCycle: ENDLESS,
  }),
  byFigures('l2Bandwidth', 'L2 gives all multiprocessors so much', { l2BytesPerSecond: 1e21 }),
  byFigures('storesInL2', 'a stored byte takes more of L2 than a loaded one', {
    storeWeightInL2: 1,
    partialStoreWeightInL2: 1,
  }),
  {
    name: 'partialStores',
    what: 'stores that fill no sector take more still',
    without: (card) => withTiming(card, { partialStoreWeightInL2: card.timing.storeWeightInL2 }),
  },
  byFigures('l2Reuse', 'L2 keeps what the launch before it and other blocks touched', {
    l2MissCurve: [[0, 1]],
  }),
  byFigures('dramBandwidth', 'DRAM gives so much', { dramBytesPerSecond: 1e21 }),
  {
    name: 'dramLatency',
    what: 'DRAM answers later than L2',
    without: (card) => withLatencies(card, { dram: card.timing.latency.l2 }),
  },
  {
    name: 'constantLines',
    what: 'the constant cache gives one line at a time',
    without: (card) =>
      withTiming(withLatencies(card, { constantLine: 0 }), {
        constantCyclesPerLine: card.timing.constantCycles,
      }),
  },
  byFigures('atomicThroughput', 'L2 does so many atomic operations', { atomicsPerCycle: ENDLESS }),
  byFigures('atomicContention', 'operations on one address come one after the other', {
    atomicsPerAddressPerCycle: ENDLESS,
    floatAtomicTurns: 1,
  }),
  byRule('storeQueue', 'stores of many warps to one word come one after the other'),
  byRule('warpAggregation', 'a warp adds integers to one address as one operation'),
  byRule('swapLoops', 'what shared memory cannot add is compared and swapped in a loop'),
  byFigures('swapContention', 'such loops fail more often on few words', {
    swapContentionCycles: 0,
    wideSwapContentionCycles: 0,
  }),
];

function byFigures(name: string, what: string, figures: Partial<DeviceTiming>): Mechanism {
  return { name, what, without: (card) => withTiming(card, figures) };
}

function byLatencies(name: string, what: string, latencies: Partial<Latencies>): Mechanism {
  return { name, what, without: (card) => withLatencies(card, latencies) };
}

function byRule(name: TimingRule, what: string): Mechanism {
  return {
    name,
    what,
    without: (card) => withTiming(card, { withoutRules: [...(card.timing.withoutRules ?? []), name] }),
  };
}

function withTiming(card: DeviceProfile, figures: Partial<DeviceTiming>): DeviceProfile {
  return { ...card, timing: { ...card.timing, ...figures } };
}

function withLatencies(card: DeviceProfile, latencies: Partial<Latencies>): DeviceProfile {
  return withTiming(card, { latency: { ...card.timing.latency, ...latencies } });
}

function mapLatencies({ timing }: DeviceProfile, to: (cycles: number) => number): Latencies {
  return Object.fromEntries(
    Object.entries(timing.latency).map(([name, cycles]) => [name, to(cycles)]),
  ) as unknown as Latencies;
}
