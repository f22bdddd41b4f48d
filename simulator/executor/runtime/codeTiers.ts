import { CompileError, mostGroups, type CodeForm } from '../compiler/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { ExecutorLaunch } from '../types.js';
import type { ChunkUse } from './counters.js';
import type { KernelCache, ReadyKernel } from './kernelCache.js';

/**
 * Thread-instructions, for each instruction of a kernel, after which code for lanes together is made: by then lane after
 * lane has taken about half as long as writing that code takes, so that hardly more than twice the best is spent. (CPU time of
 * the launching thread until five of this project's larger programs ran at their steady speed, median of three runs on a busy
 * machine, with V8's tiering budget at 20,000: 74 ms with 30,000, 54 with 15,000.)
 */
const PER_INSTRUCTION = 15_000;

/**
 * Part of a kernel's instructions that lanes may do apart from their chunk, at the price of scalar code, or for half of which
 * they may be idle while others of the chunk go on. Beyond it narrower chunks were 1.1 to 4 times as fast in 13 of 16 of this
 * project's CUDA programs.
 */
const MOST_WASTE = 1 / 8;
/** Part that lanes may be apart or idle in the narrowest chunks: beyond it all of the programs ran faster lane after lane. */
const MOST_NARROW_WASTE = 1 / 2;
/** Narrower chunks that waste more than this part of what wider ones did have not helped. */
const LITTLE_LESS = 3 / 4;
/** Fewer thread-instructions than these say little. */
const LEAST_INSTRUCTIONS = 100_000;

/** A kernel in one of its forms, and how long to stay with it. */
export interface Tier {
  readonly kernel: ReadyKernel;
  readonly form: CodeForm;
  /** Thread-instructions that are enough to go on in the next tier, once done or foreseen; undefined in the last one. */
  readonly enough: number | undefined;
}

/** Groups of a kernel's chunks that experience says. */
interface Choice {
  readonly groups: number;
  readonly isSettled: boolean;
  /** Part that wider chunks wasted. */
  readonly waste?: number;
}

export interface TierOptions {
  /** Lanes go together wherever they can, for tests (see CodeForm). */
  readonly alwaysTogether?: boolean;
  /** Thread-instructions of a kernel in scalar code before that for lanes together is made; by default by its size. */
  readonly vectorAfter?: number | undefined;
}

/** Groups of four lanes that chunks may have, most first; 0: lane after lane. */
const GROUPS = [8, 4, 2, 1, 0] as const;

/**
 * In which code a kernel's fast form runs: lane after lane first, which is compiled soonest, and lanes together once
 * enough has been executed for that to pay, or at once where that code is there already. Both leave the same.
 */
export class CodeTiers {
  /** Thread-instructions so far in scalar code. */
  private readonly executed = new WeakMap<ReadyKernel, number>();

  /** Kernels in code for lanes together, and how much of what they have done was wasted. */
  private readonly uses = new WeakMap<ReadyKernel, ChunkUse>();

  /** By kernel and the most groups that launches allow: how many there are instead, since so many waste too much. */
  private readonly choices = new WeakMap<IrFunction, Map<number, Choice>>();

  /** Kernels that could not be made in code for lanes together of so many groups. */
  private readonly unmade = new WeakMap<IrFunction, Set<number>>();

  /** Kernels that have begun in scalar code. */
  private readonly begun = new WeakSet<IrFunction>();

  constructor(
    private readonly kernels: Pick<KernelCache, 'get' | 'has' | 'hasHere' | 'isToCome'>,
    private readonly options: TierOptions,
  ) {}

  /** The tier that a launch begins in. @throws CompileError. */
  first(launch: ExecutorLaunch): Tier {
    const last = this.lastForm(launch);
    const { module, kernel: fn } = launch;
    const { vectorAfter } = this.options;
    if (last.groups === 0 || vectorAfter === 0) return this.last(launch);
    // Whoever has chosen narrower chunks has executed enough to make them.
    const isChosen = this.choiceOf(launch) !== undefined;
    if (vectorAfter === undefined && (isChosen || this.isReady(launch, last))) return this.last(launch);
    const meanwhile = this.meanwhile(launch, last);
    if (meanwhile !== undefined && meanwhile.form.groups !== 0) return meanwhile;
    const form: CodeForm = { ...last, groups: 0 };
    const scalar = this.kernels.get(module.ir, fn, form);
    this.begun.add(fn);
    if (!scalar.compiled.mayGoTogether) return { kernel: scalar, form, enough: undefined };
    const threshold = vectorAfter ?? PER_INSTRUCTION * fn.instructions.length;
    const enough = threshold - (this.executed.get(scalar) ?? 0);
    return enough <= 0 ? this.last(launch) : { kernel: scalar, form, enough };
  }

