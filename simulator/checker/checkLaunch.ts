import {
  blockNumberOf,
  blocksTogether,
  ReferenceInterpreter,
  layoutLocal,
  layoutShared,
  mayWait,
  sharedBytesOf,
  type BlockRange,
  type ExecutorLaunch,
  type InterpreterObserver,
  type KernelFault,
} from '../executor/index.js';
import { reservedSharedMemory } from '../ptx/index.js';
import { Allocations } from './allocations.js';
import type { Allocation } from './allocation.js';
import { CHECKERS, type CheckReport, type CheckerName } from './findings.js';
import { FindingLog } from './findingLog.js';
import { Initcheck } from './initcheck.js';
import { LaunchCode } from './launchCode.js';
import { Memcheck } from './memcheck.js';
import { together } from './observers.js';
import { Racecheck } from './racecheck.js';
import { Synccheck } from './synccheck.js';

/** Device memory as the launch finds it, beside the module's variables. */
export interface CheckedMemory {
  /** Names for messages. */
  readonly allocations: readonly (Allocation & {
    /** Nothing has been written to it. */
    readonly isUnwritten: boolean;
  })[];
  /** What was allocated and given back before the launch. */
  readonly freed: readonly Allocation[];
}

export interface CheckProgress {
  /** Blocks that have started, of those to check. */
  readonly blocks: number;
  readonly ofBlocks: number;
  readonly threadInstructions: number;
}

export interface CheckOptions {
  readonly checkers: readonly CheckerName[];
  /** Blocks of the grid to run; by default all. */
  readonly blocks?: BlockRange;
  /** PTX thread-instructions that a block may execute. */
  readonly fuelPerBlock?: number;
  /** Findings in the report. */
  readonly limit?: number;
  /** Races on global memory too, between the threads of a block and between blocks. */
  readonly globalRaces?: boolean;
  readonly onProgress?: (progress: CheckProgress) => void;
  /** How the interpreter goes about it, for tests. */
  readonly order?: { readonly reversedWarps?: boolean; readonly turn?: number };
}

export const DEFAULT_FUEL_PER_BLOCK = 100_000_000;
export const DEFAULT_LIMIT = 100;

/** Thread-instructions between two tellings of progress. */
const PROGRESS_STEP = 2 ** 18;

/** Faults after which a card runs the other blocks no further, and so neither does the check. */
const ENDS_LAUNCH = (fault: KernelFault): boolean =>
  fault.code !== 'divergentBarrier' && fault.code !== 'deadlock';

/**
 * Runs a launch in the reference interpreter under the eyes of the checkers. Changes the launch's memory as the kernel
 * does.
 * @param ptx text of the kernel's module
 */
export function checkLaunch(
  launch: ExecutorLaunch,
  ptx: string,
  memory: CheckedMemory,
  options: CheckOptions,
): CheckReport {
  return new LaunchCheck(launch, ptx, memory, options).run();
}

class LaunchCheck {
  private readonly code: LaunchCode;
  private readonly log: FindingLog;
  /** Blocks that may wait for one another run together. */
  private readonly takeTurns: boolean;
  private readonly racecheck: Racecheck | undefined;
  private readonly synccheck: Synccheck | undefined;
  private readonly observer: InterpreterObserver;
  private readonly together: number;
  private readonly range: BlockRange;
  private readonly fuel: number;
  private readonly notes: string[] = [];
  private printed = '';
  private threadInstructions = 0;
  private started = 0;
  private nextProgress = 0;

  constructor(
    private readonly launch: ExecutorLaunch,
    ptx: string,
    memory: CheckedMemory,
    private readonly options: CheckOptions,
  ) {
    this.code = new LaunchCode(launch, ptx);
    this.log = new FindingLog(this.code);
    this.takeTurns = launch.cooperative === true || mayWait(launch.kernel);
    // Blocks that meet in clusters run in whole ones.
    this.together = blocksTogether(launch);
    const { lo, hi } = options.blocks ?? { lo: 0, hi: product(launch.shape.grid) };
    this.range = {
      lo: lo - (lo % this.together),
      hi: Math.ceil(hi / this.together) * this.together,
    };
    this.fuel = options.fuelPerBlock ?? DEFAULT_FUEL_PER_BLOCK;
    const allocations = new Allocations(launch.module.space);
    for (const each of memory.allocations) allocations.name(each.address, each.name);
    for (const each of memory.freed) allocations.recordFree(each);
    for (const [name, address] of launch.module.symbols)
      allocations.name(address, `module variable \`${name}\``);
    const sharedLayout = layoutShared(launch.module.ir, launch.kernel);
    const sharedBytes = sharedBytesOf(sharedLayout, launch.shape.dynamicSharedBytes);
    const uses = (name: CheckerName): boolean => options.checkers.includes(name);
    const observers: InterpreterObserver[] = [this.progress()];
    if (uses('memcheck')) {
      observers.push(
        new Memcheck(this.code, this.log, allocations, {
          shared: sharedBytes,
          local: layoutLocal(launch.kernel).bytes,
          param: launch.params.length,
        }),
      );
    }
    if (uses('racecheck')) {
      this.racecheck = new Racecheck(this.code, this.log, options.globalRaces === true);
      observers.push(this.racecheck);
    }
    if (uses('initcheck')) {
      const { space } = launch.module;
      const initcheck = new Initcheck(this.code, this.log, allocations, space, {
        bytes: sharedBytes,
        reservedAt: sharedLayout.offsets.get(reservedSharedMemory.name),
      });
      for (const each of memory.allocations) {
        if (each.isUnwritten) initcheck.startUnwritten(each.address, each.bytes);
      }
      observers.push(initcheck);
    }
    if (uses('synccheck')) {
      this.synccheck = new Synccheck(this.code, this.log);
      observers.push(this.synccheck);
    }
    this.observer = together(observers);
  }

