import type { InstructionForm } from './form.js';

/**
 * What the simulator knows of one opcode. Every property is asked for by name in each row: there is no default that an
 * instruction could fall into unseen. Analyses, emitters and the machine model ask for properties, never for opcodes.
 */
export interface Row {
  /** The forms that run, tried in order; none of what is refused, lowered to others, or written by the lowering alone. */
  readonly forms: readonly InstructionForm[];
  /** Of an opcode without forms why it has none: a reason for the user, or who knows its operands. */
  readonly formless?: Formless;
  readonly effects: Effects;
  readonly syntax: Syntax;
  readonly counted: CounterFamily;
  readonly cost: CostFamily;
  readonly registers: ExpansionFamily;
  /** Whether integers of a whole warp are computed once, in the uniform datapath (since sm_75). */
  readonly isUniform: boolean;
  readonly nanBits: NanBits;
  readonly pointers: Pointers;
  readonly taint: Taint;
  readonly watch: Watch;
  /** Where what it does is held to a card. */
  readonly heldBy: HeldBy;
}

/** Operands that no form tells: `text` is how they are written. */
export type Formless =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'parsed' | 'replaced' | 'lowered'; readonly text: string };

/** What an instruction is to whoever follows a program. */
export type EffectKind =
  /** Computes registers from registers, and nothing else. */
  | 'pure'
  /** The same of an address, whose bits tell where memory lies. */
  | 'address'
  | 'load'
  | 'store'
  /** Reads, changes and writes one place; gives back what was there. */
  | 'atomic'
  | 'reduction'
  /** From memory to memory. */
  | 'copy'
  /** What lies there need not be kept. */
  | 'discard'
  /** Asks the machine for something that changes no value. */
  | 'hint'
  /** Order of accesses as others see them. */
  | 'fence'
  /** Lets time pass. */
  | 'wait'
  | 'barrier'
  /** Lanes of a warp tell each other something. */
  | 'exchange'
  /** Lanes of a warp hold a matrix between them. */
  | 'matrix'
  /** Reads what a texture object names, as its sampler says. */
  | 'fetch'
  /** Asks what a texture or surface object is. */
  | 'query'
  /** Accesses what a surface object names; lowered before it runs. */
  | 'surface'
  | 'branch'
  /** A branch by an index. */
  | 'switch'
  | 'return'
  | 'exit'
  | 'trap'
  | 'breakpoint'
  | 'call'
  /** Calls the device runtime on the host. */
  | 'host'
  /** Not known at all. */
  | 'unknown';

/** Kinds that reach memory by an address of their own: whoever must not miss an access answers for each of them. */
export type MemoryEffect = Extract<
  EffectKind,
  'load' | 'store' | 'atomic' | 'reduction' | 'copy' | 'discard'
>;

/** Kinds after which the next instruction need not be the one behind. */
export type ControlEffect = Extract<
  EffectKind,
  'branch' | 'switch' | 'return' | 'exit' | 'trap' | 'breakpoint'
>;

/** Memory that is touched: that which its modifiers say, one space, or any. */
export type TouchedMemory = 'asWritten' | 'global' | 'shared' | 'any';

export interface Effects {
  readonly kind: EffectKind;
  readonly reads: TouchedMemory | undefined;
  readonly writes: TouchedMemory | undefined;
  /** Reads what nobody writes while the kernel runs. */
  readonly isReadOnly: boolean;
  /** Threads wait for one another there, unless modifiers name another scope. */
  readonly meets: 'warp' | 'block' | undefined;
  /** Threads of a warp come to it together, whatever modifiers say. */
  readonly isAligned: boolean;
  readonly control: 'goes' | 'ends' | 'stops' | 'calls' | undefined;
  /** Of an exchange: all lanes get the same. */
  readonly isAgreed: boolean;
  /** Done at some later time, which another instruction waits for. */
  readonly isAsync: boolean;
}

/** What the parser must know beside forms. */
export interface Syntax {
  /**
   * When the first operand is written: a barrier's when it reduces, a matrix's unless it is stored, an mbarrier's where it
   * gives its state or tells whether a phase is over.
   */
  readonly writes: 'always' | 'never' | 'reductions' | 'unlessStored' | 'states';
  /** Registers may be wider than the type. */
  readonly isWider: boolean;
  /** `!%p` may be an operand. */
  readonly isNegatable: boolean;
  /** Moves what no other instruction takes: special registers, addresses of symbols, parts of a register as a vector. */
  readonly isMove: boolean;
  /** Operands name parts of registers: `%r1.b0`, `-%r2.h1`. */
  readonly hasSelectors: boolean;
  /** In texts of the first targets: what stands where nothing is said of accuracy, and whether subnormals are flushed. */
  readonly early: EarlySpelling;
  /** Takes `.cc`, which writes the condition code; or reads it. */
  readonly carry: 'out' | 'in' | undefined;
  /** What is to be kept beside the form (`instructionRules.ts`). */
  readonly rule: SyntaxRule;
  /** Modifiers that later versions have as hints, or that are another spelling (`spelling.ts`). */
  readonly hints: 'access' | 'copy' | 'address' | undefined;
  /** Vectors in braces of as many registers as `.v2`, `.v4` say. */
  readonly isBraced: boolean;
  /** How it becomes others before it is checked (`rewriting.ts`). */
  readonly rewritten: 'move' | 'special' | 'symbol' | 'copy' | 'policy' | 'stack' | 'mbarrier' | undefined;
}

