import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type TileForm, elementBits, floatFormat } from '../../../tensor/index.js';
import { type MoveForm, moveForms, tileForms } from '../forms/index.js';
import {
  blockShape,
  chunkTiles,
  craftedTiles,
  modeNames,
  moveAreas,
  moveWords,
  tileAreas,
  tileWords,
  type InputArea,
} from '../probes/index.js';
import { areaKinds } from '../probes/inputArea.js';

/** Random tiles of a product: each mode in turn, so many times over. */
export const randomTiles = modeNames.length * 12 * chunkTiles;

/** Random tiles of a move, which chooses nothing by value. */
export const moveTiles = 2 * chunkTiles;

/** An operand as `runTensor.py` hands it to the generator. */
interface PlannedArea {
  readonly kind: number;
  readonly offset: number;
  readonly units: number;
  readonly slots: number;
  readonly elementBits: number;
  readonly operand: number;
  readonly pairStride: number;
  readonly pairExtent: number;
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly paddingBits: number;
  readonly hasInfinity: number;
  readonly bias: number;
  /** Place of its map in the plan's bytes, or -1. */
  readonly map: number;
  readonly modes: readonly (readonly number[])[];
}

export interface PlannedForm {
  readonly name: string;
  readonly module: string;
  readonly kernel: string;
  readonly threads: number;
  readonly tilesPerBlock: number;
  readonly tiles: number;
  readonly seed: number;
  readonly inputWords: number;
  readonly outputWords: number;
  readonly areas: readonly PlannedArea[];
  /** Tiles whose words come back as they are, by number. */
  readonly samples: readonly number[];
  /** Crafted tiles, compressed, in the plan's bytes. */
  readonly crafted: { readonly at: number; readonly bytes: number; readonly tiles: number };
}

export interface FormPlan {
  readonly chunkTiles: number;
  readonly modes: number;
  readonly forms: readonly PlannedForm[];
}

/** The seed of a form's inputs. */
export function seedOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32LE(0);
}

/** Tiles of which words come back: of products two of each of the first chunks, of moves enough to tell every element from every other. */
export function samplesOf(form: TileForm | MoveForm): readonly number[] {
  if ('shape' in form)
    return Array.from(
      { length: modeNames.length * 4 },
      (_, index) => (index >> 1) * chunkTiles + (index & 1),
    );
  const bits = form.matrix === undefined ? 16 : elementBits(form.matrix.type);
  return Array.from({ length: Math.min(moveTiles, Math.ceil(48 / bits) + 1) }, (_, tile) => tile);
}

/** Bytes of a plan, in which equal parts lie once. */
export class PlanBytes {
  private readonly parts: Uint8Array[] = [];
  private readonly places = new Map<string, number>();
  private length = 0;

  add(bytes: Uint8Array): number {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const known = this.places.get(digest);
    if (known !== undefined) return known;
    const at = this.length;
    this.places.set(digest, at);
    this.parts.push(bytes);
    this.length += bytes.length;
    return at;
  }

  all(): Uint8Array {
    return Buffer.concat(this.parts);
  }
}

const formsPerModule = 50;

/** What a run asks of every form. `kernelOf` names the module of the form with that number, and its kernel. */
export function planForms(bytes: PlanBytes): FormPlan {
  const all = [...tileForms, ...moveForms];
  return {
    chunkTiles,
    modes: modeNames.length,
    forms: all.map((form, index) => planForm(form, index, bytes)),
  };
}

export function moduleOf(index: number): string {
  return `forms${Math.floor(index / formsPerModule)}`;
}

export function kernelOf(index: number): string {
  return `form${index}`;
}

/** One form's part of a plan. */
export function planForm(form: TileForm | MoveForm, index: number, bytes: PlanBytes): PlannedForm {
  const isTile = 'shape' in form;
  const words = isTile ? tileWords(form) : moveWords(form);
  const seed = seedOf(form.name);
  const block = blockShape(form);
  const crafted = isTile ? craftedTiles(form, seed) : [];
  const packed = deflateSync(
    Buffer.concat(
      crafted.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
    ),
  );
  return {
    name: form.name,
    module: moduleOf(index),
    kernel: kernelOf(index),
    threads: block.threads,
    tilesPerBlock: block.tiles,
    tiles: isTile ? randomTiles : moveTiles,
    seed,
    inputWords: words.input,
    outputWords: words.output,
    areas: (isTile ? tileAreas(form) : moveAreas(form)).map((area) => plannedArea(area, bytes)),
    samples: samplesOf(form),
    crafted: { at: bytes.add(packed), bytes: packed.length, tiles: crafted.length },
  };
}

function plannedArea(area: InputArea, bytes: PlanBytes): PlannedArea {
  const format = area.type === undefined ? undefined : floatFormat(area.type);
  const map = Uint16Array.from(area.map, (element) => (element < 0 ? 0xffff : element));
  const { offset, units, slots, operand, pairStride, pairExtent, modes } = area;
  return {
    kind: areaKinds[area.kind],
    offset,
    units,
    slots,
    elementBits: area.elementBits,
    operand,
    pairStride,
    pairExtent,
    exponentBits: format?.exponentBits ?? 0,
    fractionBits: format?.fractionBits ?? 0,
    paddingBits: format?.paddingBits ?? 0,
    hasInfinity: format?.hasInfinity === true ? 1 : 0,
    bias: format?.bias ?? 0,
    map: map.length === 0 ? -1 : bytes.add(new Uint8Array(map.buffer)),
    modes: modes.map(({ low, high, flags, rarity }) => [low, high, flags, rarity]),
  };
}
