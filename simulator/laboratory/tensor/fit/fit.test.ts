import { describe, expect, it } from 'vitest';
import { sampleOf } from '../../testSample/index.js';
import {
  type Model,
  type TileForm,
  computeTile,
  documentedMetadata,
  doubleChain,
  exactIntegers,
  forHalfResults,
  published,
} from '../../../tensor/index.js';
import { type MoveForm, moveForms, tileForms } from '../forms/index.js';
import { moveByMap } from '../moves/index.js';
import {
  chunkTiles,
  craftedTiles,
  dotProbes,
  fillTile,
  indexTileCount,
  modeNames,
  probeTiles,
  tileAreas,
  tileWords,
} from '../probes/index.js';
import { deriveMetadata, deriveMove, fitForm, type TileCase } from './index.js';

function formOf(name: string): TileForm {
  const form = tileForms.find((each) => each.name === name);
  if (form === undefined) throw new Error(`no form ${name}`);
  return form;
}

/** What a card of a model leaves of crafted tiles and of two random ones of every mode. */
function answers(form: TileForm, model: Model): TileCase[] {
  return inputsOf(form).map((each) => ({ ...each, output: computeTile({ form, model }, each.input) }));
}

const inputs = new Map<TileForm, Omit<TileCase, 'output'>[]>();

function inputsOf(form: TileForm): Omit<TileCase, 'output'>[] {
  const known = inputs.get(form);
  if (known !== undefined) return known;
  const areas = tileAreas(form);
  const size = tileWords(form).input;
  const made = [
    ...craftedTiles(form, 5).map((input, at) => ({ name: `crafted ${at}`, input })),
    ...modeNames.map((_, mode) => ({
      name: `random ${mode}`,
      input: fillTile(areas, 5, mode * chunkTiles, size),
    })),
  ];
  inputs.set(form, made);
  return made;
}

const { h100, a100, v100, wgmmaEighths } = published;

