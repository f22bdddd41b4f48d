import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { TileForm } from '../../../tensor/index.js';
import { type MoveForm, moveForms, tileForms } from '../forms/index.js';
import {
  chunkTiles,
  craftedTiles,
  fillTile,
  moveAreas,
  moveWords,
  tileAreas,
  tileWords,
} from '../probes/index.js';
import { samplesOf, seedOf } from './plan.js';

/** A line of results.json. */
export interface ResultEntry {
  readonly kind: 'form' | 'timing' | 'program' | 'chunk';
  readonly name: string;
  readonly error?: string;
  /** Digest of the first tiles' inputs as the card made them. */
  readonly input?: string;
  /** Digests of the chunks of random tiles, 16 hexadecimal digits each. */
  readonly chunks?: string;
  readonly chunk?: number;
  readonly file?: number;
  readonly at?: number;
  readonly bytes?: number;
  /** Least, middle and most cycles of a timed launch's warps. */
  readonly cycles?: readonly number[];
}

export interface CardRun {
  readonly card: string;
  readonly driver: string;
  readonly ptxas: string;
  readonly entries: readonly ResultEntry[];
}

export function readRun(folder: string): CardRun {
  return JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as CardRun;
}

/** Tiles whose inputs the runner digests. */
const inputTiles = 64;

/** One tile that came back. */
export interface ReturnedTile {
  readonly name: string;
  readonly input: Uint32Array;
  readonly output: Uint32Array;
}

/** Inputs of a form's tiles. */
export class FormInputs {
  private readonly areas;
  private readonly seed: number;
  readonly words: { readonly input: number; readonly output: number };

  constructor(readonly form: TileForm | MoveForm) {
    this.seed = seedOf(form.name);
    this.words = 'shape' in form ? tileWords(form) : moveWords(form);
    this.areas = 'shape' in form ? tileAreas(form) : moveAreas(form);
  }

  random(tile: number): Uint32Array {
    return fillTile(this.areas, this.seed, tile, this.words.input);
  }

  crafted(): readonly Uint32Array[] {
    return 'shape' in this.form ? craftedTiles(this.form, this.seed) : [];
  }

  /** What the runner says of its first tiles, if the card's generator is ours. */
  digest(tiles: number): string {
    return digestOf(Array.from({ length: Math.min(tiles, inputTiles) }, (_, tile) => this.random(tile)));
  }
}

/** Digest of tiles' words, as `runTensor.py` makes it. */
export function digestOf(tiles: readonly Uint32Array[]): string {
  const hash = createHash('sha256');
  for (const { buffer, byteOffset, byteLength } of tiles)
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest('hex').slice(0, 16);
}

export function formNamed(name: string): TileForm | MoveForm | undefined {
  return tileForms.find((form) => form.name === name) ?? moveForms.find((form) => form.name === name);
}

/** The tiles that came back of an entry: crafted ones and samples, or a chunk. */
export function returnedTiles(folder: string, entry: ResultEntry, inputs: FormInputs): ReturnedTile[] {
  const { file = 0, at = 0, bytes = 0 } = entry;
  const part = readFileSync(join(folder, `outputs${file}.bin`)).subarray(at, at + bytes);
  const raw = inflateSync(part);
  const words = new Uint32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
  const { output } = inputs.words;
  const crafted = entry.kind === 'chunk' ? [] : inputs.crafted();
  const numbers =
    entry.kind === 'chunk'
      ? Array.from({ length: chunkTiles }, (_, index) => (entry.chunk ?? 0) * chunkTiles + index)
      : samplesOf(inputs.form);
  return [
    ...crafted.map((input, index) => ({ name: `crafted ${index}`, input })),
    ...numbers.map((tile) => ({ name: `random ${tile}`, input: inputs.random(tile) })),
  ].map((each, index) => ({ ...each, output: words.subarray(index * output, (index + 1) * output) }));
}
