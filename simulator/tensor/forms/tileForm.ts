import type { Shape } from './fragments.js';
import type { Operand } from './operand.js';

export type Rounding = 'rn' | 'rz' | 'rm' | 'rp';

/** One form of a warp's matrix product, with its matrices. */
export interface TileForm {
  /** The instruction without operands; of a sparse one with its selector. The key of its results. */
  readonly name: string;
  /** `wgmma` is computed by a warpgroup, the others by a warp. */
  readonly kind: 'mma' | 'sparse' | 'wmma' | 'wgmma';
  readonly shape: Shape;
  readonly a: Operand;
  readonly b: Operand;
  readonly c: Operand;
  readonly d: Operand;
  readonly satfinite: boolean;
  /** Of f64 alone. */
  readonly rounding?: Rounding;
  /** Of b1 alone: what joins the bits that are counted. */
  readonly bitOperation?: 'and' | 'xor';
  readonly sparse?: Sparsity;
}

/** A's elements are half of those of a row; a word of metadata a lane says which. */
export interface Sparsity {
  /** Which lanes of each four are read. */
  readonly selector: number;
  /** Two of four neighbours (of 4-bit types, pairs of neighbours) by two indices of 2 bits, or one of two by one of two nibbles. */
  readonly indices: 'twoOfFour' | 'oneOfTwo';
}

/** A form by its name, made when it is asked for: there are hundreds, and a program has a few. */
export type NamedForm = readonly [name: string, make: () => Omit<TileForm, 'name'>];
