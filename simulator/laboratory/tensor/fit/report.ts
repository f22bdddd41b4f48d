import { digestOf, FormInputs, formNamed, returnedTiles, type ResultEntry } from '../card/results.js';
import { chunkTiles, indexTileCount } from '../probes/index.js';
import { type MetadataMap, type Model, type TileForm, computeTile } from '../../../tensor/index.js';
import type { MoveForm } from '../forms/index.js';
import { type MoveMap, fragmentMap, moveByMap, moveMatrices } from '../moves/index.js';
import { deriveMetadata } from './deriveMetadata.js';
import { deriveMove, type MoveCase } from './deriveMoves.js';
import { fitForm, type Difference, type FitOptions } from './fitForm.js';

/** What is known of a form after a run. */
export interface FormReport {
  readonly name: string;
  readonly status: 'explained' | 'unexplained' | 'failed';
  /** Of one that failed, or is not explained. */
  readonly reason?: string;
  readonly model?: Model;
  /** Models that no tile that came back tells from it, itself among them. */
  readonly equivalent?: number;
  readonly metadata?: MetadataMap;
  /** Of `wmma` loads and stores: which element of the input each of the output is. */
  readonly map?: readonly number[];
  readonly difference?: Difference;
  /** Tiles that the model explains, those whose digests agree among them, and chunks whose digests do not. */
  readonly tiles: number;
  readonly otherChunks: readonly number[];
}

/** Reads one entry of a run. */
export function reportOf(folder: string, entry: ResultEntry, options: FitOptions): FormReport {
  const form = formNamed(entry.name);
  const failed = (reason: string): FormReport => ({
    name: entry.name,
    status: 'failed',
    reason,
    tiles: 0,
    otherChunks: [],
  });
  if (entry.error !== undefined) return failed(entry.error);
  if (form === undefined) return failed('no form of this name');
  const inputs = new FormInputs(form);
  const chunks = (entry.chunks ?? '').match(/.{16}/g) ?? [];
  if (entry.input !== inputs.digest(chunks.length * chunkTiles))
    return failed('the card made other inputs than this program: generator.cu and generator.ts differ');
  return 'shape' in form
    ? tileReport(form, inputs, folder, entry, chunks, options)
    : moveReport(form, inputs, folder, entry, chunks);
}

function tileReport(
  form: TileForm,
  inputs: FormInputs,
  folder: string,
  entry: ResultEntry,
  chunks: readonly string[],
  options: FitOptions,
): FormReport {
  const cases = returnedTiles(folder, entry, inputs);
  const words = inputs.words.input;
  const metadata =
    form.sparse === undefined
      ? undefined
      : deriveMetadata(
          form,
          cases
            .slice(0, indexTileCount(form))
            .map(({ input, output }, tile) => ({ tile, metadata: input.subarray(words - 32), output })),
        );
  if (form.sparse !== undefined && metadata === undefined)
    return {
      name: form.name,
      status: 'unexplained',
      reason: 'no place of its metadata explains which columns were taken',
      tiles: 0,
      otherChunks: [],
    };
  const fit = fitForm(form, cases, metadata, options);
  if (!('model' in fit))
    return {
      name: form.name,
      status: 'unexplained',
      reason: `the nearest model explains ${fit.explained} of ${cases.length} tiles`,
      model: fit.nearest,
      difference: fit.difference,
      tiles: fit.explained,
      otherChunks: [],
      ...(metadata === undefined ? {} : { metadata }),
    };
  const { model, equivalent } = fit;
  const part = metadata === undefined ? { form, model } : { form, model, metadata };
  const otherChunks = otherThan(chunks, inputs, (input) => computeTile(part, input));
  const agreeing = (chunks.length - otherChunks.length) * chunkTiles;
  return {
    name: form.name,
    status: otherChunks.length === 0 ? 'explained' : 'unexplained',
    model,
    equivalent,
    tiles: agreeing + cases.length,
    otherChunks,
    ...(metadata === undefined ? {} : { metadata }),
    ...(otherChunks.length === 0 ? {} : { reason: 'chunks of random tiles differ' }),
  };
}

function moveReport(
  form: MoveForm,
  inputs: FormInputs,
  folder: string,
  entry: ResultEntry,
  chunks: readonly string[],
): FormReport {
  const cases = returnedTiles(folder, entry, inputs);
  const map = form.matrix === undefined ? undefined : mapOf(form, cases);
  if (form.matrix !== undefined && map === undefined)
    return {
      name: form.name,
      status: 'unexplained',
      reason: 'some element of the result is none of what was given',
      tiles: 0,
      otherChunks: [],
    };
  const otherChunks = otherThan(chunks, inputs, (input) =>
    map === undefined ? moveMatrices(form, input) : moveByMap(form, map, input),
  );
  return {
    name: form.name,
    status: otherChunks.length === 0 ? 'explained' : 'unexplained',
    tiles: (chunks.length - otherChunks.length) * chunkTiles,
    otherChunks,
    ...(map === undefined ? {} : { map: [...map] }),
    ...(otherChunks.length === 0 ? {} : { reason: 'chunks of random tiles differ' }),
  };
}

/** The layout that is known where it explains the tiles, else what they tell. */
function mapOf(form: MoveForm, cases: readonly MoveCase[]): MoveMap | undefined {
  const known = fragmentMap(form);
  const isKnown = cases.every(({ input, output }) =>
    moveByMap(form, known, input).every((word, at) => word === output[at]),
  );
  return isKnown ? known : deriveMove(form, cases);
}

function otherThan(
  chunks: readonly string[],
  inputs: FormInputs,
  compute: (input: Uint32Array) => Uint32Array,
): number[] {
  return chunks.flatMap((digest, chunk) => {
    const outputs = Array.from({ length: chunkTiles }, (_, index) =>
      compute(inputs.random(chunk * chunkTiles + index)),
    );
    return digestOf(outputs) === digest ? [] : [chunk];
  });
}
