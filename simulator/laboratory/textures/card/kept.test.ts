import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sampleOf } from '../../testSample/index.js';
import { compareAnswer } from './compareAnswer.js';
import type { TextureRun } from './textureRun.js';

const kept = JSON.parse(
  brotliDecompressSync(readFileSync(new URL('./h200.json.br', import.meta.url))).toString(),
) as TextureRun;

/** What the simulator answers otherwise, or refuses where the card answers something; the README says of each what is known. */
const OPEN = [
  // An address's rounding to the longest of two gradients, and its logarithm.
  /^grad-/,
  // Filtering over edges of a cube.
  /^cube-(linear-seamless|numbers-linear-seamless|edges-seamless|edges-wrap)$/,
  // 4 of 3,000 sums of eight texels whose sizes lie far apart.
  /^sum-3d-f32-wide$/,
  // Refused by name here; the card answers nought, or reads whole places of a mipmap.
  /^(whole-1d-wrap|linear-float-coordinate|lod-whole|store-formatted-.*-zero)$/,
  // The card says no of every handle.
  /^is-(texture|surface)$/,
];

const asked = kept.experiments.filter(({ error }) => error === undefined);
const isOpen = (name: string): boolean => OPEN.some((each) => each.test(name));

describe('answers that an H200 gave of textures', () => {
  const held = asked.filter(({ name }) => !isOpen(name));

  it('are 245 that the simulator gives to the bit', () => {
    expect(held).toHaveLength(245);
  });

  // With `WINDJAMMER_TESTS=all` all of them.
  const sample = sampleOf(held, 5).map((experiment) => [experiment.name, experiment] as const);
  it.each(sample)('%s', (_, experiment) => {
    expect(compareAnswer(experiment)).toBeUndefined();
  });
});
