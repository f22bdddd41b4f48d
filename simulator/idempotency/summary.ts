/**
 * What offline analysis finds of one kernel, as plain JSON: everything that a verdict at launch needs, which is then a
 * function of the arguments, the grid and block dimensions, and the map of allocations. Contents of memory play no part.
 *
 * ## Nodes
 *
 * `nodes` is a table of expressions; operands are indices of earlier nodes, so that one pass in order evaluates all. Every
 * node stands for a mathematical integer (never a bit pattern): 32-bit arithmetic appears as `wrap` where its wrapping can
 * be seen. Truth values are 0 and 1. A node has two readings:
 *
 * - **As an interval** `[lo, hi]` that holds its value for every thread and every loop iteration. A node that depends on no
 *   variable (`uniform`) is a number known at launch: `lo === hi`. The rules of each operator are with it below. Bounds are
 *   exact: a finite bound is a safe integer, and a calculation that leaves ±2^53 gives the unbounded interval. Of an
 *   unbounded operand the result is unbounded, save where a rule bounds it (`wrap`, `remainder`, `narrow`, `meet`, masks,
 *   `select` of the other side, comparisons: [0, 1]). Zero times unbounded is zero.
 * - **At a point**: given values of all variables, its exact value. Read so are `exact`, `conditions` and the `count` of a
 *   counter, in which `narrow` and `meet` do not occur. A point value may be unknown (`unknown`, `hull`, division by zero,
 *   beyond ±2^53); an unknown condition counts as true, an unknown address as all addresses in its interval.
 */
export interface KernelSummary {
  readonly version: 1;
  /** Name of the `.entry`. */
  readonly kernel: string;
  /**
   * `idempotent` and `nonIdempotent`: every launch is, or none can be shown to be; both are decided here and the tables
   * below may be empty. `conditional`: the launch decides.
   */
  readonly class: KernelClass;
  /** Why the class is what it is, in words; `cause` only of nonIdempotent kernels. */
  readonly reason: SummaryReason;
  readonly nodes: readonly SummaryNode[];
  readonly variables: readonly SummaryVariable[];
  /** Uniform truth values that must all be 1 (not unknown) or the launch is refused with the cause beside it. */
  readonly conditions: readonly GlobalCondition[];
  readonly accesses: readonly SummaryAccess[];
  /** False when the analysis gave up: there are accesses that `accesses` does not hold. */
  readonly isComplete: boolean;
  /** Module-scope variables whose device addresses `symbol` nodes name, with their extent. */
  readonly symbols: readonly { readonly name: string; readonly bytes: number }[];
}

export type KernelClass = 'idempotent' | 'nonIdempotent' | 'conditional';

/**
 * Why an idempotent launch may be refused: IF indirect or recursive call, PE too many paths or an irregular loop, NA an
 * address with a value that no argument gives, NC such a condition, RO intervals wider than the sets, MO order ignored
 * (written first, then read), SO the same address read and written.
 */
export type Cause = 'IF' | 'PE' | 'NA' | 'NC' | 'RO' | 'MO' | 'SO';

export interface SummaryReason {
  readonly cause?: Cause;
  /** One sentence that names what was found. */
  readonly text: string;
  /** PTX lines concerned, ascending. */
  readonly lines: readonly number[];
}

export interface GlobalCondition {
  readonly node: number;
  readonly cause: Cause;
  readonly text: string;
  readonly line: number;
}

/** An independent integer that differs between threads or iterations. */
export type SummaryVariable =
  /** A component of `%tid` or `%ctaid`: interval [0, extent − 1] of the launch's block or grid. */
  | { readonly kind: 'thread'; readonly name: ThreadVariable }
  /**
   * Iteration number of a loop, from 0: interval [0, hi(count) − 1]; at a point it runs over [0, count − 1]. When
   * hi(count) < 1 no iteration happens. `count` may depend on variables of lower index.
   */
  | { readonly kind: 'counter'; readonly count: number; readonly line: number };

