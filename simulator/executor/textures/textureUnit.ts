import type { AddressMode, TexelType } from './textureObject.js';

/**
 * What a card decides of a texture unit, each in one place: how an H200 answers (`laboratory/textures` has its answers, and what is
 * still open). The programming guide's appendix "Texture Fetching" says that weights have 8 bits of fraction, and no more.
 */

/** Steps of a normalised coordinate from 0 to 1: 21 bits of fraction, the others are cut off. */
const STEPS = 2 ** 21;
const LEAST_NORMAL = 2 ** -126;

/** A coordinate as the unit takes it: subnormals and what is no number are nought. */
export function taken(coordinate: number): number {
  return Math.abs(coordinate) >= LEAST_NORMAL ? coordinate : 0;
}

/** A coordinate in texels in 256ths: to the nearest, halves up. */
export function subTexels(texels: number): number {
  return Math.floor(texels * 256 + 0.5);
}

/**
 * A normalised coordinate in texels of an axis of so many; of what repeats within its period. An infinite one wraps to nowhere,
 * which is 0.
 */
export function scaled(coordinate: number, extent: number, mode: AddressMode): number {
  if (mode === 'clamp' || mode === 'border')
    return (Math.floor(Math.min(Math.max(coordinate, -2), 3) * STEPS) * extent) / STEPS;
  if (Math.abs(coordinate) === Infinity) return 0;
  return (Math.floor((coordinate - Math.floor(coordinate)) * STEPS) * extent) / STEPS;
}

/** Whether a coordinate lies in a period that is read from its end: places are found first and mirrored then, weights and all. */
export function isMirrored(coordinate: number): boolean {
  return Math.abs(coordinate) !== Infinity && Math.floor(coordinate) % 2 !== 0;
}

/**
 * Shares `total` out among four texels, in rows of two: first between columns, then in each column between rows. What the second
 * row gets of the second column has its halves rounded up, of the first one down.
 * @param x weight of the second column in 256ths. @param y of the second row
 */
export function shareOut(total: number, x: number, y: number, weights: Int32Array, at: number): void {
  const second = (total * x + 128) >> 8;
  const first = total - second;
  const below = (second * y + 128) >> 8;
  const belowFirst = (first * y + 127) >> 8;
  weights[at] = first - belowFirst;
  weights[at + 1] = second - below;
  weights[at + 2] = belowFirst;
  weights[at + 3] = below;
}

/** A level of detail, its bias and its bounds in 256ths, each by itself: the others are cut off. */
export function subLevels(level: number): number {
  return Math.floor(level * 256);
}

/** The level that is read where levels are not blended, of one in 256ths. */
export function nearestLevel(fixed: number): number {
  return Math.floor((fixed + 128) / 256);
}

/**
 * A filtered channel: of texels as their format has them (numbers of integers, floats), four after four that lie around one place
 * of a slice or level, and of weights that are 256 together.
 */
export type Blend = (texels: Float64Array, weights: Int32Array, count: number) => number;

/** How texels of a type that are read as floats are blended. */
export function blendOf(type: TexelType, srgb: boolean): Blend {
  if (srgb) return blendLight;
  switch (type) {
    case 'u8':
      return (texels, weights, count) => unsigned(257 * weighted(texels, weights, count));
    case 'u16':
      return (texels, weights, count) => unsigned(weighted(texels, weights, count));
    case 's8':
      return (texels, weights, count) => {
        const sum = weighted(texels, weights, count);
        // 7 bits of magnitude become 15: repeated, the last repetition with 3 bits of fraction.
        return Math.fround(((sum * 129 + ((sum >> 12) << 4) + 64) >> 7) / 32767);
      };
    case 's16':
      return (texels, weights, count) =>
        Math.fround(Math.floor((weighted(texels, weights, count) + 128) / 256) / 32767);
    case 'f16':
      return (texels, weights, count) => blendFloats(texels, weights, count, HALF);
    case 'f32':
    case 'u32':
    case 's32':
      return (texels, weights, count) => blendFloats(texels, weights, count, SINGLE);
  }
}

