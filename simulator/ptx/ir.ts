/**
 * A PTX module as data. Registers are numbered per function, instructions are numbered in order, and every piece keeps
 * the source line it came from, so that a fault, a profile or a proof can name it.
 */
export interface IrModule {
  /** Name of the source, as messages print it. */
  readonly file: string;
  /** `.version`, e.g. '9.0'. */
  readonly ptxVersion: string;
  /** `.target`, e.g. ['sm_90']. */
  readonly targets: readonly string[];
  readonly variables: readonly IrVariable[];
  /** Functions with a body. */
  readonly functions: readonly IrFunction[];
  /** Functions that are only declared here, such as `vprintf`. */
  readonly externalFunctions: readonly string[];
  /** Heads of functions that are declared without a body, those that a body follows included, in the order of the text. */
  readonly declarations: readonly IrDeclaration[];
}

/** How a name is seen by other modules; without one it is this module's own. */
export type Linkage = 'visible' | 'weak' | 'extern' | 'common';

/** A function without its body. */
export interface IrDeclaration {
  readonly name: string;
  readonly isEntry: boolean;
  readonly linkage?: Linkage;
  readonly parameters: readonly IrParameter[];
  readonly parameterBytes: number;
  readonly returns: readonly IrParameter[];
  /** `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg`, `.reqnctapercluster`, `.noreturn`, as written. */
  readonly directives: Readonly<Record<string, readonly number[]>>;
  readonly line: number;
}

export type ScalarType =
  | 'pred'
  | 'b8'
  | 'b16'
  | 'b32'
  | 'b64'
  | 'b128'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 's8'
  | 's16'
  | 's32'
  | 's64'
  | 'f16'
  | 'f16x2'
  | 'bf16'
  | 'bf16x2'
  | 'u16x2'
  | 's16x2'
  | 'e4m3x2'
  | 'e5m2x2'
  | 'tf32'
  | 'f32'
  | 'f64';

/** A variable of module or function scope in `.global`, `.const`, `.shared` or `.local`. */
export interface IrVariable {
  readonly name: string;
  readonly space: 'global' | 'const' | 'shared' | 'local';
  readonly type: ScalarType;
  /** Total bytes; 0 for an array of open extent (dynamic shared memory). */
  readonly bytes: number;
  readonly align: number;
  /** `.extern`: defined by the launch (dynamic shared memory) or by another module. */
  readonly isExtern: boolean;
  readonly linkage?: Linkage;
  /** Initial bytes from the start (the rest is zero), when any are given; addresses of others are in `relocations`. */
  readonly initial?: Uint8Array;
  readonly relocations?: readonly {
    readonly offset: number;
    readonly symbol: string;
    readonly addend: number;
    readonly generic: boolean;
    /** Of an address in part: how many bits are left out below, and the bytes that are kept. */
    readonly part?: { readonly shift: number; readonly bytes: number };
  }[];
  readonly line: number;
}

export interface IrParameter {
  readonly name: string;
  readonly type: ScalarType;
  /** Offset in the parameter space, aligned as PTX lays parameters out. */
  readonly offset: number;
  readonly bytes: number;
  readonly align: number;
}

export interface IrRegister {
  readonly name: string;
  readonly type: ScalarType;
}

export interface IrFunction extends IrDeclaration {
  readonly registers: readonly IrRegister[];
  /** `.shared` and `.local` variables declared inside; a name used again in an inner scope gets a suffix `$2`. */
  readonly variables: readonly IrVariable[];
  /** `.param` variables declared inside to pass and return values of calls, laid out one after another. */
  readonly callParameters: readonly IrParameter[];
  readonly instructions: readonly IrInstruction[];
  readonly blocks: readonly IrBlock[];
  /** Why this function cannot run (an instruction that is not supported), while others of the module can. */
  readonly refusal?: IrRefusal;
}