export type ThreadVariable = 'tid.x' | 'tid.y' | 'tid.z' | 'ctaid.x' | 'ctaid.y' | 'ctaid.z';

export type DimensionName = 'ntid.x' | 'ntid.y' | 'ntid.z' | 'nctaid.x' | 'nctaid.y' | 'nctaid.z';

/** One load or store of global memory in the kernel's text, on one kind of path to it. */
export interface SummaryAccess {
  /** PTX line, and index of the instruction in the lowered kernel. */
  readonly line: number;
  readonly instruction: number;
  readonly kind: 'read' | 'write';
  /** Bytes from the address on, vector lanes included. */
  readonly bytes: number;
  /** The address for intervals: bytes [lo, hi + bytes − 1] may be accessed. Unbounded: any byte may be. */
  readonly address: number;
  /** The address for points. */
  readonly exact: number;
  /**
   * Truth values of which all hold whenever the access happens. As intervals: if one is certainly 0 it never happens in
   * this launch (judging the uniform ones suffices; what the others say about the address is in `narrowed`). At a point:
   * it happens there if all are 1 or unknown.
   */
  readonly conditions: readonly number[];
  /** Nodes of kind `narrow`: if the interval of one is empty (lo > hi) the access never happens in this launch. */
  readonly narrowed: readonly number[];
  /** All variables to enumerate for its points: those of address and conditions, and the counters of the loops around. */
  readonly variables: readonly number[];
  /**
   * Pointers from which the address is an offset: nodes `argument` (8 bytes) or `symbol`, one of which is the base; empty
   * when none is known. If exactly one of them lies in an allocation (or is a symbol), and accesses through a pointer stay
   * in its allocation, that allocation bounds the access.
   */
  readonly bases: readonly number[];
  /** The address holds a value that no argument gives: where it comes from. NA: memory or another thread; PE: a loop. */
  readonly unknown?: { readonly cause: 'NA' | 'PE'; readonly line: number; readonly text: string };
  /** Of a read: the thread itself has written all of these bytes before. Tells what an overlap is due to, and no verdict. */
  readonly writtenFirst?: true;
  /** A condition on the way holds such a value and was taken for true (NC). */
  readonly conditionUnknown?: { readonly line: number; readonly text: string };
}

/** Operand: index of an earlier node. */
type Of = number;

export type SummaryNode = SummaryOperator & {
  /** Depends on no variable and no unknown: a number at launch. */
  readonly uniform: boolean;
};

