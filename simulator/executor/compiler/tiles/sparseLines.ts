import type { FunctionBuilder } from '../../../wasm/index.js';
import { documentedMetadata, chunkOf, elementBits, type TileForm } from '../../../tensor/index.js';
import type { FactorBlocks } from './fragments.js';

/**
 * Lines of a sparse A become those of the dense one: a line of 16 bytes becomes two. An element's indices are compared where they lie
 * among the bits of metadata with every place that it may have. 4-bit elements go by pairs, which are bytes.
 */
export class SparseLines {
  private readonly bits: 8 | 16 | 32;
  private readonly metadata: number;
  private readonly kept: number;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly form: TileForm,
  ) {
    const bits = elementBits(form.a.type);
    this.bits = bits === 32 ? 32 : bits === 16 ? 16 : 8;
    this.metadata = f.local('v128');
    this.kept = f.local('v128');
  }

  /** Bytes from the begin of metadata to that of a block's first line; each line after it has its own 16 further on. */
  offset(line: number, step: number, { length }: FactorBlocks): number {
    const { places, chunks } = documentedMetadata(this.form);
    const { lane, shift } = places[line * 8 * chunks + (step * length) / chunkOf(this.form).kept] ?? {
      lane: 0,
      shift: 0,
    };
    return 4 * lane + shift / 8;
  }

  /** Takes a line and, in `address`, where the metadata of its block's line lies. */
  load(line: number, address: number, offset: number): void {
    const { f, bits } = this;
    f.get(address).simdMemory(bits === 8 ? 'v128Load32Splat' : 'v128Load16Splat', offset);
    f.set(this.metadata);
    f.get(line).set(this.kept);
  }

  /**
   * Pushes one of the two dense lines in parts: each has one element of a chunk at its place and noughts else.
   * @param part 0 or 1
   */
  parts(part: number): readonly (() => void)[] {
    return this.form.sparse?.indices === 'oneOfTwo'
      ? [
          () => {
            this.pushOneOfTwo(part);
          },
        ]
      : [0, 1].map((which) => () => {
          this.pushOneOfFour(part, which);
        });
  }

  /** Pushes where both elements of a chunk have one place; of one of two nowhere. */
  pushIsTwice(part: number): void {
    if (this.form.sparse?.indices === 'oneOfTwo') {
      this.f.v128(0, 0, 0, 0);
      return;
    }
    this.pushPlaces(part, 0);
    this.pushPlaces(part, 1);
    this.f.simd('v128And');
  }

  private pushOneOfFour(part: number, which: number): void {
    const { f, kept, bits } = this;
    const bytes = bits / 8;
    // The element of each chunk, four times.
    f.get(kept).get(kept);
    f.shuffle(
      Array.from({ length: 16 }, (_, at) => {
        const chunk = this.chunkAt(part, Math.floor(at / bytes));
        return (2 * chunk + which) * bytes + (at % bytes);
      }),
    );
    this.pushPlaces(part, which);
    f.simd('v128And');
  }

  private chunkAt(part: number, lane: number): number {
    return part * (128 / this.bits / 4) + (lane >> 2);
  }

  /** Pushes ones where a chunk's element lies. */
  private pushPlaces(part: number, which: number): void {
    const { f, metadata, bits } = this;
    const lanes = 128 / bits;
    const shiftAt = (lane: number): number => {
      const chunk = this.chunkAt(part, lane);
      return (bits === 8 ? 4 * (chunk & 1) : 4 * chunk) + 2 * which;
    };
    f.get(metadata);
    // Each byte of metadata has two chunks.
    if (bits === 8)
      f.get(metadata).shuffle(Array.from({ length: 16 }, (_, at) => this.chunkAt(part, at) >> 1));
    pushLanes(
      f,
      bits,
      Array.from({ length: lanes }, (_, lane) => 3 << shiftAt(lane)),
    );
    f.simd('v128And');
    pushLanes(
      f,
      bits,
      Array.from({ length: lanes }, (_, lane) => (lane & 3) << shiftAt(lane)),
    );
    f.simd(bits === 8 ? 'i8x16Eq' : 'i16x8Eq');
  }

  private pushOneOfTwo(part: number): void {
    const { f, metadata, kept } = this;
    const chunks = [0, 0, 1, 1].map((chunk) => 2 * part + chunk);
    f.get(kept).get(kept);
    f.shuffleWords(chunks[0] ?? 0, chunks[1] ?? 0, chunks[2] ?? 0, chunks[3] ?? 0);
    f.get(metadata);
    pushLanes(
      f,
      32,
      chunks.map((chunk) => 3 << (4 * chunk)),
    );
    f.simd('v128And').v128(0, 0, 0, 0).simd('i32x4Eq');
    // The second place is taken where the first is not.
    f.v128(0, 0xffffffff, 0, 0xffffffff).simd('v128Xor').simd('v128And');
  }
}

/** Pushes a constant of lanes of so many bits. */
function pushLanes(f: FunctionBuilder, bits: 8 | 16 | 32, lanes: readonly number[]): void {
  const words = [0, 0, 0, 0];
  lanes.forEach((value, lane) => {
    const word = (lane * bits) >> 5;
    words[word] = ((words[word] ?? 0) | (value << ((lane * bits) & 31))) >>> 0;
  });
  const [a = 0, b = 0, c = 0, d = 0] = words;
  f.v128(a, b, c, d);
}
