import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { vectorBits, type VectorType } from './forms/index.js';
import { countEdges, edges32, edges64, edgesBf16, edgesF16, integerEdges } from './operandEdges.js';

/** Cases of every form: all pairs of edges first, then random operands of every magnitude. */
export const casesPerForm = 3072;

interface FloatShape {
  readonly fraction: number;
  readonly exponent: number;
}

const floatShapes: Readonly<Record<string, FloatShape>> = {
  f16: { fraction: 10, exponent: 5 },
  bf16: { fraction: 7, exponent: 8 },
  f32: { fraction: 23, exponent: 8 },
  angle: { fraction: 23, exponent: 8 },
  f64: { fraction: 52, exponent: 11 },
};

const packed: Readonly<Record<string, VectorType>> = {
  f16x2: 'f16',
  bf16x2: 'bf16',
  u16x2: 'u16',
  s16x2: 's16',
};

function edgesOf(type: VectorType): readonly bigint[] {
  if (type === 'f32' || type === 'angle') return edges32;
  if (type === 'f64') return edges64;
  if (type === 'f16') return edgesF16;
  if (type === 'bf16') return edgesBf16;
  if (type === 'count' || type === 'field' || type === 'fnsbase' || type === 'nth') return countEdges;
  if (type === 'pred' || type === 'flag') return [0n, 1n];
  return integerEdges(vectorBits(type));
}

/** Seeded operand bits of forms with one list of source types; every form with that list is given the same. */
export class OperandSource {
  private readonly random = xoroshiro128plus(20_081);

  constructor(private readonly types: readonly VectorType[]) {}

  /** Operands of all cases: raw words, zero-extended to 64 bits. */
  all(): bigint[][] {
    return Array.from({ length: casesPerForm }, (_, index) => this.take(index));
  }

  private word(): bigint {
    return (BigInt(this.random.next() >>> 0) << 32n) | BigInt(this.random.next() >>> 0);
  }

  private below(limit: number): number {
    return (this.random.next() >>> 0) % limit;
  }

  private take(index: number): bigint[] {
    const drawn: bigint[] = [];
    const counts = this.types.map((type) => edgesOf(packed[type] ?? type).length);
    const [first = 1, second = 1] = counts;
    const isPaired = index < first * (this.types.length > 1 ? second : 1);
    this.types.forEach((type, position) => {
      const part = packed[type];
      const edges = edgesOf(part ?? type);
      const chosen = position === 0 ? index % first : Math.floor(index / first);
      const draw = (kind: VectorType, isFirst: boolean): bigint => {
        if (isPaired && position < 2 && isFirst) return edges[chosen] ?? 0n;
        return this.below(4) === 0
          ? (edges[this.below(edges.length)] ?? 0n)
          : this.draw(kind, isFirst ? drawn : []);
      };
      const operand = part === undefined ? draw(type, true) : draw(part, true) | (draw(part, false) << 16n);
      drawn.push(narrowed(type, operand));
    });
    return drawn;
  }

  private draw(type: VectorType, before: readonly bigint[]): bigint {
    const width = vectorBits(type);
    const shape = floatShapes[type];
    if (type === 'pred' || type === 'flag') return this.word() & 1n;
    if (type === 'count' || type === 'field' || type === 'fnsbase' || type === 'nth')
      return this.below(3) === 0 ? this.word() & 0xffffffffn : BigInt(this.below(70));
    if (shape === undefined) return this.integer(width);
    return this.float(type, shape, before);
  }

  private integer(width: number): bigint {
    const raw = this.word();
    const shifted = this.below(4) === 0 ? raw : raw >> BigInt(this.below(64));
    return BigInt.asUintN(width, this.below(3) === 0 ? ~shifted : shifted);
  }

  /** Any bits, numbers near one, numbers near the operand before (sums that cancel), and ones of few digits (ties). */
  private float(type: VectorType, { fraction, exponent }: FloatShape, before: readonly bigint[]): bigint {
    const width = fraction + exponent + 1;
    const raw = this.word();
    const bias = (1 << (exponent - 1)) - 1;
    const sign = (raw & 1n) << BigInt(width - 1);
    const significand = (raw >> 4n) & ((1n << BigInt(fraction)) - 1n);
    const near = type === 'angle' ? bias - 4 + this.below(9) : bias - 4 + this.below(exponent < 6 ? 9 : 16);
    const choice = this.below(8);
    const other = before.at(-1);
    if (choice < 2 && type !== 'angle') return BigInt.asUintN(width, raw);
    if (choice === 2 && other !== undefined && before.length > 0)
      return BigInt.asUintN(width, (other ^ (1n << BigInt(width - 1))) + BigInt(this.below(5) - 2));
    if (choice < 5) {
      const kept = BigInt(this.below(fraction));
      const digits = (significand >> kept) << kept;
      return sign | (BigInt(near) << BigInt(fraction)) | digits;
    }
    return sign | (BigInt(near) << BigInt(fraction)) | significand;
  }
}

/** PTX leaves fields open whose position or length passes 255, and the search of `fns` for far-off bits. */
function narrowed(type: VectorType, operand: bigint): bigint {
  if (type === 'field') return operand & 0xffn;
  if (type === 'fnsbase') return operand & 0x1fn;
  if (type === 'nth') return BigInt.asUintN(32, (operand & 0x3fn) - 32n);
  return BigInt.asUintN(Math.max(vectorBits(type), 1), operand);
}
