/** Elements from which on an array of numbers is kept in one block of memory. */
export const LONG_FROM = 16_384;

/** By which the block grows: fresh memory is dear, and this much takes no long turn. */
const GROWTH = 16_384;

/** What the types of this language version do not know of Node 20. */
type Resizable = ArrayBuffer & { resize(bytes: number): void };
const ResizableBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => Resizable;

/**
 * A long array of numbers of JSON. It grows in place: an array of JavaScript would copy itself again and again, some
 * 100 ms at a time when it has millions of elements.
 */
export class LongNumbers implements Iterable<unknown> {
  /** Elements, what is no number among them. */
  length = 0;
  /** The first element that is no number; from it on nothing is kept. */
  odd: { readonly index: number; readonly value: unknown } | undefined;
  private readonly buffer: Resizable;
  private block: Float64Array;

  private constructor(most: number) {
    this.buffer = new ResizableBuffer(GROWTH * 8, { maxByteLength: Math.max(most, GROWTH) * 8 });
    this.block = new Float64Array(this.buffer, 0, GROWTH);
  }

  /** @param most elements that it may ever have */
  static of(elements: readonly unknown[], most: number): LongNumbers {
    const list = new LongNumbers(most);
    for (const element of elements) {
      if (typeof element === 'number') list.add(element);
      else list.addOther(element);
    }
    return list;
  }

  add(value: number): void {
    if (this.odd === undefined) {
      if (this.length === this.block.length) this.grow();
      this.block[this.length] = value;
    }
    this.length += 1;
  }

  /** An element that is no number. */
  addOther(value: unknown): void {
    this.odd ??= { index: this.length, value };
    this.length += 1;
  }

  /** No more come: what is beyond the last element is given back. */
  finish(): void {
    this.block = new Float64Array(this.buffer, 0, 0);
    const kept = this.odd?.index ?? this.length;
    this.buffer.resize(kept * 8);
    this.block = new Float64Array(this.buffer, 0, kept);
  }

  /** The numbers before the first element that is none, in memory of their own. */
  get numbers(): Float64Array {
    return this.block;
  }

  /** The numbers as others of at most their size, in their place: as they were they are gone. */
  encode(type: 'doubles' | 'floats' | 'integers'): Float64Array | Float32Array | Int32Array {
    if (type === 'doubles') return this.block;
    const { block, buffer } = this;
    const { length } = block;
    const narrow =
      type === 'floats' ? new Float32Array(buffer, 0, length) : new Int32Array(buffer, 0, length);
    for (let at = 0; at < length; at++) narrow[at] = block[at];
    this.block = new Float64Array(buffer, 0, 0);
    buffer.resize(length * 4);
    return narrow;
  }

  *[Symbol.iterator](): Iterator<unknown> {
    yield* this.block;
    if (this.odd !== undefined) yield this.odd.value;
  }

  private grow(): void {
    const most = this.buffer as unknown as { readonly maxByteLength: number };
    const length = Math.min(this.block.length + GROWTH, most.maxByteLength / 8);
    this.buffer.resize(length * 8);
    this.block = new Float64Array(this.buffer, 0, length);
  }
}