/** A sum of 16 bits and 8 of fraction: rounded to 16 bits, halves up. */
function unsigned(sum: number): number {
  return Math.fround(Math.floor((sum + 128) / 256) / 65535);
}

function weighted(texels: Float64Array, weights: Int32Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += (weights[i] ?? 0) * (texels[i] ?? 0);
  return sum;
}

interface FloatWidth {
  /** Bits of a texel that count, from the highest one of the greatest of four on; the others are cut off. */
  readonly aligned: number;
  /** Bits of the sum, and its least step. */
  readonly kept: number;
  readonly least: number;
  /** Texels and sums below are nought. */
  readonly normal: number;
}

const SINGLE: FloatWidth = { aligned: 28, kept: 24, least: 2 ** -149, normal: LEAST_NORMAL };
const HALF: FloatWidth = { aligned: 15, kept: 11, least: 2 ** -24, normal: 0 };

/**
 * Floats are aligned to the greatest of four, those without weight apart, cut off, and summed exactly; sums of fours are added and rounded once, halves
 * away from zero.
 */
function blendFloats(texels: Float64Array, weights: Int32Array, count: number, width: FloatWidth): number {
  let sum = 0;
  let isNegative = true;
  for (let from = 0; from < count; from += 4) {
    let greatest = 0;
    for (let i = from; i < from + 4; i++) {
      if (weights[i] === 0) continue;
      const texel = texels[i] ?? 0;
      if (!Number.isFinite(texel)) return unbounded(texels, weights, count);
      if (!isBelow(texel)) isNegative = false;
      greatest = Math.max(greatest, Math.abs(texel));
    }
    if (greatest === 0 || greatest < width.normal) continue;
    const step = 2 ** (exponentOf(greatest) + 1 - width.aligned);
    for (let i = from; i < from + 4; i++) {
      const texel = texels[i] ?? 0;
      if (weights[i] !== 0 && Math.abs(texel) >= width.normal)
        sum += (weights[i] ?? 0) * Math.trunc(texel / step) * step;
    }
  }
  return roundedSum(sum / 256, isNegative, width);
}

/** Light of values of sRGB has 8 bits, of which those count that the brightest has. */
function blendLight(texels: Float64Array, weights: Int32Array, count: number): number {
  let sum = 0;
  for (let from = 0; from < count; from += 4) {
    let step = 0;
    for (let i = from; i < from + 4; i++)
      if (weights[i] !== 0) step = Math.max(step, LIGHT_STEPS[texels[i] ?? 0] ?? 0);
    for (let i = from; i < from + 4; i++)
      if (weights[i] !== 0)
        sum += (weights[i] ?? 0) * Math.trunc((LINEAR_LIGHT[texels[i] ?? 0] ?? 0) / step) * step;
  }
  return roundedSum(sum / 256, false, HALF);
}

function roundedSum(sum: number, isNegative: boolean, { kept, least, normal }: FloatWidth): number {
  const size = Math.abs(sum);
  const sign = sum < 0 || (sum === 0 && isNegative) ? -1 : 1;
  if (size === 0 || size < normal) return sign * 0;
  const step = Math.max(least, 2 ** (exponentOf(size) + 1 - kept));
  return sign * Math.floor(size / step + 0.5) * step;
}

/** Where an infinity has weight, or what is no number. */
function unbounded(texels: Float64Array, weights: Int32Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const texel = texels[i] ?? 0;
    if (weights[i] !== 0 && !Number.isFinite(texel)) sum += texel;
  }
  return sum;
}

