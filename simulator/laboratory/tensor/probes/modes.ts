import { type FloatFormat, type TileForm, floatFormat } from '../../../tensor/index.js';

/** How elements of an operand are drawn: exponents (unbiased, brought into the type's range) and what is done besides. */
export interface Mode {
  readonly low: number;
  readonly high: number;
  readonly flags: number;
  /** One element in so many is special, where any is. */
  readonly rarity: number;
}

const flag = { pairs: 1, specials: 2, noughts: 4, powers: 8, extremes: 16 } as const;

/** Tiles in a row that are drawn in one way. */
export const chunkTiles = 32;

/** What the modes are for, in their order. */
export const modeNames = [
  'the whole range',
  'one magnitude',
  'some magnitudes',
  'subnormals',
  'overflow',
  'infinities and NaN',
  'cancellation',
  'powers of two and all ones',
  'noughts',
  'a large accumulator',
  'many magnitudes',
] as const;

/** A mode for each of {@link modeNames}. */
export function modesOf(form: TileForm, role: 'a' | 'b' | 'c'): readonly Mode[] {
  const own = floatFormat(form[role].type);
  if (own === undefined) return modeNames.map((_, index) => mode(0, 0, index % 2 === 0 ? 0 : flag.extremes));
  const left = floatFormat(form.a.type);
  if (left === undefined) throw new RangeError(`${form.name} adds floats to integers`);
  return role === 'c' ? accumulatorModes(left, own) : factorModes(own, role);
}

function mode(low: number, high: number, flags = 0, rarity = 1): Mode {
  return { low, high, flags, rarity };
}

function factorModes(format: FloatFormat, role: 'a' | 'b'): Mode[] {
  const lowest = 1 - format.bias;
  const highest = format.hasInfinity ? format.bias : format.bias + 1;
  const isNarrow = format.exponentBits < 8;
  const overflowing = isNarrow ? highest : Math.floor(highest / 2);
  return [
    mode(lowest - 1, highest),
    mode(-2, 1),
    mode(-6, 6),
    role === 'a' ? mode(lowest - 1, lowest + 1) : isNarrow ? mode(lowest - 1, highest) : mode(-30, 20),
    mode(overflowing - 1, overflowing + 1),
    mode(-3, 3, flag.specials, 64),
    mode(-3, 3, flag.pairs),
    mode(-8, 8, flag.powers),
    mode(-4, 4, flag.noughts),
    mode(-6, 2),
    mode(-40, 40),
  ];
}

function accumulatorModes(left: FloatFormat, own: FloatFormat): Mode[] {
  const lowest = 1 - own.bias;
  const smallProducts = Math.max(1 - left.bias - 24, lowest);
  const largeProducts = Math.min(2 * left.bias + 2, own.bias);
  return [
    mode(-24, 24),
    mode(-2, 2),
    mode(-8, 8),
    mode(smallProducts - 20, smallProducts + 16),
    mode(largeProducts - 4, largeProducts),
    mode(-3, 3, flag.specials, 16),
    mode(-24, -6),
    mode(-16, 16, flag.powers),
    mode(-20, 4, flag.noughts),
    mode(6, 22),
    mode(-40, 40),
  ];
}
