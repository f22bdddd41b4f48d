import { describe, expect, it } from 'vitest';
import { hasFusedMultiplyAdd } from '../../../executor/testing/index.js';
import { sampleOf } from '../../testSample/index.js';
import {
  computeTile,
  elementsOf,
  fittedModel,
  productForm,
  productNames,
  wordsOf,
  type TileForm,
} from '../../../tensor/index.js';
import { digestOf } from '../card/results.js';
import { randomTiles, seedOf } from '../card/plan.js';
import { tileForms } from '../forms/index.js';
import { chunkTiles, craftedTiles, fillTile, modeNames, tileAreas, tileWords } from '../probes/index.js';
import { readReference } from '../reference/index.js';
import { digestOfChunks } from '../reference/referenceTiles.js';
import { CompiledTile } from './compiledTile.js';

const reference = readReference();

function formOf(name: string): TileForm {
  const form = productForm(name);
  if (form === undefined) throw new Error(`no form ${name}`);
  return form;
}

/** Digest of what a tile function makes of the random tiles that a card was asked, as the card's probe left them. */
function digestOfFunction(form: TileForm): string {
  const probed = tileForms.find(({ name }) => name === form.name) ?? form;
  const tile = new CompiledTile(form);
  const areas = tileAreas(form);
  const input = tileWords(form).input;
  const seed = seedOf(form.name);
  const chunks = Array.from({ length: randomTiles / chunkTiles }, (_, chunk) =>
    digestOf(
      Array.from({ length: chunkTiles }, (_each, at) => {
        const words = tile.run(fillTile(areas, seed, chunk * chunkTiles + at, input));
        return form.kind === 'wmma' ? wordsOf(probed.d, elementsOf(form.d, words)) : words;
      }),
    ),
  );
  return digestOfChunks(chunks.join(''));
}

function differences(
  form: TileForm,
  tile: CompiledTile,
  tiles: Iterable<readonly [string, Uint32Array]>,
): string[] {
  const model = fittedModel(form);
  const found: string[] = [];
  for (const [name, words] of tiles) {
    const expected = computeTile({ form, model }, words);
    const seen = tile.run(words);
    if (expected.some((word, at) => word !== seen[at])) found.push(name);
  }
  return found;
}

/** Tiles of random bits, most of whose floats are wild, and of numbers with any metadata: it may name a column twice. */
function* anyBits(form: TileForm, count: number): Generator<readonly [string, Uint32Array]> {
  const { input } = tileWords(form);
  const metadata = form.sparse === undefined ? input : input - 32;
  const areas = tileAreas(form);
  for (let tile = 0; tile < count; tile++) {
    const words = Uint32Array.from({ length: input }, (_, at) => hashOf(tile, at));
    if (tile >= 2) words.set(fillTile(areas, 78, tile, input).subarray(0, metadata));
    yield [`bits ${tile}`, words];
  }
}

function hashOf(tile: number, at: number): number {
  const word = Math.imul(tile * 4096 + at + 1, 0x9e3779b1);
  const mixed = Math.imul(word ^ (word >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

const names = productNames();

describe('tile functions', () => {
  it.each(sampleOf(names, 101))('%s leaves what an H200 left of 4,224 random tiles', (name) => {
    expect(digestOfFunction(formOf(name))).toBe(reference.digests[name]);
  });

  it.each(sampleOf(names, 13))(
    '%s is the model of tiles of every mode, of crafted ones and of any bits',
    (name) => {
      const form = formOf(name);
      const areas = tileAreas(form);
      const { input } = tileWords(form);
      const random = modeNames.map(
        (mode, index) => [mode, fillTile(areas, 77, index * chunkTiles, input)] as const,
      );
      const crafted = sampleOf(craftedTiles(form, 5), 16).map(
        (words, at) => [`crafted ${at}`, words] as const,
      );
      const tiles = [...random, ...crafted, ...anyBits(form, 11)];
      for (const fuses of [true, false])
        expect(differences(form, new CompiledTile(form, fuses && hasFusedMultiplyAdd()), tiles)).toEqual([]);
    },
  );

  it('refuses what four warps compute', () => {
    const [form] = tileForms.filter(({ kind }) => kind === 'wgmma');
    if (form === undefined) throw new Error('no form of wgmma');
    expect(() => new CompiledTile(form)).toThrow('computed by four warps');
  });
});
