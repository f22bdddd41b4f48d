import type { OccupancyLimit } from '../gpu/index.js';
import type { IrRefusal, ScalarType } from '../ptx/index.js';

export interface DisassemblyOptions {
  /** Only this function; otherwise all of the module. */
  readonly kernel?: string;
  /** Threads of a block, in x, y, z; default 256, or what a `.reqntid` asks for. */
  readonly block?: readonly [number, number, number];
  /** Default 0. */
  readonly dynamicSharedBytes?: number;
  /** Show the code as it is executed (contracted, calls resolved) and not as it is written. */
  readonly lowered?: boolean;
  /** Device profile; default h200. */
  readonly device?: string;
}

/** What is known of a PTX module before it runs. */
export interface Disassembly {
  readonly file: string;
  readonly ptxVersion: string;
  readonly targets: readonly string[];
  readonly device: string;
  readonly lowered: boolean;
  readonly variables: readonly DisassembledVariable[];
  readonly functions: readonly DisassembledFunction[];
}

export interface DisassembledVariable {
  readonly name: string;
  readonly space: string;
  /** 0: as many as the launch asks for. */
  readonly bytes: number;
  readonly align: number;
}

export interface DisassembledFunction {
  readonly name: string;
  readonly isEntry: boolean;
  readonly line: number;
  readonly parameters: readonly {
    readonly name: string;
    readonly type: ScalarType;
    readonly offset: number;
    readonly bytes: number;
  }[];
  readonly parameterBytes: number;
  readonly directives: Readonly<Record<string, readonly number[]>>;
  /** Why the function cannot run; nothing below is then known. */
  readonly refusal?: IrRefusal;
  readonly registers?: RegisterNeed;
  readonly memory?: MemoryNeed;
  /** Of an entry. */
  readonly occupancy?: LaunchOccupancy | LaunchRefusal;
  readonly loops?: readonly DisassembledLoop[];
  /** False when a cycle of blocks can be entered at more than one place. */
  readonly isReducible?: boolean;
  readonly blocks?: readonly DisassembledBlock[];
}

export interface RegisterNeed {
  /** Registers of the text that instructions name, predicates included. */
  readonly virtual: number;
  /** The most 32-bit values that are live at once, and how many of them may differ between threads of a block. */
  readonly live: number;
  readonly liveVarying: number;
  /** What the card's assembler would give a thread, estimated. */
  readonly perThread: number;
}

export interface MemoryNeed {
  readonly staticSharedBytes: number;
  readonly dynamicSharedBytes: number;
  /** Of each thread. */
  readonly localBytes: number;
  /** Variables of the module that the function refers to. */
  readonly constBytes: number;
  readonly globalBytes: number;
}

export interface LaunchOccupancy {
  readonly threads: number;
  readonly warps: number;
  readonly blocksPerSm: number;
  readonly warpsPerSm: number;
  readonly share: number;
  /** Limits that no further block passes. */
  readonly boundBy: readonly OccupancyLimit[];
  /** Blocks an SM that each limit alone would allow. */
  readonly limits: Readonly<Record<OccupancyLimit, number>>;
}

/** A block of this size that the device refuses. */
export interface LaunchRefusal {
  readonly refused: string;
}

export interface DisassembledLoop {
  readonly header: number;
  readonly blocks: readonly number[];
  /** 1 for an outermost loop. */
  readonly depth: number;
  /** Blocks that jump back to the header. */
  readonly latches: readonly number[];
}

export interface DisassembledBlock {
  readonly index: number;
  readonly label?: string;
  readonly predecessors: readonly number[];
  readonly successors: readonly number[];
  /** False for a block that nothing leads to. */
  readonly isReachable: boolean;
  /** The last block before this one that every path passes. */
  readonly dominator?: number;
  /** Where the paths from here meet again; undefined at the end of the function. */
  readonly postDominator?: number;
  readonly loopDepth: number;
  /** 32-bit values live at its start, at its end, and the most in between. */
  readonly liveIn: number;
  readonly liveOut: number;
  readonly mostLive: number;
  readonly instructions: readonly DisassembledInstruction[];
}

export interface DisassembledInstruction {
  readonly index: number;
  /** Line of the PTX file. */
  readonly line: number;
  readonly text: string;
  /** Lists and prototypes that it refers to, each with its label. */
  readonly tables?: readonly string[];
}
