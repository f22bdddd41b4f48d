import { PIXELS } from '../../containers/models/index.js';

const WIDTH = 28;
const CENTRE = (WIDTH - 1) / 2;

/** How somebody writes, next to how the digits were written. */
export interface WritingStyle {
  /** Counterclockwise, in degrees. */
  readonly turn: number;
  /** Columns to the right for each row up. */
  readonly slant: number;
  /** Factors of the width and of the height. */
  readonly wide: number;
  readonly high: number;
  /** From the thinnest that neighbours allow, -1, to the thickest, 1. */
  readonly thickness: number;
  /** Standard deviation of what is added to every pixel. */
  readonly noise: number;
}

export const PLAIN: WritingStyle = { turn: 0, slant: 0, wide: 1, high: 1, thickness: 0, noise: 0 };

/** Eight groups, each away from the digits as they are in its own direction. */
const GROUPS: readonly WritingStyle[] = [
  { ...PLAIN, turn: 35 },
  { ...PLAIN, turn: -35 },
  { ...PLAIN, slant: 0.7 },
  { ...PLAIN, slant: -0.7 },
  { ...PLAIN, wide: 1.3, high: 0.65 },
  { ...PLAIN, wide: 0.6, high: 1.15 },
  { ...PLAIN, thickness: 1, noise: 0.15 },
  { ...PLAIN, wide: 0.75, high: 0.75, thickness: -0.7, noise: 0.15 },
];

export const GROUP_COUNT = GROUPS.length;

/** @param drift how far the groups are apart: 0 for no difference, 1 for the whole of it */
export function groupStyles(drift: number): readonly WritingStyle[] {
  return GROUPS.map(({ turn, slant, wide, high, thickness, noise }) => ({
    turn: drift * turn,
    slant: drift * slant,
    wide: wide ** drift,
    high: high ** drift,
    thickness: drift * thickness,
    noise: drift * noise,
  }));
}

/** How far people of one group differ from it, in standard deviations of each. */
const SPREAD = { turn: 12, slant: 0.25, size: 0.1, thickness: 0.3 };

/** Somebody of a group. */
export function styleWithin(group: WritingStyle, draw: () => number): WritingStyle {
  return {
    turn: group.turn + SPREAD.turn * normal(draw),
    slant: group.slant + SPREAD.slant * normal(draw),
    wide: group.wide * Math.exp(SPREAD.size * normal(draw)),
    high: group.high * Math.exp(SPREAD.size * normal(draw)),
    thickness: Math.max(-1, Math.min(1, group.thickness + SPREAD.thickness * normal(draw))),
    noise: group.noise,
  };
}

/** A digit as somebody of a style would have written it; pixels stay from 0 to 1. */
export function written(digit: Float32Array, style: WritingStyle, draw: () => number): Float32Array {
  const moved = warped(digit, style);
  const result = new Float32Array(PIXELS);
  const { thickness, noise } = style;
  for (let row = 0; row < WIDTH; row++) {
    for (let column = 0; column < WIDTH; column++) {
      const at = row * WIDTH + column;
      const own = moved[at];
      const edge = neighbour(moved, row, column, thickness < 0 ? Math.min : Math.max);
      const value = own + Math.abs(thickness) * (edge - own) + (noise === 0 ? 0 : noise * normal(draw));
      result[at] = Math.max(0, Math.min(1, value));
    }
  }
  return result;
}

/** Each pixel from where it came from, between the four around that place. */
function warped(digit: Float32Array, { turn, slant, wide, high }: WritingStyle): Float32Array {
  const angle = (turn * Math.PI) / 180;
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const result = new Float32Array(PIXELS);
  for (let row = 0; row < WIDTH; row++) {
    for (let column = 0; column < WIDTH; column++) {
      const right = column - CENTRE;
      const up = CENTRE - row;
      const turnedRight = cosine * right + sine * up;
      const turnedUp = cosine * up - sine * right;
      const x = (turnedRight - slant * turnedUp) / wide;
      const y = turnedUp / high;
      result[row * WIDTH + column] = between(digit, CENTRE - y, CENTRE + x);
    }
  }
  return result;
}

function between(digit: Float32Array, row: number, column: number): number {
  const top = Math.floor(row);
  const left = Math.floor(column);
  const down = row - top;
  const across = column - left;
  return (
    (1 - down) * ((1 - across) * inkAt(digit, top, left) + across * inkAt(digit, top, left + 1)) +
    down * ((1 - across) * inkAt(digit, top + 1, left) + across * inkAt(digit, top + 1, left + 1))
  );
}

function inkAt(digit: Float32Array, row: number, column: number): number {
  return row < 0 || column < 0 || row >= WIDTH || column >= WIDTH ? 0 : digit[row * WIDTH + column];
}

/** Of a pixel and its four neighbours, the lightest or the darkest. */
function neighbour(
  digit: Float32Array,
  row: number,
  column: number,
  choose: (one: number, other: number) => number,
): number {
  let value = inkAt(digit, row, column);
  value = choose(value, inkAt(digit, row - 1, column));
  value = choose(value, inkAt(digit, row + 1, column));
  value = choose(value, inkAt(digit, row, column - 1));
  return choose(value, inkAt(digit, row, column + 1));
}

/** Box and Muller. */
function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
