import { mostGroups, type CodeForm } from '../compiler/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { ExecutorLaunch } from '../types.js';
import type { KernelCache, ReadyKernel } from './kernelCache.js';

/**
 * Thread-instructions, for each instruction of a kernel, after which code for lanes together is made: by then lane after
 * lane has taken about as long as making it takes, so that never more than twice the best is spent.
 */
const PER_INSTRUCTION = 250_000;

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

  /** Kernels that have begun in scalar code. */
  private readonly begun = new WeakSet<IrFunction>();

  constructor(
    private readonly kernels: KernelCache,
    private readonly options: TierOptions,
  ) {}

  /** The tier that a launch begins in. @throws CompileError. */
  first(launch: ExecutorLaunch): Tier {
    const last = this.lastForm(launch);
    const { module, kernel: fn } = launch;
    const { vectorAfter } = this.options;
    if (last.groups === 0 || vectorAfter === 0) return this.last(launch);
    if (vectorAfter === undefined && this.isReady(launch, last)) return this.last(launch);
    const form: CodeForm = { ...last, groups: 0 };
    const scalar = this.kernels.get(module.ir, fn, form);
    this.begun.add(fn);
    if (!scalar.compiled.mayGoTogether) return { kernel: scalar, form, enough: undefined };
    const threshold = vectorAfter ?? PER_INSTRUCTION * fn.instructions.length;
    const enough = threshold - (this.executed.get(scalar) ?? 0);
    return enough <= 0 ? this.last(launch) : { kernel: scalar, form, enough };
  }

  /** The tier for all that follows. */
  last(launch: ExecutorLaunch): Tier {
    const form = this.lastForm(launch);
    return { kernel: this.kernels.get(launch.module.ir, launch.kernel, form), form, enough: undefined };
  }

  /** Notes what a tier but the last has executed. */
  count({ kernel, enough }: Tier, threadInstructions: number): void {
    if (enough !== undefined)
      this.executed.set(kernel, (this.executed.get(kernel) ?? 0) + threadInstructions);
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
