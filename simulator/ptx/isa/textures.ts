import { form, type InstructionForm, since } from './form.js';
import { effects, row, syntax, UNTAINTED } from './parts.js';
import type { Formless } from './row.js';

/**
 * Textures and surfaces by handles. Behind the parser the handle and the coordinates, which PTX has in one pair of brackets,
 * are two operands (`instructionParser.ts`). A surface's accesses become their place and an access of global memory
 * (`lowering/surfaces.ts`).
 */

const geometries = '1d|2d|3d|a1d|a2d|cube|acube';
const flat = '2d|a2d|cube|acube';
const ofSurfaces = '1d|2d|3d|a1d|a2d';
const outside = 'trap|clamp|zero';
const caching = 'ca|cg|cs|cv|wb|wt';
const results = '(?:f32|s32|u32)';

const FETCH = {
  syntax: syntax({ rule: 'fetch', isBraced: true }),
  counted: 'load',
  cost: 'texture',
  registers: 'load',
  isUniform: false,
  nanBits: 'kept',
  pointers: 'none',
  taint: UNTAINTED,
  watch: 'nothing',
  heldBy: 'kernels',
} as const;

/** Of what an object is, and not of what lies in it. */
const QUERY = { ...FETCH, counted: 'byType', cost: 'query' } as const;

const lowered: Formless = { kind: 'lowered', text: 'suld, sust, sured: where an element of a surface lies' };

function accesses(destination: string, source: string, writes: 'always' | 'never', modifiers: string) {
  return {
    ...FETCH,
    syntax: syntax({ rule: 'fetch', isBraced: true, isWider: true, writes }),
    forms: since(
      '2.0',
      20,
      form(
        'b(?:8|16|32|64)',
        `b|${ofSurfaces}|v2|v4|${outside}|${modifiers}`,
        `${destination} <- u64 vi${source}`,
        'b',
        ofSurfaces,
        outside,
      ),
    ),
  };
}

function reductions(): InstructionForm[] {
  const of = (types: string, operations: string): InstructionForm =>
    form(
      types,
      `b|${ofSurfaces}|${operations}|${outside}`,
      '<- u64 vi T',
      'b',
      ofSurfaces,
      operations,
      outside,
    );
  return since('3.0', 20, of('u32|s32|u64', 'add|min|max'), of('s64', 'min|max'), of('b32|b64', 'and|or'));
}

export const textures = {
  tex: row(effects.fetch, {
    ...FETCH,
    forms: [
      ...since(
        '2.0',
        20,
        form(`${results}\\.(?:f32|s32)`, `${geometries}|v4|base`, 'vT1 <- u64 vi', geometries, 'v4'),
        form(
          `${results}\\.(?:f32|s32)`,
          `${geometries}|v4|level`,
          'vT1 <- u64 vi T',
          geometries,
          'v4',
          'level',
        ),
        form(`${results}\\.f32`, `${geometries}|v4|grad`, 'vT1 <- u64 vi vT vT', geometries, 'v4', 'grad'),
      ),
    ],
  }),
  tld4: row(effects.fetch, {
    ...FETCH,
    forms: since(
      '2.2',
      20,
      form(`${results}\\.f32`, `[rgba]|${flat}|v4`, 'vT1 <- u64 vi', '[rgba]', flat, 'v4'),
    ),
  }),
  txq: row(effects.query, {
    ...QUERY,
    forms: since(
      '2.0',
      20,
      form(
        'b32',
        'width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples',
        'T <- u64',
        'width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples',
      ),
      form('b32', 'level|width|height|depth', 'T <- u64 i', 'level', 'width|height|depth'),
    ),
  }),
  suq: row(effects.query, {
    ...QUERY,
    forms: since(
      '2.0',
      20,
      form(
        'b32',
        'width|height|depth|channel_data_type|channel_order|array_size',
        'T <- u64',
        'width|height|depth|channel_data_type|channel_order|array_size',
      ),
    ),
  }),
  istypep: row(effects.query, {
    ...QUERY,
    forms: since('4.0', 30, form('', 'texref|samplerref|surfref', 'p <- u64', 'texref|samplerref|surfref')),
  }),
  suld: row(effects.surfaceLoad, { ...accesses('vT', '', 'always', caching) }),
  sust: row(effects.surfaceStore, { ...accesses('', ' vT', 'never', caching) }),
  sured: row(effects.surfaceReduction, {
    ...FETCH,
    syntax: syntax({ rule: 'fetch', isBraced: true, writes: 'never' }),
    forms: reductions(),
  }),
  surfplace: row(effects.query, {
    ...QUERY,
    forms: [],
    formless: lowered,
    cost: 'folded',
    pointers: 'any',
    registers: 'plain',
    heldBy: 'tests',
  }),
};
