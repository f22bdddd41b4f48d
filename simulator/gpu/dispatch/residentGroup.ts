import type { BlockWork } from '../timing/index.js';

/** Blocks of one launch that started together, do the same work and sit in equal number on SMs with equal company. Plain data. */
export interface ResidentGroup {
  readonly id: number;
  readonly launch: number;
  readonly work: BlockWork;
  readonly sms: readonly number[];
  readonly perSm: number;
  /** Blocks, on all of `sms` together. */
  readonly count: number;
  readonly firstBlock: number;
  /** Block numbers, `perSm` for each of `sms` in turn; undefined where they follow on `firstBlock` in that order. */
  readonly numbers: readonly number[] | undefined;
  /** When its blocks started. */
  readonly startNs: number;
  /** Of the time since then, what it spent off the SMs while another context had its turn. */
  parkedNs: number;
  /** Fraction of each block still to do at `asOfNs`. */
  remaining: number;
  /** Fraction of a block a nanosecond, until anything changes. */
  ratePerNs: number;
}

/** Of one block, in picojoules: on the chip at full voltage, and in memory chips. */
export interface BlockEnergy {
  readonly chip: number;
  readonly memory: number;
}

/** The number of a group's block, by its place: `perSm` for each SM in turn. */
export function blockAt({ firstBlock, numbers }: ResidentGroup, place: number): number {
  return numbers === undefined ? firstBlock + place : numbers[place];
}

/** Numbers of blocks that are placed round the SMs, one on each and then the next, as `numbers` has them. */
export function roundRobin(sms: readonly number[], perSm: number, firstBlock: number): number[] {
  return sms.flatMap((_, index) =>
    Array.from({ length: perSm }, (__, round) => firstBlock + round * sms.length + index),
  );
}

/** Those of a group's blocks on the SMs at some positions. */
export function partOf(group: ResidentGroup, id: number, positions: readonly number[]): ResidentGroup {
  const { perSm } = group;
  const numbers = positions.flatMap((position) =>
    Array.from({ length: perSm }, (_, each) => blockAt(group, position * perSm + each)),
  );
  const { firstBlock, neighbours } = numbered(numbers);
  return {
    ...group,
    id,
    sms: positions.map((position) => group.sms[position]),
    count: numbers.length,
    firstBlock,
    numbers: neighbours ? undefined : numbers,
  };
}

/** Whether block numbers follow one another, and the first. */
export function numbered(numbers: readonly number[]): { firstBlock: number; neighbours: boolean } {
  const [firstBlock] = numbers;
  return { firstBlock, neighbours: numbers.every((block, index) => block === firstBlock + index) };
}
