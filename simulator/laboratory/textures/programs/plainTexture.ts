import { blendOf, shareOut, type TexelType } from '../../../executor/index.js';

/**
 * Textures by the formulas of the CUDA programming guide's appendix "Texture Fetching". Where a card's arithmetic is not these formulas', it
 * counts: normalised coordinates have 21 bits of fraction, and how weights are shared out and texels summed is the simulator's own
 * model of it, which `card/kept.test.ts` holds to an H200 and `plainTexture.test.ts` to the formulas within a bound.
 */

type Mode = 'wrap' | 'clamp' | 'mirror' | 'border';

export interface PlainTexture {
  /** Texels of each axis, one to three. */
  readonly extents: readonly number[];
  readonly modes: readonly Mode[];
  readonly isNormalized?: boolean;
  /** Of the numbers that `texel` gives; f32 by default. */
  readonly type?: TexelType;
  /** A texel by its place, each axis within its extent. */
  readonly texel: (place: readonly number[]) => number;
}

const { floor } = Math;

/** `T[i]`: the texel of a whole place that may lie outside, where it is 0 with a border. */
function at({ extents, modes, isNormalized = false, texel }: PlainTexture, place: readonly number[]): number {
  const brought: number[] = [];
  for (const [axis, index] of place.entries()) {
    const extent = extents[axis] ?? 1;
    const mode = modes[axis] ?? 'clamp';
    if (index >= 0 && index < extent) brought.push(index);
    else if (mode === 'border') return 0;
    else if (mode === 'wrap' && isNormalized) brought.push(((index % extent) + extent) % extent);
    else brought.push(index < 0 ? 0 : extent - 1);
  }
  return texel(brought);
}

/** x in texels, and how many texels the axis has if it is read from its end. */
function inTexels(
  { extents, modes, isNormalized = false }: PlainTexture,
  x: number,
  axis: number,
): { x: number; mirroredAt?: number } {
  if (!isNormalized) return { x };
  const extent = extents[axis] ?? 1;
  const cut = (part: number): number => (floor(part * 2 ** 21) / 2 ** 21) * extent;
  const mode = modes[axis] ?? 'clamp';
  if (mode === 'clamp' || mode === 'border') return { x: cut(x) };
  const place = { x: cut(x - floor(x)) };
  return mode === 'mirror' && floor(x) % 2 !== 0 ? { ...place, mirroredAt: extent - 1 } : place;
}

function mirrored(index: number, mirroredAt: number | undefined): number {
  return mirroredAt === undefined ? index : mirroredAt - index;
}

/** Nearest-point sampling: T[floor(x)]. */
export function pointFetch(texture: PlainTexture, coordinates: readonly number[]): number {
  return at(
    texture,
    coordinates.map((each, axis) => {
      const { x, mirroredAt } = inTexels(texture, each, axis);
      return mirrored(floor(x), mirroredAt);
    }),
  );
}

/** Linear filtering: xB = x - 0.5, i = floor(xB), weight frac(xB) with 8 bits of fraction. */
export function linearFetch(texture: PlainTexture, coordinates: readonly number[]): number {
  return linearBlend([{ texture, coordinates, weight: 256 }]);
}

/** Several textures filtered together, each with so many 256ths: levels of a mipmap. */
export function linearBlend(
  parts: readonly { texture: PlainTexture; coordinates: readonly number[]; weight: number }[],
): number {
  const fours = parts.flatMap((part) => foursOf(part.texture, part.coordinates, part.weight));
  const weights = Int32Array.from(fours.flatMap((each) => each.weights));
  const texels = Float64Array.from(fours.flatMap((each) => each.texels));
  return blendOf(parts[0]?.texture.type ?? 'f32', false)(texels, weights, texels.length);
}

interface Four {
  readonly texels: readonly number[];
  readonly weights: readonly number[];
}

function foursOf(texture: PlainTexture, coordinates: readonly number[], total: number): Four[] {
  const axes = coordinates.map((each, axis) => {
    const { x, mirroredAt } = inTexels(texture, each, axis);
    let fixed = Math.round((x - 0.5) * 256);
    if ((texture.modes[axis] ?? 'clamp') === 'clamp')
      fixed = Math.min(Math.max(fixed, 0), 256 * ((texture.extents[axis] ?? 1) - 1));
    const i = floor(fixed / 256);
    const place = (next: number): number => mirrored(i + next, mirroredAt);
    return { places: [place(0), place(1)], weight: fixed - 256 * i };
  });
  const isLine = axes.length === 1;
  // A line's coordinate across is 0: half of what is read lies outside.
  const [x, y = { places: [-1, 0], weight: 128 }, z] = axes;
  if (x === undefined) return [];
  const hasBorder = (texture.modes[0] ?? 'clamp') === 'border';
  const four = (slice: readonly number[], weight: number): Four => {
    const weights = new Int32Array(4);
    shareOut(weight, x.weight, y.weight, weights, 0);
    const texels = y.places.flatMap((row) =>
      x.places.map((column) => {
        if (isLine) return row < 0 && hasBorder ? 0 : at(texture, [column]);
        return at(texture, [column, row, ...slice]);
      }),
    );
    return { texels, weights: [...weights] };
  };
  if (z === undefined) return [four([], total)];
  const second = floor((total * z.weight + 128) / 256);
  return z.places.map((place, index) => four([place], index === 0 ? total - second : second));
}

/** Rows of texels, slice after slice, of `channels` numbers each. */
export function plane(
  values: ArrayLike<number>,
  extents: readonly number[],
  channels = 1,
  channel = 0,
): (place: readonly number[]) => number {
  return (place) => {
    const [x = 0, y = 0, z = 0] = place;
    const [width = 1, height = 1] = extents;
    return values[((z * height + y) * width + x) * channels + channel] ?? NaN;
  };
}