export type SummaryOperator =
  /** A safe integer. */
  | { readonly op: 'constant'; readonly value: number }
  /** Little-endian integer at a byte offset of the parameter space. Unbounded when it is not a safe integer. */
  | {
      readonly op: 'argument';
      readonly offset: number;
      readonly bytes: 1 | 2 | 4 | 8;
      readonly signed: boolean;
    }
  | { readonly op: 'dimension'; readonly name: DimensionName }
  /** Device address of a module-scope variable. */
  | { readonly op: 'symbol'; readonly name: string }
  | { readonly op: 'variable'; readonly variable: number }
  /** A value that no argument gives: in [lo, hi], or any when they are absent. */
  | { readonly op: 'unknown'; readonly lo?: number; readonly hi?: number }
  /** constant + Σ terms. */
  | { readonly op: 'sum'; readonly constant: number; readonly terms: readonly Of[] }
  /** factor · of, with a constant safe integer. */
  | { readonly op: 'scale'; readonly factor: number; readonly of: Of }
  /** a · b: least and greatest of the four corner products (two when one side is uniform). */
  | { readonly op: 'product'; readonly a: Of; readonly b: Of }
  /** 2^of; unbounded unless 0 ≤ of ≤ 52. */
  | { readonly op: 'power'; readonly of: Of }
  /**
   * a / b rounded down (`floor`) or toward zero (`zero`). Unbounded when the interval of b holds 0. For b of one sign:
   * least and greatest of the four corners.
   */
  | { readonly op: 'quotient'; readonly a: Of; readonly b: Of; readonly rounding: 'floor' | 'zero' }
  /**
   * a / b where that is a whole number ≥ 0; unknown (unbounded) otherwise. Uniform: decided at launch. Otherwise, when
   * `divides` (a is a multiple of b at every point, by analysis), lo(a) ≥ 0 and b has one sign or likewise lo(−a), as
   * `quotient`; else unbounded.
   */
  | { readonly op: 'exactQuotient'; readonly a: Of; readonly b: Of; readonly divides: boolean }
  /**
   * a − b · quotient(a, b). With b = [m, M], m > 0: for `floor`, [0, M − 1], and if also a ≥ 0 at most hi(a); for `zero`
   * the same when a ≥ 0, else from max(lo(a), 1 − M) to min(max(hi(a), 0), M − 1). When b is uniform and both ends of a have the
   * same quotient, [lo(a) − b·q, hi(a) − b·q]. Otherwise unbounded.
   */
  | { readonly op: 'remainder'; readonly a: Of; readonly b: Of; readonly rounding: 'floor' | 'zero' }
  | { readonly op: 'minimum'; readonly a: Of; readonly b: Of }
  | { readonly op: 'maximum'; readonly a: Of; readonly b: Of }
  /**
   * Bitwise on two's complement of so many bits (operands are taken modulo 2^bits); the value is signed. Uniform: exact
   * (for 64 bits, unbounded is allowed unless both operands are in the signed 32-bit range). Otherwise, both operands ≥ 0
   * and in range: `and` [0, min of the his]; `or` [max of the los, 2^k − 1], `xor` [0, 2^k − 1] with 2^k > both his. One
   * operand of `and` uniform and ≥ 0: [0, it]. Else the signed range of the width.
   */
  | {
      readonly op: 'bits';
      readonly operation: 'and' | 'or' | 'xor';
      readonly a: Of;
      readonly b: Of;
      readonly bits: 8 | 16 | 32 | 64;
    }
  /**
   * The value modulo 2^bits, as a signed or unsigned integer of that width. Uniform: exact. Otherwise `of` if its interval
   * lies within the range of the type, else the whole range of the type. (Range of 64 bits: unbounded.)
   */
  | { readonly op: 'wrap'; readonly of: Of; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  /** a where the condition is 1, b where it is 0; the union of both when it may be either. */
  | { readonly op: 'select'; readonly condition: Of; readonly a: Of; readonly b: Of }
  /** a < b, a ≤ b, a = b: [1, 1] or [0, 0] when certain, else [0, 1]. */
  | { readonly op: 'less' | 'lessEqual' | 'equal'; readonly a: Of; readonly b: Of }
  | { readonly op: 'not'; readonly of: Of }
  | { readonly op: 'and' | 'or'; readonly terms: readonly Of[] }
  /** `of` on those points where lo ≤ of ≤ hi: [max(lo(of), lo(lo)), min(hi(of), hi(hi))], which may be empty. */
  | { readonly op: 'narrow'; readonly of: Of; readonly lo?: Of; readonly hi?: Of }
  /**
   * `of`, provided that the interval of each of `fits` lies within the range of its type; unbounded otherwise. At a point:
   * `of` if the values of `fits` lie within, else unknown.
   */
  | { readonly op: 'assume'; readonly of: Of; readonly fits: readonly Fit[] }
  /** Several enclosures of one value: their intersection (greatest lo, least hi). */
  | { readonly op: 'meet'; readonly of: readonly Of[] }
  /** The interval from lo(from) to hi(to), for a value that is only known to lie between. Unknown at a point. */
  | { readonly op: 'hull'; readonly from: Of; readonly to: Of };

/** [−2^(bits−1), 2^(bits−1) − 1] when signed, else [0, 2^bits − 1]; for 64 bits ±2^53 or [0, 2^53]. */
export interface Fit {
  readonly of: Of;
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}