function isBelow(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

const doubles = new Float64Array(1);
const doubleBits = new Uint32Array(doubles.buffer);

/** Of a positive number that is no subnormal double. */
function exponentOf(value: number): number {
  doubles[0] = value;
  return ((doubleBits[1] ?? 0) >>> 20) - 1023;
}

/** What channels read that a format does not have. */
export const MISSING = 0;

/** Bits of a sum that is no number. */
export function nanBits(type: TexelType): number {
  return type === 'f16' ? 0x7fffe000 : 0x7fffffff;
}

/** A border's colour as a texel of a type has it. @param isInteger texels are given as integers */
export function borderTexel(colour: number, type: TexelType, isInteger: boolean): number {
  const bits = Number(type.slice(1));
  if (isInteger) {
    // The float's own bits, as many as fit.
    floats[0] = colour;
    const word = floatBits[0] ?? 0;
    return type.startsWith('s')
      ? (word << (32 - bits)) >> (32 - bits)
      : (word << (32 - bits)) >>> (32 - bits);
  }
  if (type === 'f16') {
    if (colour !== colour) return colour;
    return Math.min(Math.max(roundedSum(colour, isBelow(colour), HALF), -65504), 65504);
  }
  if (type === 'f32') return colour;
  // To the nearest, halves towards zero.
  const isSigned = type.startsWith('s');
  const most = 2 ** (bits - (isSigned ? 1 : 0)) - 1;
  const size = Math.ceil(Math.min(Math.abs(colour), 1) * most - 0.5);
  return colour >= 0 ? size : isSigned ? -size : 0;
}

const floats = new Float32Array(1);
const floatBits = new Int32Array(floats.buffer);

/**
 * Light of an sRGB value from 0 to 255: IEC 61966-2-1, to 8 bits of the greatest of eight values that lie together, or to 2^-14.
 */
export const LINEAR_LIGHT: Float64Array = Float64Array.from({ length: 256 }, (_, value) => {
  const step = lightStep(value);
  return Math.floor(exactLight(value) / step + 0.5) * step;
});

const LIGHT_STEPS: Float64Array = Float64Array.from({ length: 256 }, (_, value) => lightStep(value));

function lightStep(value: number): number {
  return Math.max(2 ** -14, 2 ** (exponentOf(exactLight(value | 7)) - 7));
}

function exactLight(value: number): number {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

/**
 * Level of detail of gradients in texels in 256ths: the logarithm of a length, to the nearest. Along one axis it is the longer
 * one's or 11/16 of both together; of more axes the longer one's, where a card takes more.
 */
export function levelOfGradients(across: readonly number[], down: readonly number[]): number {
  const [first, second] = [Math.hypot(...across), Math.hypot(...down)];
  const both = across.length === 1 ? (11 / 16) * (first + second) : 0;
  return Math.floor(Math.log2(Math.max(first, second, both)) * 256 + 0.5);
}

/**
 * Face of a direction, and where on it, each coordinate from 0 to 1 (programming guide, "Cubemap Textures"): the direction is
 * first scaled by the reciprocal of its longest component, and what is no number then is nought. Of equal components z comes
 * before y, and y before x.
 */
export function cubePlace(x: number, y: number, z: number): { face: number; s: number; t: number } {
  const whole = (value: number): number => (value === value ? value : 0);
  const longest = Math.max(Math.abs(whole(x)), Math.abs(whole(y)), Math.abs(whole(z)));
  const scale = taken(Math.fround(1 / longest));
  const [u, v, w] = [
    whole(Math.fround(x * scale)),
    whole(Math.fround(y * scale)),
    whole(Math.fround(z * scale)),
  ];
  const [au, av, aw] = [Math.abs(u), Math.abs(v), Math.abs(w)];
  if (aw >= au && aw >= av) return isBelow(w) ? onFace(5, -u, -v) : onFace(4, u, -v);
  if (av >= au) return isBelow(v) ? onFace(3, u, -w) : onFace(2, u, w);
  return isBelow(u) ? onFace(1, w, -v) : onFace(0, -w, -v);
}

function onFace(face: number, s: number, t: number): { face: number; s: number; t: number } {
  return { face, s: Math.fround((s + 1) / 2), t: Math.fround((t + 1) / 2) };
}
