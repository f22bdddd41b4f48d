import { describe, expect, it } from 'vitest';
import { uniform } from '../../kernels/index.js';
import { linearFetch, plane, type PlainTexture } from './plainTexture.js';

const { floor } = Math;

/** The programming guide's formula: products of weights of 8 bits, nothing rounded. */
function byTheGuide(texture: PlainTexture, coordinates: readonly number[]): number {
  const axes = coordinates.map((x) => {
    const shifted = Math.round((x - 0.5) * 256) / 256;
    return { i: floor(shifted), alpha: shifted - floor(shifted) };
  });
  let sum = 0;
  for (let corner = 0; corner < 2 ** axes.length; corner++) {
    let weight = 1;
    const place = axes.map(({ i, alpha }, axis) => {
      const next = (corner >> axis) & 1;
      weight *= next === 1 ? alpha : 1 - alpha;
      return Math.min(Math.max(i + next, 0), (texture.extents[axis] ?? 1) - 1);
    });
    sum += weight * texture.texel(place);
  }
  return sum;
}

describe('filtering as a card does it', () => {
  // A weight is half a 256th off of two dimensions, and a whole one of three; of texels from -1 to 1.
  it.each([
    [1, 2 ** -24],
    [2, 2 / 256],
    [3, 8 / 256],
  ])('is near the formula of the programming guide: %s dimensions, by %s', (dimensions, bound) => {
    const extents = new Array<number>(dimensions).fill(9);
    const texture = { extents, modes: [], texel: plane(uniform(9 ** dimensions, 1), extents) };
    const places = uniform(2000 * dimensions, 2, 0, 9);
    let worst = 0;
    for (let at = 0; at < places.length; at += dimensions) {
      const place = [...places.subarray(at, at + dimensions)];
      worst = Math.max(worst, Math.abs(linearFetch(texture, place) - byTheGuide(texture, place)));
    }
    expect(worst).toBeLessThanOrEqual(bound);
    // Two weights or more are rounded: it is not the formula itself.
    if (dimensions > 1) expect(worst).toBeGreaterThan(1 / 2048);
  });
});
