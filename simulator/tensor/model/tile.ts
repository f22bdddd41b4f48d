import { elementBits, operandWords, type ElementType, type Operand, type TileForm } from '../forms/index.js';
import { chainDot } from './chainDot.js';
import { fusedContext, fusedDot, type DotOperands, type FusedContext } from './fusedDot.js';
import { integerDot, integerValue } from './integerDot.js';
import { columnsOf, documentedMetadata, type MetadataMap } from './metadata.js';
import { decodeAll, leadingExponent, type Decoded } from './numbers.js';
import type { FusedModel, Model } from './parameters.js';
import { scalarDot } from './scalarDot.js';

/** A form with a model: what a tile's words become. */
export interface TileModel {
  readonly form: TileForm;
  readonly model: Model;
  /** Of a sparse form. */
  readonly metadata?: MetadataMap;
}

/** Elements of a matrix by their place in it, row by row; f64 in `wide`. */
export interface Elements {
  readonly bits: Uint32Array;
  readonly wide: BigUint64Array;
}

/**
 * A tile's operands, read once: what any number of models make of them.
 * @throws RangeError where there are not as many words as the form has
 */
export class PreparedTile {
  private readonly a: Elements;
  private readonly b: Elements;
  private readonly c: Elements;
  private readonly decodings = new Map<string, DotOperands>();
  private readonly integers: { readonly a: Int32Array; readonly b: Int32Array };
  /** Indices of B's factors by line and column of D; of a dense form by column. */
  private readonly factors = new Map<number, Int32Array>();
  private readonly columns: Int32Array | undefined;

  constructor(
    readonly form: TileForm,
    words: Uint32Array,
    metadata?: MetadataMap,
  ) {
    const [aWords = 0, bWords = 0, cWords = 0] = [form.a, form.b, form.c].map(operandWords);
    const end = aWords + bWords + cWords;
    const total = end + (form.sparse === undefined ? 0 : 32);
    if (words.length !== total) throw new RangeError(`${words.length} words of a tile that has ${total}`);
    this.a = elementsOf(form.a, words.subarray(0, aWords));
    this.b = elementsOf(form.b, words.subarray(aWords, aWords + bWords));
    this.c = elementsOf(form.c, words.subarray(aWords + bWords, end));
    if (form.sparse !== undefined)
      this.columns = columnsOf(form, words.subarray(end), metadata ?? documentedMetadata(form));
    const isInteger = form.d.type === 's32';
    this.integers = {
      a: isInteger ? integersOf(form.a.type, this.a.bits) : new Int32Array(0),
      b: isInteger ? integersOf(form.b.type, this.b.bits) : new Int32Array(0),
    };
  }

  /** What a model makes of an element of D, by its place: a word, or the bits of an f64. */
  dot(model: Model): (element: number) => number | bigint {
    const { form } = this;
    const width = form.d.columns;
    const left = form.a.columns;
    switch (model.kind) {
      case 'fused': {
        const operands = this.operands(model);
        const context = contextOf(form, model);
        return (element) =>
          fusedDot(operands, context, Math.floor(element / width) * left, this.factorsOf(element), element);
      }
      case 'chain': {
        const operands = { a: this.a.wide, b: this.b.wide, c: this.c.wide };
        const rounding = form.rounding ?? 'rn';
        return (element) =>
          chainDot(
            operands,
            model,
            rounding,
            Math.floor(element / width) * left,
            this.factorsOf(element),
            element,
          );
      }
      case 'scalar': {
        const operands = this.operands({ tf32: 'truncated', eighths: 'own' });
        const result = form.d.type === 'f16' ? 'f16' : 'f32';
        return (element) =>
          scalarDot(
            operands,
            model,
            result,
            Math.floor(element / width) * left,
            this.factorsOf(element),
            element,
          );
      }
      case 'integer': {
        const { a, b } = this.integers;
        const join = form.bitOperation ?? 'product';
        return (element) =>
          integerDot(
            a,
            b,
            (this.c.bits[element] ?? 0) | 0,
            model,
            join,
            form.satfinite,
            Math.floor(element / width) * left,
            this.factorsOf(element),
          );
      }
    }
  }

