import type { AccessKind, Dim3, FaultCode, ResolvedSpace } from '../executor/index.js';

export const CHECKERS = ['memcheck', 'racecheck', 'initcheck', 'synccheck'] as const;

export type CheckerName = (typeof CHECKERS)[number];

/** What was found; `fault` is how the kernel ended when no checker is responsible for it. */
export type FindingKind =
  | 'outOfBounds'
  | 'nullPointer'
  | 'misaligned'
  | 'readOnly'
  | 'useAfterFree'
  | 'badFree'
  | 'readAfterWrite'
  | 'writeAfterRead'
  | 'writeAfterWrite'
  | 'uninitialized'
  | 'divergentBarrier'
  | 'unreachedBarrier'
  | 'maskWithoutCaller'
  | 'exitedLanes'
  | 'readsNobody'
  | 'barrierNumber'
  | 'barrierCount'
  | 'clusterBarrier'
  | 'fault';

/**
 * `info` changes no result (two threads write the same value); `warning` is a hazard between lanes of one warp, which
 * code that counts on lanes going in step makes on purpose, or a value that PTX leaves open and a card happens to give; all
 * else is an `error`.
 */
export type Severity = 'error' | 'warning' | 'info';

/** A line of the kernel's PTX, and of the source that it was made of where the PTX tells (`-lineinfo`). */
export interface CodePlace {
  readonly kernel: string;
  readonly ptxFile: string;
  readonly ptxLine: number;
  /** The instruction as that line has it. */
  readonly instruction: string;
  readonly sourceFile?: string;
  readonly sourceLine?: number;
}

export interface ThreadPlace {
  readonly block: Dim3;
  readonly thread: Dim3;
}

export interface MemoryAccess {
  readonly space: ResolvedSpace;
  readonly kind: AccessKind;
  /** Device address, or the offset in shared, local or parameter memory. */
  readonly address: number;
  readonly bytes: number;
}

/** One thread at one instruction. */
export interface Occurrence extends ThreadPlace {
  readonly access?: MemoryAccess;
  /** What makes this one wrong, in a sentence. */
  readonly detail?: string;
  /** The other side: the earlier access of a race, or where the others are. */
  readonly other?: ThreadPlace & { readonly access?: MemoryAccess };
}

/** The same mistake of the same instruction(s), however many threads made it. */
export interface Finding {
  readonly checker: CheckerName | 'launch';
  readonly severity: Severity;
  readonly kind: FindingKind;
  /** In a few words, without a place. */
  readonly title: string;
  readonly at: CodePlace;
  readonly other?: CodePlace;
  /** What the other place is to this one. */
  readonly otherRole?: string;
  /** Of a fault that ended a block or the kernel. */
  readonly faultCode?: FaultCode;
  readonly count: number;
  /** The first of them by block and thread. */
  readonly occurrences: readonly Occurrence[];
}

/** How much of the launch was looked at. */
export interface CheckedWork {
  readonly blocks: number;
  readonly gridBlocks: number;
  readonly threadInstructions: number;
}

export interface CheckReport {
  readonly kernel: string;
  readonly checkers: readonly CheckerName[];
  readonly checked: CheckedWork;
  /** In order of checker, line and kind. */
  readonly findings: readonly Finding[];
  /** Findings that the limit left out. */
  readonly leftOut: number;
  /** Occurrences of all findings, those left out included, by severity. */
  readonly totals: Readonly<Record<Severity, number>>;
  /** What was not looked at, and why. */
  readonly notes: readonly string[];
  /** What the kernel's `printf` calls wrote, when they wrote anything. */
  readonly printed?: string;
}
