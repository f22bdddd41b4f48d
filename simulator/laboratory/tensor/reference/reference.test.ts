import { describe, expect, it } from 'vitest';
import { sampleOf } from '../../testSample/index.js';
import { digestOf, FormInputs, formNamed } from '../card/results.js';
import { moveTiles, randomTiles } from '../card/plan.js';
import { type TileForm, computeTile, fittedFamilies, fittedModel, fittedOn } from '../../../tensor/index.js';
import { type MoveForm, moveForms, tileForms } from '../forms/index.js';
import { fragmentMap, moveByMap, moveMatrices } from '../moves/index.js';
import { chunkTiles } from '../probes/index.js';
import { readReference } from './index.js';
import { digestOfChunks, referenceTiles } from './referenceTiles.js';

const reference = readReference();

function computeOf(form: TileForm | MoveForm): (input: Uint32Array) => Uint32Array {
  if ('shape' in form) {
    const model = fittedModel(form);
    return (input) => computeTile({ form, model }, input);
  }
  if (form.matrix === undefined) return (input) => moveMatrices(form, input);
  const map = fragmentMap(form);
  return (input) => moveByMap(form, map, input);
}

function digestOfModel(form: TileForm | MoveForm): string {
  const inputs = new FormInputs(form);
  const compute = computeOf(form);
  const tiles = 'shape' in form ? randomTiles : moveTiles;
  const chunks = Array.from({ length: tiles / chunkTiles }, (_, chunk) =>
    digestOf(
      Array.from({ length: chunkTiles }, (_each, at) => compute(inputs.random(chunk * chunkTiles + at))),
    ),
  );
  return digestOfChunks(chunks.join(''));
}

describe('what an H200 left', () => {
  it('is of every form, and of the card that the models were fitted on', () => {
    const { card, driver, ptxas } = reference;
    expect({ card, driver, ptxas }).toEqual(fittedOn);
    expect(Object.keys(reference.digests).sort()).toEqual(
      [...tileForms, ...moveForms].map(({ name }) => name).sort(),
    );
  });

  it.each(reference.kept.map(({ form }) => form))('of the tiles of %s is what its model has', (name) => {
    const form = formNamed(name);
    if (form === undefined || !('shape' in form)) throw new Error(`no form ${name}`);
    const compute = computeOf(form);
    const seen = reference.outputs.get(name) ?? new Uint32Array();
    let at = 0;
    for (const tile of referenceTiles(form, new FormInputs(form))) {
      const output = compute(tile.input);
      expect([tile.name, ...output]).toEqual([tile.name, ...seen.subarray(at, at + output.length)]);
      at += output.length;
    }
    expect(at).toBe(seen.length);
  });

  it('has tiles of every family', () => {
    const kept = reference.kept.flatMap(({ form }) => tileForms.filter(({ name }) => name === form));
    const models = new Set(kept.map(fittedModel));
    expect(fittedFamilies.filter(({ model }) => !models.has(model))).toEqual([]);
  });

  it.each(sampleOf(tileForms, 211).map(({ name }) => name))(
    'of 4,224 random tiles of %s is the same',
    (name) => {
      const form = formNamed(name);
      if (form === undefined) throw new Error(`no form ${name}`);
      expect(digestOfModel(form)).toBe(reference.digests[name]);
    },
  );

  it('of moves is the same', () => {
    const other = sampleOf(moveForms, 8).filter(
      (form) => digestOfModel(form) !== reference.digests[form.name],
    );
    expect(other.map(({ name }) => name)).toEqual([]);
  });
});
