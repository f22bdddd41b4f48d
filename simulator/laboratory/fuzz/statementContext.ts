import type { KernelText } from './kernelText.js';

/** What a random kernel may contain. */
export interface FuzzStyle {
  /** Threads of a block that work together; false: each thread alone, which may return anywhere. */
  readonly isCooperative: boolean;
  /** Threads of a block that go on after the start. */
  readonly activeThreads: number;
  /** Every warp has all its lanes, so that any lane may be read. */
  readonly hasFullWarps: boolean;
  /** Without what a card does in its own way. */
  readonly forCard: boolean;
  /** 2 adds the later families of statements. */
  readonly generation: 1 | 2;
  /** Threads that work together may leave at any time. */
  readonly mayLeave: boolean;
  /** The body of a device function, which has registers and nothing else. */
  readonly isFunction: boolean;
  /** Device functions that may be called, by number. */
  readonly functions: number;
  /** Has places where neighbouring threads lie side by side, and statements that walk through them. */
  readonly hasWalks: boolean;
  /** Has rings of words in which the lanes of a warp meet without waiting for one another. */
  readonly hasRings: boolean;
  /** Computes by every form of every instruction, not by those that kernels are full of. */
  readonly everyForm: boolean;
  readonly gridThreads: number;
}

export interface Flow {
  /** All threads of the block are here together. */
  readonly isUniform: boolean;
  readonly depth: number;
  /** Ends of enclosing loops that a thread may leave alone. */
  readonly loopEnds: readonly string[];
}

/** Registers of one walk, which nothing else writes: what shape they have is for the walk alone to decide. */
export interface WalkRegisters {
  readonly start: string;
  readonly at: string;
  readonly most: string;
  readonly count: string;
  readonly goes: string;
  readonly leaves: string;
}

/** What a family of statements needs of the writer that it adds to. */
export interface StatementContext {
  readonly text: KernelText;
  readonly style: FuzzStyle;
  /** Some statements in an inner flow. */
  block(flow: Flow): void;
  /** One instruction on registers. */
  compute(): void;
  /** A fresh register that counts. */
  counter(): string;
  /** Fresh registers of a walk. */
  walk(): WalkRegisters;
  /** `@%p3 `, or nothing. */
  guard(): string;
}

/** Warps of a block that have threads left. */
export function activeWarps(style: FuzzStyle): number {
  return Math.ceil(style.activeThreads / 32);
}
