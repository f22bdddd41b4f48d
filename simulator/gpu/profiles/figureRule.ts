import type { DeviceFigures } from './deviceProfile.js';

/** How a figure that a card leaves out follows from the same figure of the card that it is derived from. */
export type Inheritance =
  'same' | 'sms' | 'smThroughput' | 'dramBandwidth' | 'l2Size' | 'energy' | 'powerLimit' | 'clockPeriod';

export interface FigureRule<T> {
  /** What a value must be, in words. */
  readonly expected: string;
  isValid(value: unknown): value is T;
  readonly inherits: Inheritance;
}

/** In words, for the source of a figure that came about so. */
export const INHERITANCE_IN_WORDS: Readonly<Record<Inheritance, string>> = {
  same: 'as of',
  sms: 'by number of SMs from',
  smThroughput: 'by number of SMs and clock from',
  dramBandwidth: 'by rated DRAM bandwidth from',
  l2Size: 'by size of L2 from',
  energy:
    'equal in the same process, else such that multiply-adds at full rate take the same part of the power limit, from',
  powerLimit: 'the same share of its power limit as of',
  clockPeriod: 'the same nanoseconds, in cycles of its own clock, as of',
};

/** What factors are worked out from. */
export type BasicFigures = Pick<DeviceFigures, 'sms' | 'clockHz' | 'memory' | 'power' | 'timing'>;

/** The power beyond idling that the limit leaves to each of the multiply-adds of a second. */
function joulesToSpend({ sms, clockHz, power, timing }: BasicFigures): number {
  return (power.limitWatts - power.idleWatts) / (sms * clockHz * timing.float32PerCycle);
}

/** The factor between a figure of `base` and that of a card whose sizes and clocks are `own`. */
export function inheritanceFactor(inherits: Inheritance, own: BasicFigures, base: BasicFigures): number {
  const clocks = own.clockHz / base.clockHz;
  switch (inherits) {
    case 'same':
      return 1;
    case 'sms':
      return own.sms / base.sms;
    case 'smThroughput':
      return (own.sms / base.sms) * clocks;
    case 'dramBandwidth':
      return own.memory.declaredBytesPerSecond / base.memory.declaredBytesPerSecond;
    case 'l2Size':
      return own.memory.l2Bytes / base.memory.l2Bytes;
    case 'energy':
      return own.power.processNanometres === base.power.processNanometres
        ? 1
        : joulesToSpend(own) / joulesToSpend(base);
    case 'powerLimit':
      return own.power.limitWatts / base.power.limitWatts;
    case 'clockPeriod':
      return clocks;
  }
}

interface NumberRule extends FigureRule<number> {
  /** The same rule for a figure that follows from the base card's in another way than being equal. */
  by(inherits: Inheritance): FigureRule<number>;
}

function numberRule(expected: string, isValid: (value: number) => boolean): NumberRule {
  const rule = {
    expected,
    inherits: 'same' as const,
    isValid: (value: unknown): value is number =>
      typeof value === 'number' && Number.isFinite(value) && isValid(value),
  };
  return { ...rule, by: (inherits) => ({ ...rule, inherits }) };
}

export const positive = numberRule('a number above 0', (value) => value > 0);
export const notNegative = numberRule('a number, 0 or more', (value) => value >= 0);
export const share = numberRule('a number above 0 and at most 1', (value) => value > 0 && value <= 1);

export function whole(least: number, most = Number.MAX_SAFE_INTEGER): NumberRule {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  return numberRule(
    `a whole number, ${range}`,
    (value) => Number.isInteger(value) && value >= least && value <= most,
  );
}

function isWholeList(value: unknown, least: number): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item) && item >= least);
}

export const extents: FigureRule<readonly [number, number, number]> = {
  expected: 'three whole numbers above 0, [x, y, z]',
  inherits: 'same',
  isValid: (value): value is readonly [number, number, number] => isWholeList(value, 1) && value.length === 3,
};

export function wholes(expected: string, least: number): FigureRule<readonly number[]> {
  return {
    expected,
    inherits: 'same',
    isValid: (value): value is readonly number[] => isWholeList(value, least) && value.length > 0,
  };
}

/** One of a few numbers. */
export function oneOf(...values: readonly number[]): FigureRule<number> {
  return {
    expected: values.join(' or '),
    inherits: 'same',
    isValid: (value): value is number => values.includes(value as number),
  };
}

type Point = readonly [bytes: number, share: number];

/** Points in ascending order of both, from share 0 to share 1. */
export const missCurve: FigureRule<readonly Point[]> = {
  expected: 'two or more points [bytes, share], both ascending, the first share 0 and the last 1',
  inherits: 'l2Size',
  isValid: (value): value is readonly Point[] => {
    if (!Array.isArray(value) || value.length < 2) return false;
    const points: readonly unknown[] = value;
    let bytes = 0;
    let misses = 0;
    for (const point of points) {
      if (!Array.isArray(point) || point.length !== 2) return false;
      const [nextBytes, nextMisses] = point as readonly unknown[];
      if (typeof nextBytes !== 'number' || typeof nextMisses !== 'number') return false;
      if (!(nextBytes > bytes) || !(nextMisses >= misses) || nextMisses > 1) return false;
      if (bytes === 0 && nextMisses !== 0) return false;
      bytes = nextBytes;
      misses = nextMisses;
    }
    return misses === 1;
  },
};
