import { CompileError, mostGroups, type CodeForm } from '../compiler/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { ExecutorLaunch } from '../types.js';
import type { KernelCache, ReadyKernel } from './kernelCache.js';

/**
 * Thread-instructions, for each instruction of a kernel, after which code for lanes together is made: by then lane after
 * lane has taken about as long as making it takes on an idle machine, so that hardly more than twice the best is spent. (With
 * 250,000 the larger of this project's programs came to their steady speed after 160 to 270 ms, with 60,000 after 130.)
 */
const PER_INSTRUCTION = 60_000;

/**
 * Part of the passes that lanes may make apart from their chunk. Of this project's 80 CUDA programs those beyond it ran at
 * 0.5 to 0.9 of the speed of scalar code, the others but one at no less than it.
 */
const MOST_APART = 1 / 3;
/** Fewer passes than these say little. */
const LEAST_PASSES = 10_000;

/** Passes of threads through nodes of a kernel. */
export interface ChunkPasses {
  readonly all: number;
  /** Of lanes that had left their chunk or were in none. */
  readonly apart: number;
}

/** A kernel in one of its forms, and how long to stay with it. */
export interface Tier {
  readonly kernel: ReadyKernel;
  readonly form: CodeForm;
  /** Thread-instructions that are enough to go on in the next tier, once done or foreseen; undefined in the last one. */
  readonly enough: number | undefined;
}

export interface TierOptions {
  /** Lanes go together wherever they can, for tests (see CodeForm). */
  readonly alwaysTogether?: boolean;
  /** Thread-instructions of a kernel in scalar code before that for lanes together is made; by default by its size. */
  readonly vectorAfter?: number | undefined;
}

/**
 * In which code a kernel's fast form runs: lane after lane first, which is compiled soonest, and lanes together once
 * enough has been executed for that to pay, or at once where that code is there already. Both leave the same.
 */
export class CodeTiers {
  /** Thread-instructions so far in scalar code. */
  private readonly executed = new WeakMap<ReadyKernel, number>();

  /** Kernels in code for lanes together, and how much of it was passed by lanes that ran apart. */
  private readonly passes = new WeakMap<ReadyKernel, ChunkPasses>();

  /** Kernels whose lanes run apart so often, with so many groups, that lane after lane is faster. */
  private readonly apart = new WeakMap<IrFunction, Set<number>>();

  /** Kernels that have begun in scalar code. */
  private readonly begun = new WeakSet<IrFunction>();

  constructor(
    private readonly kernels: Pick<KernelCache, 'get' | 'has' | 'hasHere'>,
    private readonly options: TierOptions,
  ) {}

  /** The tier that a launch begins in. @throws CompileError. */
  first(launch: ExecutorLaunch): Tier {
    const last = this.lastForm(launch);
    const { module, kernel: fn } = launch;
    const { vectorAfter } = this.options;
    if (last.groups === 0 || vectorAfter === 0) return this.last(launch);
    const isApart = vectorAfter === undefined && this.apart.get(fn)?.has(last.groups ?? 0) === true;
    if (!isApart && vectorAfter === undefined && this.isReady(launch, last)) return this.last(launch);
    const form: CodeForm = { ...last, groups: 0 };
    const scalar = this.kernels.get(module.ir, fn, form);
    this.begun.add(fn);
    if (isApart || !scalar.compiled.mayGoTogether) return { kernel: scalar, form, enough: undefined };
    const threshold = vectorAfter ?? PER_INSTRUCTION * fn.instructions.length;
    const enough = threshold - (this.executed.get(scalar) ?? 0);
    return enough <= 0 ? this.last(launch) : { kernel: scalar, form, enough };
  }

  /** The tier for all that follows. */
  last(launch: ExecutorLaunch): Tier {
    const form = this.lastForm(launch);
    const { module, kernel: fn } = launch;
    try {
      return { kernel: this.kernels.get(module.ir, fn, form), form, enough: undefined };
    } catch (error) {
      // Code for lanes together is several times as large; what does not fit runs lane after lane.
      if (!(error instanceof CompileError) || error.code !== 'tooLarge') throw error;
      this.keepApart(fn, form);
      const scalar = { ...form, groups: 0 };
      return { kernel: this.kernels.get(module.ir, fn, scalar), form: scalar, enough: undefined };
    }
  }

  /** Notes what a tier but the last has executed. */
  count({ kernel, enough }: Tier, threadInstructions: number): void {
    if (enough !== undefined)
      this.executed.set(kernel, (this.executed.get(kernel) ?? 0) + threadInstructions);
  }

  /** Notes how the lanes of a launch went together. */
  countPasses({ kernel, form }: Tier, fn: IrFunction, { all, apart }: ChunkPasses): void {
    const { groups = 0 } = form;
    if (groups === 0) return;
    const before = this.passes.get(kernel) ?? { all: 0, apart: 0 };
    const sum = { all: before.all + all, apart: before.apart + apart };
    this.passes.set(kernel, sum);
    if (sum.all < LEAST_PASSES || sum.apart <= sum.all * MOST_APART) return;
    this.keepApart(fn, form);
  }

  private keepApart(fn: IrFunction, { groups = 0 }: CodeForm): void {
    this.apart.set(fn, (this.apart.get(fn) ?? new Set()).add(groups));
  }

  /** Whether others have compiled it is asked once. */
  private isReady({ module, kernel: fn }: ExecutorLaunch, form: CodeForm): boolean {
    if (this.kernels.hasHere(fn, form)) return true;
    return !this.begun.has(fn) && this.kernels.has(module.ir, fn, form);
  }

  /** Code suits the shape of the launch. */
  private lastForm({ shape }: ExecutorLaunch): CodeForm {
    const groups = mostGroups(shape.block);
    return this.options.alwaysTogether === true ? { groups, alwaysTogether: true } : { groups };
  }
}