  private operands(reading: Reading): DotOperands {
    const key = `${reading.tf32} ${reading.eighths}`;
    let operands = this.decodings.get(key);
    if (operands === undefined) {
      operands = {
        a: decoded(this.form.a.type, this.a.bits, reading),
        b: decoded(this.form.b.type, this.b.bits, reading),
        c: decodeAll(this.form.c.type, this.c.bits),
      };
      this.decodings.set(key, operands);
    }
    return operands;
  }

  private factorsOf(element: number): Int32Array {
    const { form, columns } = this;
    const width = form.d.columns;
    const line = Math.floor(element / width);
    const column = element % width;
    const batch = Math.floor(line / form.d.rows);
    const key = columns === undefined ? batch * width + column : element;
    let factors = this.factors.get(key);
    if (factors === undefined) {
      const left = form.a.columns;
      factors = Int32Array.from({ length: left }, (_, at) => {
        const inner = columns === undefined ? at : (columns[line * left + at] ?? 0);
        return (batch * form.b.rows + inner) * width + column;
      });
      this.factors.set(key, factors);
    }
    return factors;
  }
}

/** The words that a tile leaves, of those that a probe kernel loads for it: A, B, C, and of a sparse form its metadata. */
export function computeTile({ form, model, metadata }: TileModel, words: Uint32Array): Uint32Array {
  const dot = new PreparedTile(form, words, metadata).dot(model);
  const { batches, rows, columns, type } = form.d;
  const count = batches * rows * columns;
  const wide = new BigUint64Array(type === 'f64' ? count : 0);
  const bits = new Uint32Array(type === 'f64' ? 0 : count);
  for (let element = 0; element < count; element++) {
    const result = dot(element);
    if (typeof result === 'bigint') wide[element] = result;
    else bits[element] = result;
  }
  return wordsOf(form.d, { bits, wide });
}

function integersOf(type: ElementType, bits: Uint32Array): Int32Array {
  return Int32Array.from(bits, (stored) => integerValue(type, stored));
}

const contexts = new WeakMap<FusedModel, Map<TileForm, FusedContext>>();

function contextOf(form: TileForm, model: FusedModel): FusedContext {
  let forms = contexts.get(model);
  if (forms === undefined) contexts.set(model, (forms = new Map<TileForm, FusedContext>()));
  let context = forms.get(form);
  if (context === undefined) {
    context = fusedContext(model, form.a.columns, form.c.type, form.d.type);
    forms.set(form, context);
  }
  return context;
}

/** How factors are read. */
type Reading = Pick<FusedModel, 'tf32' | 'eighths'>;

function decoded(type: ElementType, bits: Uint32Array, { tf32, eighths }: Reading): Decoded {
  if (type === 'tf32' && tf32 === 'nearest') return decodeAll(type, bits.map(nearestTf32));
  const own = decodeAll(type, bits);
  if (eighths === 'own' || (type !== 'e4m3' && type !== 'e5m2')) return own;
  const exponents = own.exponents.map((exponent, at) => {
    const value = own.values[at] ?? 0;
    return value === 0 || !Number.isFinite(value) ? exponent : Math.max(leadingExponent(value), -14);
  });
  return { ...own, exponents };
}

/** Bits of an f32 with the low 13 rounded away, ties to even; a NaN stays one. */
function nearestTf32(bits: number): number {
  if ((bits & 0x7f800000) === 0x7f800000) return (bits & 0x7fffff) === 0 ? bits : bits | 0x400000;
  return (bits + 0xfff + ((bits >>> 13) & 1)) & 0xffffe000;
}

/** Elements of a matrix by place, of the words that it lies in. */
export function elementsOf(operand: Operand, words: Uint32Array): Elements {
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