/** What a function takes and returns, without a name. */
export interface IrPrototype {
  readonly parameters: readonly IrParameter[];
  readonly returns: readonly IrParameter[];
  /** Functions that it may be, when `.calltargets` lists them. */
  readonly targets?: readonly string[];
}

export interface IrRefusal {
  readonly line: number;
  readonly instruction: string;
  readonly reason: string;
}

/**
 * A basic block: instructions `[first, last]`, entered only at the first and left only at the last. Of a conditional
 * branch the target is the first successor and the next block the second; one entry when both are the same block. A block
 * that ends in a return or exit has no successor, or the next block when that instruction is guarded.
 */
export interface IrBlock {
  readonly index: number;
  readonly label?: string;
  readonly first: number;
  readonly last: number;
  readonly successors: readonly number[];
  readonly predecessors: readonly number[];
}

export interface IrInstruction {
  readonly index: number;
  readonly line: number;
  /** Base opcode: the text before the first dot. */
  readonly opcode: string;
  /** Everything after it, in order, without dots: ['lo', 's32'] of `mad.lo.s32`. */
  readonly modifiers: readonly string[];
  /** Types among the modifiers, in order. */
  readonly types: readonly ScalarType[];
  /** `@%p` or `@!%p`. */
  readonly guard?: { readonly register: number; readonly negated: boolean } | undefined;
  /**
   * `add.cc`, `addc`, `madc` …: the condition code is a predicate register of the function that no text names. Analyses of
   * registers see it here.
   */
  readonly carry?:
    { readonly register: number; readonly reads: boolean; readonly writes: boolean } | undefined;
  /**
   * Of a video instruction whose operands name parts: one text an operand, the written one first, '' for the whole:
   * `vmad.s32.s32.s32 %r1, %r2.h0, -%r3.b1, %r4` has ['', 'h0', '-b1', ''].
   */
  readonly selectors?: readonly string[] | undefined;
  /** `.pragma "nounroll"` stands before it: the assembler does not unroll the loop that begins here. */
  readonly nounroll?: boolean | undefined;
  /** Part of what stands for a copy that the copy engine makes: no lane issues it on a card. */
  readonly isEngine?: boolean | undefined;
  /** Of a call through a register: what its target takes and returns (`.callprototype`, or of the `.calltargets`). */
  readonly prototype?: IrPrototype | undefined;
  /**
   * Operands in PTX order, the written one(s) apart: none for `st`, `bra`, `bar`, `red`, `ret`; one otherwise, which may
   * be a pair or vector. `call` writes its return parameters and reads its target, then its arguments; `brx.idx` reads its
   * index, then the labels of its list, in order and with repetitions. A decimal float literal of an f32 operation is
   * already rounded to 32 bits.
   */
  readonly destinations: readonly IrOperand[];
  readonly sources: readonly IrOperand[];
}

export type IrOperand =
  | { readonly kind: 'register'; readonly register: number }
  | { readonly kind: 'negatedPredicate'; readonly register: number }
  /** Integer immediates as two's complement of 64 bits, split because a JS number cannot hold them. */
  | { readonly kind: 'integer'; readonly low: number; readonly high: number }
  /** Float immediates as exact bits of their own width. */
  | { readonly kind: 'float'; readonly width: 32 | 64; readonly low: number; readonly high: number }
  | { readonly kind: 'special'; readonly name: string }
  /** `[register + offset]`, `[symbol + offset]` or `[offset]`. */
  | { readonly kind: 'address'; readonly base: number | string | undefined; readonly offset: number }
  /** A variable's, parameter's or function's address as a value. */
  | { readonly kind: 'symbol'; readonly name: string; readonly offset: number }
  | { readonly kind: 'vector'; readonly elements: readonly IrOperand[] }
  /** `d|p` of setp, shfl and atom. */
  | { readonly kind: 'pair'; readonly first: IrOperand; readonly second: IrOperand }
  /** `_`, a result that is thrown away. */
  | { readonly kind: 'sink' }
  | { readonly kind: 'label'; readonly block: number };
