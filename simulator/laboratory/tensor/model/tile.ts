import { elementBits, operandWords, type ElementType, type Operand, type TileForm } from '../forms/index.js';
import { chainDot } from './chainDot.js';
import { fusedContext, fusedDot, type FusedContext } from './fusedDot.js';
import { integerDot, integerValue } from './integerDot.js';
import { columnsOf, type MetadataMap } from './metadata.js';
import { decodeAll, type Decoded } from './numbers.js';
import type { FusedModel, Model } from './parameters.js';

/** A form with a model: what a tile's words become. */
export interface TileModel {
  readonly form: TileForm;
  readonly model: Model;
  /** Of a sparse form. */
  readonly metadata?: MetadataMap;
}

/** Elements of a matrix by their place in it, row by row; f64 in `wide`. */
interface Elements {
  readonly bits: Uint32Array;
  readonly wide: BigUint64Array;
}

/**
 * The words that a tile leaves.
 * @param words what a probe kernel loads for it: A, B, C, and of a sparse form its metadata
 * @throws RangeError where there are not as many words as the form has
 */
export function computeTile({ form, model, metadata }: TileModel, words: Uint32Array): Uint32Array {
  const sizes = [form.a, form.b, form.c].map(operandWords);
  const [aWords = 0, bWords = 0, cWords = 0] = sizes;
  const total = aWords + bWords + cWords + (form.sparse === undefined ? 0 : 32);
  if (words.length !== total) throw new RangeError(`${words.length} words of a tile that has ${total}`);
  const a = elementsOf(form.a, words.subarray(0, aWords));
  const b = elementsOf(form.b, words.subarray(aWords, aWords + bWords));
  const c = elementsOf(form.c, words.subarray(aWords + bWords, aWords + bWords + cWords));
  const columns =
    form.sparse === undefined || metadata === undefined
      ? undefined
      : columnsOf(form, words.subarray(aWords + bWords + cWords), metadata);
  const dot = dotOf(form, model, a, b, c);
  const left = form.a.columns;
  const { batches, rows } = form.d;
  const width = form.d.columns;
  const results = new BigUint64Array(form.d.type === 'f64' ? batches * rows * width : 0);
  const narrow = new Uint32Array(form.d.type === 'f64' ? 0 : batches * rows * width);
  const bAt = new Int32Array(left);
  for (let batch = 0; batch < batches; batch++) {
    for (let row = 0; row < rows; row++) {
      const line = batch * rows + row;
      for (let column = 0; column < width; column++) {
        for (let at = 0; at < left; at++) {
          const inner = columns === undefined ? at : (columns[line * left + at] ?? 0);
          bAt[at] = (batch * form.b.rows + inner) * width + column;
        }
        const result = dot(line * left, bAt, line * width + column);
        if (typeof result === 'bigint') results[line * width + column] = result;
        else narrow[line * width + column] = result;
      }
    }
  }
  return wordsOf(form.d, { bits: narrow, wide: results });
}

type Dot = (aAt: number, bAt: Int32Array, cAt: number) => number | bigint;

function dotOf(form: TileForm, model: Model, a: Elements, b: Elements, c: Elements): Dot {
  switch (model.kind) {
    case 'fused': {
      const operands = {
        a: decoded(form.a.type, a.bits, model),
        b: decoded(form.b.type, b.bits, model),
        c: decodeAll(form.c.type, c.bits),
      };
      const context = contextOf(form, model);
      return (aAt, bAt, cAt) => fusedDot(operands, context, aAt, bAt, cAt);
    }
    case 'chain': {
      const operands = { a: a.wide, b: b.wide, c: c.wide };
      const rounding = form.rounding ?? 'rn';
      return (aAt, bAt, cAt) => chainDot(operands, model, rounding, aAt, bAt, cAt);
    }
    case 'integer': {
      const left = Int32Array.from(a.bits, (bits) => integerValue(form.a.type, bits));
      const right = Int32Array.from(b.bits, (bits) => integerValue(form.b.type, bits));
      const join = form.bitOperation ?? 'product';
      return (aAt, bAt, cAt) =>
        integerDot(left, right, (c.bits[cAt] ?? 0) | 0, model, join, form.satfinite, aAt, bAt);
    }
  }
}

const contexts = new WeakMap<FusedModel, Map<TileForm, FusedContext>>();

function contextOf(form: TileForm, model: FusedModel): FusedContext {
  let forms = contexts.get(model);
  if (forms === undefined) contexts.set(model, (forms = new Map()));
  let context = forms.get(form);
  if (context === undefined) {
    context = fusedContext(model, form.a.columns, form.c.type, form.d.type);
    forms.set(form, context);
  }
  return context;
}

function decoded(type: ElementType, bits: Uint32Array, { tf32 }: FusedModel): Decoded {
  if (type !== 'tf32' || tf32 === 'truncated') return decodeAll(type, bits);
  return decodeAll(type, bits.map(nearestTf32));
}

/** Bits of an f32 with the low 13 rounded away, ties to even; a NaN stays one. */
function nearestTf32(bits: number): number {
  if ((bits & 0x7f800000) === 0x7f800000) return (bits & 0x7fffff) === 0 ? bits : bits | 0x400000;
  return (bits + 0xfff + ((bits >>> 13) & 1)) & 0xffffe000;
}

/** Elements by place of what lies in registers or memory. */
function elementsOf(operand: Operand, words: Uint32Array): Elements {
  const { map, slots, batches, rows, columns } = operand;
  const bits = elementBits(operand.type);
  const count = batches * rows * columns;
  if (bits === 64) {
    const wide = new BigUint64Array(count);
    map.forEach((element, unit) => {
      wide[element] = (BigInt(words[2 * unit + 1] ?? 0) << 32n) | BigInt(words[2 * unit] ?? 0);
    });
    return { bits: new Uint32Array(0), wide };
  }
  const found = new Uint32Array(count);
  const mask = bits === 32 ? 0xffffffff : 2 ** bits - 1;
  for (let at = 0; at < map.length; at++) {
    const element = map[at] ?? -1;
    if (element < 0) continue;
    found[element] = (((words[Math.floor(at / slots)] ?? 0) >>> ((at % slots) * bits)) & mask) >>> 0;
  }
  return { bits: found, wide: new BigUint64Array(0) };
}

/** Words of elements by place; where there is no element they are nought. */
export function wordsOf(operand: Operand, { bits: elements, wide }: Elements): Uint32Array {
  const { map, slots } = operand;
  const bits = elementBits(operand.type);
  const words = new Uint32Array(operandWords(operand));
  if (bits === 64) {
    map.forEach((element, unit) => {
      const value = element < 0 ? 0n : (wide[element] ?? 0n);
      words[2 * unit] = Number(value & 0xffff_ffffn);
      words[2 * unit + 1] = Number(value >> 32n);
    });
    return words;
  }
  for (let at = 0; at < map.length; at++) {
    const element = map[at] ?? -1;
    if (element < 0) continue;
    const word = Math.floor(at / slots);
    words[word] = ((words[word] ?? 0) | ((elements[element] ?? 0) << ((at % slots) * bits))) >>> 0;
  }
  return words;
}