  run(): CheckReport {
    const blocks = this.takeTurns ? this.runTogether() : this.runInOrder();
    if (this.racecheck?.globalIsPartial === true) {
      this.notes.push(
        'races on global memory: only the first 2097152 words that the kernel reached were followed',
      );
    }
    return {
      kernel: this.launch.kernel.name,
      checkers: CHECKERS.filter((name) => this.options.checkers.includes(name)),
      checked: {
        blocks,
        gridBlocks: product(this.launch.shape.grid),
        threadInstructions: this.threadInstructions,
      },
      ...this.log.report(this.options.limit ?? DEFAULT_LIMIT),
      notes: this.notes,
      ...(this.printed === '' ? {} : { printed: this.printed }),
    };
  }

  private interpreter(): ReferenceInterpreter {
    return new ReferenceInterpreter({ ...this.options.order, observer: this.observer });
  }

  private runTogether(): number {
    const result = this.interpreter().run(this.launch, this.range, 'fast', this.fuel);
    this.printed += result.printed ?? '';
    if (result.status === 'fault') this.onFault(result.fault);
    return this.range.hi - this.range.lo;
  }

  /** Block by block, so that the others are looked at too when the threads of one wait for ever. */
  private runInOrder(): number {
    const interpreter = this.interpreter();
    const { together } = this;
    for (let block = this.range.lo; block < this.range.hi; block += together) {
      const result = interpreter.run(this.launch, { lo: block, hi: block + together }, 'fast', this.fuel);
      this.printed += result.printed ?? '';
      if (result.status !== 'fault') continue;
      this.onFault(result.fault);
      if (!ENDS_LAUNCH(result.fault)) continue;
      const left = this.range.hi - block - together;
      if (left > 0)
        this.notes.push(`the launch ended there; ${left} block${left === 1 ? ' was' : 's were'} not run`);
      return block + together - this.range.lo;
    }
    return this.range.hi - this.range.lo;
  }

  private onFault(fault: KernelFault): void {
    const block = blockNumberOf(this.launch, fault.block);
    const isExplained = this.synccheck?.explain(fault, block) === true;
    const first = block - (block % this.together);
    for (let each = first; each < first + this.together; each++) this.observer.onBlockEnd?.(each);
    const isReported = this.options.checkers.includes('memcheck') && isBadFree(this.launch, fault);
    if (isExplained || isReported) return;
    const { instructions } = this.launch.kernel;
    const titles: Readonly<Partial<Record<KernelFault['code'], string>>> = {
      fuelExhausted: 'Endless kernel, or one longer than the fuel',
      trap: 'The kernel trapped',
      assertion: 'An assertion failed',
    };
    const detail =
      fault.code === 'fuelExhausted'
        ? `the block executed ${this.fuel} thread-instructions without ending; it was here when they were used up (--fuel gives more)`
        : fault.message;
    this.log.add({
      checker: 'launch',
      severity: 'error',
      kind: 'fault',
      title: titles[fault.code] ?? `Fault ${fault.code}`,
      pc: Math.max(
        0,
        instructions.findIndex(({ line }) => line === fault.ptxLine),
      ),
      block: fault.block,
      thread: fault.thread,
      detail,
      faultCode: fault.code,
    });
  }

  private progress(): InterpreterObserver {
    return {
      onBlock: () => {
        this.started++;
      },
      onStep: (_warp, _pc, lanes) => {
        for (let rest = lanes; rest !== 0; rest &= rest - 1) this.threadInstructions++;
        if (this.threadInstructions < this.nextProgress) return;
        this.nextProgress = this.threadInstructions + PROGRESS_STEP;
        this.options.onProgress?.({
          blocks: this.started,
          ofBlocks: this.range.hi - this.range.lo,
          threadInstructions: this.threadInstructions,
        });
      },
    };
  }
}

/** Memcheck has told of it before it became a fault. */
function isBadFree({ kernel }: ExecutorLaunch, { code, ptxLine }: KernelFault): boolean {
  return (
    code === 'illegalAddress' &&
    kernel.instructions.some(({ line, opcode }) => line === ptxLine && opcode === 'free')
  );
}

function product([x, y, z]: readonly [number, number, number]): number {
  return x * y * z;
}
