/**
 * What the documents leave open of a texture unit, each in one place. The programming guide's appendix "Texture Fetching" says
 * that weights have 8 bits of fraction and that 1 is among them; the rest is taken as written here until a card has answered
 * (`laboratory/textures`).
 */

/** A coordinate in texels in 256ths: to the nearest, halves up. */
export function subTexels(texels: number): number {
  return Math.floor(texels * 256 + 0.5);
}

/** A normalised coordinate in texels of an axis of so many. */
export function scaled(coordinate: number, extent: number): number {
  return Math.fround(coordinate * extent);
}

/** A level of detail in 256ths, as the weight of two levels has it: to the nearest, halves up. */
export function subLevels(level: number): number {
  return Math.floor(level * 256 + 0.5);
}

/** The level that is read where levels are not blended. */
export function nearestLevel(level: number): number {
  return Math.floor(level + 0.5);
}

/** A weighted sum of texels becomes an f32: summed exactly but for the 53 bits of a double, rounded once. */
export function filtered(sum: number): number {
  return Math.fround(sum);
}

/** What channels read that a format does not have, the last one apart. */
export const MISSING = 0;
/** The same of the last channel. */
export const MISSING_ALPHA = 1;

/** Light of an sRGB value from 0 to 255 (IEC 61966-2-1). */
export const LINEAR_LIGHT: Float64Array = Float64Array.from({ length: 256 }, (_, value) => {
  const part = value / 255;
  return Math.fround(part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
});

/** Level of detail of gradients in texels: the logarithm of the longer one's length. */
export function levelOfGradients(across: readonly number[], down: readonly number[]): number {
  return Math.fround(Math.log2(Math.max(Math.hypot(...across), Math.hypot(...down))));
}

/**
 * Face of a direction, and where on it, each coordinate from 0 to 1 (programming guide, "Cubemap Textures"). Of equal components
 * z comes before y, and y before x.
 */
export function cubePlace(x: number, y: number, z: number): { face: number; s: number; t: number } {
  const [ax, ay, az] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  let face: number;
  let [s, t, major] = [0, 0, 0];
  if (az >= ax && az >= ay) {
    major = az;
    if (isNegative(z)) [face, s, t] = [5, -x, -y];
    else [face, s, t] = [4, x, -y];
  } else if (ay >= ax) {
    major = ay;
    if (isNegative(y)) [face, s, t] = [3, x, -z];
    else [face, s, t] = [2, x, z];
  } else {
    major = ax;
    if (isNegative(x)) [face, s, t] = [1, z, -y];
    else [face, s, t] = [0, -z, -y];
  }
  return { face, s: onFace(s, major), t: onFace(t, major) };
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

function onFace(value: number, major: number): number {
  return Math.fround((Math.fround(value / major) + 1) / 2);
}
