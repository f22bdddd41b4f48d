/** Textures by the formulas of the CUDA programming guide's appendix "Texture Fetching", without anything of the simulator's. */

type Mode = 'wrap' | 'clamp' | 'mirror' | 'border';

export interface PlainTexture {
  /** Texels of each axis, one to three. */
  readonly extents: readonly number[];
  readonly modes: readonly Mode[];
  readonly isNormalized?: boolean;
  /** A texel by its place, each axis within its extent. */
  readonly texel: (place: readonly number[]) => number;
}

const { floor, fround } = Math;

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

/** x in texels. */
function inTexels({ extents, modes, isNormalized = false }: PlainTexture, x: number, axis: number): number {
  if (!isNormalized) return x;
  const extent = extents[axis] ?? 1;
  switch (modes[axis] ?? 'clamp') {
    case 'wrap':
      return fround((x - floor(x)) * extent);
    case 'mirror':
      return fround((floor(x) % 2 === 0 ? x - floor(x) : 1 - (x - floor(x))) * extent);
    case 'clamp':
    case 'border':
      return fround(x * extent);
  }
}

/** Nearest-point sampling: T[floor(x)]. */
export function pointFetch(texture: PlainTexture, coordinates: readonly number[]): number {
  return at(
    texture,
    coordinates.map((x, axis) => floor(inTexels(texture, x, axis))),
  );
}

/** Linear filtering: xB = x - 0.5, i = floor(xB), weight frac(xB) with 8 bits of fraction. */
export function linearFetch(texture: PlainTexture, coordinates: readonly number[]): number {
  const axes = coordinates.map((x, axis) => {
    const shifted = Math.round((inTexels(texture, x, axis) - 0.5) * 256) / 256;
    return { i: floor(shifted), weight: shifted - floor(shifted) };
  });
  let sum = 0;
  for (let corner = 0; corner < 2 ** axes.length; corner++) {
    let weight = 1;
    const place = axes.map(({ i, weight: alpha }, axis) => {
      const isNext = ((corner >> axis) & 1) === 1;
      weight *= isNext ? alpha : 1 - alpha;
      return isNext ? i + 1 : i;
    });
    if (weight > 0) sum += weight * at(texture, place);
  }
  return fround(sum);
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