  /** The tier for all that follows. @throws CompileError. */
  last(launch: ExecutorLaunch): Tier {
    const form = this.lastForm(launch);
    const { module, kernel: fn } = launch;
    const { groups = 0 } = form;
    const meanwhile = this.meanwhile(launch, form);
    if (meanwhile !== undefined) return meanwhile;
    if (this.unmade.get(fn)?.has(groups) !== true) {
      try {
        return { kernel: this.kernels.get(module.ir, fn, form), form, enough: undefined };
      } catch (error) {
        if (groups === 0 || !this.canDoWithout(error)) throw error;
        this.unmade.set(fn, (this.unmade.get(fn) ?? new Set()).add(groups));
        this.choose(launch, { groups: 0, isSettled: true });
      }
    }
    const scalar = { ...form, groups: 0 };
    return { kernel: this.kernels.get(module.ir, fn, scalar), form: scalar, enough: undefined };
  }

  /**
   * The tier to go on in while another thread makes the form that is wanted: the widest code that is there and suits the
   * launch. Undefined when no other thread does, or no code is there yet.
   */
  private meanwhile(launch: ExecutorLaunch, wanted: CodeForm): Tier | undefined {
    const { module, kernel: fn, shape } = launch;
    if (this.kernels.hasHere(fn, wanted)) return undefined;
    const allowed = mostGroups(shape.block);
    for (const groups of GROUPS) {
      const form = { ...wanted, groups };
      if (groups > allowed || groups === wanted.groups || !this.isThere(launch, form)) continue;
      if (!this.kernels.isToCome(module.ir, fn, wanted)) return undefined;
      return { kernel: this.kernels.get(module.ir, fn, form), form, enough: undefined };
    }
    return undefined;
  }

  private isThere({ module, kernel: fn }: ExecutorLaunch, form: CodeForm): boolean {
    return this.kernels.hasHere(fn, form) || this.kernels.has(module.ir, fn, form);
  }

  /**
   * Code for lanes together is several times as large as that for lane after lane, and written by more code: whatever keeps
   * it from being made, lane after lane leaves the same. Tests that ask for lanes together see what it was, unless it was
   * the size.
   */
  private canDoWithout(error: unknown): boolean {
    if (error instanceof CompileError && error.code === 'tooLarge') return true;
    const isOfCompiler = error instanceof CompileError || error instanceof RangeError;
    return isOfCompiler && this.options.alwaysTogether !== true;
  }

  /** Notes what a tier but the last has executed. */
  count({ kernel, enough }: Tier, threadInstructions: number): void {
    if (enough !== undefined)
      this.executed.set(kernel, (this.executed.get(kernel) ?? 0) + threadInstructions);
  }

  /** Notes how the lanes of a launch went together. */
  countUse({ kernel, form }: Tier, launch: ExecutorLaunch, use: ChunkUse): void {
    const { groups = 0 } = form;
    // What wider chunks do while narrower ones are being made says nothing of those.
    const isMeanwhile = groups !== (this.choiceOf(launch)?.groups ?? groups);
    if (groups === 0 || isMeanwhile) return;
    const before = this.uses.get(kernel) ?? { all: 0, apart: 0, idle: 0 };
    const sum = {
      all: before.all + use.all,
      apart: before.apart + use.apart,
      idle: before.idle + use.idle,
    };
    this.uses.set(kernel, sum);
    const waste = (sum.apart + sum.idle / 2) / sum.all;
    const chosen = this.choiceOf(launch);
    if (sum.all < LEAST_INSTRUCTIONS || waste <= MOST_WASTE || chosen?.isSettled === true) return;
    if (chosen === undefined && kernel.compiled.groups > 1) {
      // Narrower chunks are made when about as much has been spent as for the wider ones.
      if (sum.all >= PER_INSTRUCTION * launch.kernel.instructions.length)
        this.choose(launch, { groups: 1, isSettled: false, waste });
    } else if (sum.apart + sum.idle > sum.all * MOST_NARROW_WASTE)
      this.choose(launch, { groups: 0, isSettled: true });
    else if (chosen?.waste !== undefined && waste > chosen.waste * LITTLE_LESS)
      this.choose(launch, { groups: mostGroups(launch.shape.block), isSettled: true });
  }

  private choiceOf({ kernel: fn, shape }: ExecutorLaunch): Choice | undefined {
    return this.choices.get(fn)?.get(mostGroups(shape.block));
  }

  private choose({ kernel: fn, shape }: ExecutorLaunch, choice: Choice): void {
    const choices = this.choices.get(fn) ?? new Map<number, Choice>();
    this.choices.set(fn, choices.set(mostGroups(shape.block), choice));
  }

  /** Whether others have compiled it is asked once. */
  private isReady({ module, kernel: fn }: ExecutorLaunch, form: CodeForm): boolean {
    if (this.kernels.hasHere(fn, form)) return true;
    return !this.begun.has(fn) && this.kernels.has(module.ir, fn, form);
  }

  /** Code suits the shape of the launch, and how its lanes have gone together before. */
  private lastForm(launch: ExecutorLaunch): CodeForm {
    const chosen = this.options.vectorAfter === undefined ? this.choiceOf(launch) : undefined;
    const groups = chosen?.groups ?? mostGroups(launch.shape.block);
    return this.options.alwaysTogether === true ? { groups, alwaysTogether: true } : { groups };
  }
}
