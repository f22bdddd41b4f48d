import type { DeviceProfile } from '../profiles/index.js';

/** What blocks of one SM share, in the order of `BlockWork.sm`. Amounts are in the unit that the SM serves a cycle. */
export const SM_RESOURCES = [
  'issue',
  'integer',
  'float32',
  'float64',
  'special',
  'tensor',
  'data',
  'l2Port',
  'constant',
  'pages',
] as const;
/** What all blocks of the device share, in the order of `BlockWork.device`. */
export const DEVICE_RESOURCES = [
  'l2Bytes',
  'dramBytes',
  'atomics',
  'starts',
  'hotAtomics',
  'dramRows',
] as const;

export type SmResource = (typeof SM_RESOURCES)[number];

/** The work vector of one block: what it asks of everything that it shares, and the time that nothing can shorten. */
export interface BlockWork {
  readonly sm: readonly number[];
  readonly device: readonly number[];
  /** Longest chain of dependent latencies, in SM cycles: the block's time alone on an ideal machine. */
  readonly chainCycles: number;
  /** What the chain takes beyond that whatever the SM clock: answers of DRAM. */
  readonly chainFixedNs: number;
  readonly warps: number;
  /** It starts with the first of its launch: all wait for answers at the same time, and then for their turns. */
  readonly startsTogether?: boolean | undefined;
  /** Its warps wait for their own results, and neither for memory nor for one another: other warps fill the gaps. */
  readonly isLoose?: boolean | undefined;
  /** How often a warp waits for L2 or DRAM without a barrier between: blocks that started together drift apart meanwhile. */
  readonly rounds?: number | undefined;
}

/** Units per nanosecond at given clocks. */
export interface Capacities {
  readonly cyclesPerNs: number;
  readonly sm: readonly number[];
  readonly device: readonly number[];
  /** Exponent of the norm that joins what a block waits for answers with what it waits for its turn. */
  readonly chainExponent: number;
  /** The same of blocks that start together. */
  readonly togetherExponent: number;
  /** See `DeviceTiming.driftRounds`. */
  readonly driftRounds: number;
}

export function capacities(
  profile: DeviceProfile,
  clockHz: number,
  memoryClockHz = profile.clocks.memoryHz,
): Capacities {
  const { timing } = profile;
  const cyclesPerNs = clockHz / 1e9;
  return {
    cyclesPerNs,
    chainExponent: timing.chainExponent,
    togetherExponent: timing.togetherExponent,
    driftRounds: timing.driftRounds,
    sm: [
      timing.issuePerCycle,
      timing.integerPerCycle,
      timing.float32PerCycle,
      timing.float64PerCycle,
      timing.specialPerCycle,
      timing.tensorPerCycle,
      timing.wavefrontsPerCycle,
      timing.l2PortBytesPerCycle,
      1,
      timing.pagesPerCycle,
    ].map((perCycle) => perCycle * cyclesPerNs),
    device: [
      (timing.l2BytesPerSecond / 1e9) * (clockHz / profile.clockHz),
      (timing.dramBytesPerSecond / 1e9) * (memoryClockHz / profile.clocks.memoryHz),
      timing.atomicsPerCycle * cyclesPerNs,
      timing.blocksPerCycle * cyclesPerNs,
      timing.atomicsPerAddressPerCycle * cyclesPerNs,
      (timing.dramRowsPerSecond / 1e9) * (memoryClockHz / profile.clocks.memoryHz),
    ],
  };
}

/**
 * The work of a block that executes `factor` times as much. Its chain grows with longer loops; when it executes less,
 * that is partly because fewer warps are there, and those that are take as long as ever.
 */
export function scaleWork(work: BlockWork, factor: number): BlockWork {
  return {
    sm: work.sm.map((amount) => amount * factor),
    // A block starts once, however much it does.
    device: work.device.map((amount, index) =>
      DEVICE_RESOURCES[index] === 'starts' ? amount : amount * factor,
    ),
    chainCycles: work.chainCycles * chainFactor(factor),
    chainFixedNs: work.chainFixedNs * chainFactor(factor),
    warps: work.warps,
    isLoose: work.isLoose,
    rounds: work.rounds === undefined ? undefined : work.rounds * chainFactor(factor),
  };
}

function chainFactor(factor: number): number {
  return factor < 1 ? factor ** SHORTER_CHAIN : factor;
}

const SHORTER_CHAIN = 0.85;

/**
 * The work of blocks that start together on an empty device: they come one after the other, so that the last waits for
 * the others. Later blocks start as slots get free, where the starts are a shared resource like others.
 */
export function rampedWork(
  work: BlockWork,
  blocks: number,
  startsPerCycle: number,
  device = withoutStarts(work.device),
): BlockWork {
  const { sm, chainCycles, chainFixedNs, warps, isLoose, rounds } = work;
  return {
    sm,
    device,
    chainCycles: chainCycles + blocks / startsPerCycle,
    chainFixedNs,
    warps,
    startsTogether: true,
    isLoose,
    rounds,
  };
}

/** Amounts of the device's resources but for the block's start. */
export function withoutStarts(device: readonly number[]): readonly number[] {
  return device.map((amount, index) => (DEVICE_RESOURCES[index] === 'starts' ? 0 : amount));
}

/** Whether two blocks may stand for each other within a relative tolerance. */
export function alike(a: BlockWork, b: BlockWork, tolerance: number): boolean {
  return (
    a.warps === b.warps &&
    a.startsTogether === b.startsTogether &&
    a.isLoose === b.isLoose &&
    near(a.rounds ?? 0, b.rounds ?? 0, tolerance) &&
    near(a.chainCycles, b.chainCycles, tolerance) &&
    near(a.chainFixedNs, b.chainFixedNs, tolerance) &&
    a.sm.every((amount, index) => near(amount, b.sm[index], tolerance)) &&
    a.device.every((amount, index) => near(amount, b.device[index], tolerance))
  );
}

function near(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}