/** Every parameter away from what is published, each for a form that shows it. */
const made: readonly (readonly [string, Model])[] = [
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', h100],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...a100, blockLength: 4 }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...v100, zeroSign: 'allNegative', nan: 'quiet' }],
  [
    'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32',
    { ...h100, fractionBits: 27, alignment: 'normalised' },
  ],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...h100, blockLength: 4, blockOrder: 'descending' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...h100, blockLength: 4, dealing: 'turns' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...h100, cut: 'floor' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...h100, rounding: 'rn' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...h100, accumulator: 'after' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', { ...h100, blockLength: 4, accumulator: 'end' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32', { ...h100, overflow: 'largest' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32', { ...h100, subnormalResults: 'flushed' }],
  ['mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32', { ...h100, zeroProducts: 'counted' }],
  ['mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32', { ...h100, tf32: 'nearest' }],
  ['mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32', { ...h100, subnormalInputs: 'flushed' }],
  ['mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32', wgmmaEighths],
  [
    'mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16',
    forHalfResults({ ...h100, blockLength: 4, between: 'f32' }),
  ],
  ['mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64', { ...doubleChain, order: 'descending' }],
  [
    'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64',
    { ...doubleChain, blockLength: 4, nan: 'negativeQuiet' },
  ],
  [
    'mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32',
    { ...exactIntegers, clamping: 'blocks', blockLength: 16 },
  ],
];

describe('the fit', () => {
  it.each(sampleOf(made, 3))('of %s finds what its answers were made with (%#)', (name, model) => {
    const form = formOf(name);
    const cases = answers(form, model);
    const fit = fitForm(form, cases);
    if (!('model' in fit)) throw new Error(JSON.stringify(fit));
    expect(shown(form, fit.model)).toEqual(shown(form, model));
  });

  /** A model without what a form cannot show: how the only block is dealt, and overflow where no product is that large. */
  function shown(form: TileForm, model: Model): Model {
    if (model.kind !== 'fused') return model;
    const { a } = form;
    const isOne = model.blockLength >= a.columns;
    return {
      ...model,
      blockLength: Math.min(model.blockLength, a.columns),
      ...(isOne ? { dealing: 'neighbours', blockOrder: 'ascending' } : {}),
      ...(a.type === 'bf16' || a.type === 'tf32' ? {} : { overflow: 'infinity' }),
    };
  }

  it('says which tile no model explains', () => {
    const form = formOf('mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32');
    const cases = answers(form, exactIntegers);
    const [, second] = cases;
    if (second !== undefined) second.output[5] = (second.output[5] ?? 0) ^ 1;
    const fit = fitForm(form, cases);
    expect(fit).toMatchObject({ explained: cases.length - 1, difference: { tile: second?.name } });
  });

  it.each([
    'mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 2',
    'mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 1',
    'mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 1',
  ])('finds whose metadata %s takes', (name) => {
    const form = formOf(name);
    const documented = documentedMetadata(form);
    // Another layout than the documented one: lanes in turn the other way.
    const metadata = {
      ...documented,
      places: documented.places.map(({ lane, shift }) => ({ lane: lane ^ 3, shift: shift ^ 16 })),
    };
    const size = tileWords(form).input;
    const model = form.d.type === 's32' ? exactIntegers : h100;
    const cases = craftedTiles(form, 5)
      .slice(0, indexTileCount(form))
      .map((input, tile) => ({
        tile,
        metadata: input.subarray(size - 32),
        output: computeTile({ form, model, metadata }, input),
      }));
    expect(deriveMetadata(form, cases)).toEqual(metadata);
  });

  it('finds the layout of a fragment', () => {
    const form = moveForms.find(
      ({ name }) => name === 'wmma.load.a.sync.aligned.col.m16n16k16.global.f16, stride',
    );
    if (form === undefined) throw new Error('no such load');
    const map = Int32Array.from({ length: 512 }, (_, at) => (at * 37 + 11) % 256);
    const cases = [1, 2, 3, 4].map((seed) => wordsOf(form, seed, map));
    expect(deriveMove(form, cases)).toEqual(map);
    const [first] = cases;
    if (first !== undefined) first.output[0] = (first.output[0] ?? 0) ^ 1;
    expect(deriveMove(form, cases)).toBeUndefined();
  });

  function wordsOf(
    form: MoveForm,
    seed: number,
    map: Int32Array,
  ): { input: Uint32Array; output: Uint32Array } {
    const input = Uint32Array.from({ length: 128 }, (_, at) => Math.imul(at + 1000 * seed, 0x9e3779b1) >>> 0);
    return { input, output: moveByMap(form, map, input) };
  }
});

describe('crafted probes', () => {
  const form = formOf('mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32');
  it.each([
    ['order', { blockLength: 4 }],
    ['bits', { fractionBits: 26 }],
    ['bits of the accumulator', { accumulator: 'after', fractionBits: 24 }],
    ['cut term by term', { fractionBits: 24 }],
    ['alignment', { alignment: 'normalised' }],
    ['rounding', { rounding: 'rn' }],
    ['sign of nought', { zeroSign: 'allNegative' }],
    ['noughts in the largest exponent', { zeroProducts: 'counted' }],
    ['subnormal operands', { subnormalInputs: 'flushed' }],
    ['subnormal accumulators', { subnormalResults: 'flushed' }],
    ['NaN', { nan: 'quiet' }],
  ] as const)('for %s tell %o from what is published', (decides, change) => {
    const probes = dotProbes(form).filter((probe) => probe.decides === decides);
    const other = { ...h100, ...change };
    const differ = probeTiles(form, probes).filter(
      (input) =>
        computeTile({ form, model: h100 }, input).join() !==
        computeTile({ form, model: other }, input).join(),
    );
    expect(differ.length).toBeGreaterThan(0);
  });
});