export interface EarlySpelling {
  /** Of f32. */
  readonly single: 'approx' | undefined;
  /** Of f64. */
  readonly double: 'approx' | 'rn' | undefined;
  readonly isFlushing: boolean;
}

export type SyntaxRule =
  | 'barrier'
  | 'synchronous'
  | 'pair'
  /** A pair unless it says `.any`. */
  | 'pairOfAll'
  | 'call'
  | 'switch'
  | 'copy'
  | 'lookUp'
  | 'video'
  /** A handle and coordinates in one pair of brackets. */
  | 'fetch'
  /** Vectors are as long as modifiers say; an atomic operation has two. */
  | 'vector'
  | 'vectors'
  | 'move'
  /** Shapes, types and registers of a warp's matrices (`matrixRules.ts`). */
  | 'matrix';

/** How an instruction is counted (`compiler/instructions/instructionClass.ts`). */
export type CounterFamily =
  | 'byType'
  | 'quotient'
  | 'special'
  | 'convert'
  | 'control'
  | 'barrier'
  | 'fence'
  | 'warp'
  | 'atomic'
  | 'load'
  | 'store'
  | 'copy';

/** What it becomes in the machine (`gpu/timing/machineCosts.ts` has a price for each). */
export type CostFamily =
  | 'move'
  | 'folded'
  /** Served by a texture unit. */
  | 'texture'
  /** Reads what an object is. */
  | 'query'
  | 'load'
  | 'access'
  | 'sum'
  | 'product'
  /** A product whose sum takes in and gives a carry. */
  | 'carriedProduct'
  | 'fused'
  | 'integer'
  | 'extreme'
  | 'negation'
  | 'quotient'
  | 'remainder'
  | 'reciprocal'
  | 'root'
  | 'approximation'
  | 'conversion'
  | 'count'
  | 'selection'
  | 'logic'
  | 'shift'
  /** Asks what kind of number, or of address, it is. */
  | 'classification'
  /** A bit by its number. */
  | 'search'
  | 'video'
  | 'packedVideo'
  | 'branch'
  | 'switch'
  | 'end'
  | 'call'
  | 'barrier'
  | 'shuffle'
  | 'vote'
  | 'reduction'
  | 'match'
  /** A product of matrices, on the pipe of tensor cores. */
  | 'matrix'
  | 'fence'
  /** The unit for barriers in shared memory. */
  | 'mbarrier'
  /** Asks the machine for something, and waits for no result. */
  | 'request'
  /** Of what does not run. */
  | 'other';

/** What it becomes as far as it matters to registers (`ptx/registers/expansions.ts`). */
export type ExpansionFamily =
  | 'load'
  | 'atomic'
  | 'exchange'
  | 'approximation'
  | 'root'
  | 'quotient'
  | 'remainder'
  | 'arithmetic'
  | 'plain';

/**
 * Of an f32 result, whether it may be any NaN, whose bits count: always, as its sources are, as the type it is converted from
 * says, or never since the card's one NaN stands for all. A result of another type counts always.
 */
export type NanBits = 'kept' | 'asSources' | 'asConverted' | 'canonical';

/**
 * Where a 64-bit result may point: nowhere, as of indices and of what is no address; where what was loaded does; where its first
 * operand, any operand or the last one (an addend) does; where an address of its space does; anywhere.
 */
export type Pointers = 'none' | 'loaded' | 'first' | 'operands' | 'addend' | 'converted' | 'any';

/** What two runs of a kernel may see differently of its result, or notice of it. */
export type Taint =
  | { readonly kind: 'none' }
  /** Whatever its operands. */
  | { readonly kind: 'always' }
  /** Threads learn of each other there: by its name for all that may be the one that another waits for. */
  | { readonly kind: 'exchange'; readonly name: string; readonly isOpenWithoutSync: boolean }
  /** The outside notices, told in words: 'prints'. */
  | { readonly kind: 'effect'; readonly text: string };

/** What checkers look at when it runs. */
export type Watch =
  | 'nothing'
  | 'access'
  | 'update'
  | 'copy'
  | 'fence'
  /** Orders memory whatever its modifiers say. */
  | 'barrierOfMemory'
  | 'barrier'
  | 'exchange'
  | 'shuffle'
  | 'heap';

export type HeldBy =
  /** `laboratory/instructions`: every form by a card's answers. */
  | 'vectors'
  /** No thread alone can show it: kernels of `laboratory/kernels`, and random ones against the interpreter. */
  | 'kernels'
  /** `laboratory/tensor`: every form by a card's answers. */
  | 'tensor'
  /** It computes nothing: tests of the executor. */
  | 'tests';
