import type { Cause, KernelSummary } from '../summary.js';
import { accessSlots, type AccessSlots } from './accessSlots.js';
import { CompactedCode, type VerdictCode } from './compactedCode.js';
import { causeOf, type Verdict } from './causes.js';
import { LaunchHeap } from './launchHeap.js';
import { IntervalBuffer } from './overlap.js';
import type { ValidatedLaunch } from './validatedLaunch.js';

/** What another way of judging the same launches may build on. */
export interface ValidatorParts {
  readonly summary: KernelSummary;
  /** Memory of generated code. */
  readonly heap: LaunchHeap;
  /** By slot of `accessSlots`, what each access may touch in the launch that `fill` was last called with. */
  readonly bounds: IntervalBuffer;
  /** Answers with the global condition that does not hold, or −1. */
  readonly fill: (launch: ValidatedLaunch) => number;
}

/** Makes a judge of launches of one kernel, which answers undefined where it cannot tell. */
export type WayOfJudging = (parts: ValidatorParts) => (launch: ValidatedLaunch) => boolean | undefined;

/** Other ways of judging than by an interval for each access (PICKER, sections 2.5, 2.9, 2.10), given by whoever has them. */
export interface WaysOfJudging {
  /** Judges conditional kernels in place of the intervals. */
  readonly judging?: WayOfJudging;
  /** Asked by `explain` about a refusal: true where only the intervals are too wide. */
  readonly secondOpinion?: WayOfJudging;
}

export interface ValidatorOptions extends WaysOfJudging {
  /**
   * An index that no argument gives stays within the allocation of its pointer (section 2.19): right where an access through a
   * pointer never ends in another allocation. Needs launches with `allocations`. Default false.
   */
  readonly allocationBound?: boolean;
}

/** What a launch may read and write, by access of the summary; the buffers are the validator's and filled anew by each call. */
export interface AccessIntervals {
  /** False: the kernel has accesses that are not here, or a condition fails under which they would be right. */
  readonly isComplete: boolean;
  readonly count: number;
  /** First and last byte; lo > hi: the access never happens in this launch. Without a bound: ∓Infinity. */
  readonly lo: Float64Array;
  readonly hi: Float64Array;
  /** 1: a write. */
  readonly isWrite: Uint8Array;
  /** PTX lines. */
  readonly line: Int32Array;
}

/**
 * Judges launches of one kernel before they run: true only when no byte can be both read and written, whatever memory holds,
 * so that the launch may be killed at any point and run again. Every doubt is a false.
 */
export class Validator {
  readonly allocationBound: boolean;
  private readonly slots: AccessSlots;
  private readonly heap: LaunchHeap;
  private readonly buffer: IntervalBuffer;
  private readonly exported: { -readonly [K in keyof AccessIntervals]: AccessIntervals[K] };
  private quick: ReturnType<typeof CompactedCode.judge> | undefined;
  private careful: ReturnType<typeof CompactedCode.fill> | undefined;
  private judging: ReturnType<WayOfJudging> | undefined;
  private secondOpinion: ReturnType<WayOfJudging> | undefined;

  constructor(
    readonly summary: KernelSummary,
    private readonly options: ValidatorOptions = {},
    private readonly code?: VerdictCode,
  ) {
    this.allocationBound = options.allocationBound ?? false;
    this.slots = accessSlots(summary);
    const slots = this.slots.slots.length;
    this.heap = LaunchHeap.of(slots, summary.symbols.length);
    this.buffer = new IntervalBuffer(slots, this.heap.ends(slots));
    const count = summary.accesses.length;
    this.exported = {
      isComplete: summary.isComplete,
      count,
      lo: new Float64Array(count),
      hi: new Float64Array(count),
      isWrite: Uint8Array.from(summary.accesses, ({ kind }) => (kind === 'write' ? 1 : 0)),
      line: Int32Array.from(summary.accesses, ({ line }) => line),
    };
  }

  /** Whether a launch is proved idempotent. */
  judge(launch: ValidatedLaunch): boolean {
    if (this.summary.class !== 'conditional') return this.summary.class === 'idempotent';
    if (this.options.judging !== undefined) {
      this.judging ??= this.options.judging(this.parts());
      return this.judging(launch) === true;
    }
    this.quick ??= CompactedCode.judge(this.summary, this.allocationBound, this.buffer, this.heap, this.code);
    const verdict = this.quick(launch);
    return verdict === 2 ? this.fill(launch) < 0 && !this.buffer.overlaps() : verdict === 1;
  }

  /** What a launch may read and write, idempotent or not, as intervals over all threads in every mode. */
  intervals(launch: ValidatedLaunch): AccessIntervals {
    const { lo, hi } = this.exported;
    this.exported.isComplete = this.fill(launch) < 0 && this.summary.isComplete;
    this.slots.slotOf.forEach((slot, index) => {
      lo[index] = this.buffer.lo[slot] ?? -Infinity;
      hi[index] = this.buffer.hi[slot] ?? Infinity;
    });
    return this.exported;
  }

  /** Why a launch is refused, as far as its intervals tell: RO where only enumeration could tell more. */
  cause(launch: ValidatedLaunch): Cause {
    const { class: kind, reason } = this.summary;
    if (kind === 'nonIdempotent') return reason.cause ?? 'PE';
    const failed = this.fill(launch);
    return (
      causeOf(this.summary, { failed, intervals: this.intervals(launch), byThread: undefined }).cause ?? 'RO'
    );
  }

  /** The verdict with its reason, a refusal as far as the second opinion tells. */
  explain(launch: ValidatedLaunch): Verdict {
    if (this.judge(launch)) return { idempotent: true, text: this.accepted() };
    const { class: kind, reason } = this.summary;
    if (kind === 'nonIdempotent') {
      const cause: Cause = reason.cause ?? 'PE';
      return { idempotent: false, cause, text: reason.text, lines: reason.lines };
    }
    this.secondOpinion ??= this.options.secondOpinion?.(this.parts());
    return causeOf(this.summary, {
      failed: this.fill(launch),
      intervals: this.intervals(launch),
      byThread: this.secondOpinion?.(launch),
    });
  }

  private accepted(): string {
    const { class: kind, reason } = this.summary;
    return kind === 'idempotent' ? reason.text : 'no byte is both read and written';
  }

  private fill(launch: ValidatedLaunch): number {
    this.careful ??= CompactedCode.fill(
      this.summary,
      this.allocationBound,
      this.buffer,
      this.heap,
      this.code,
    );
    this.buffer.count = this.slots.slots.length;
    return this.careful(launch);
  }

  private parts(): ValidatorParts {
    const { summary, heap, buffer: bounds } = this;
    return { summary, heap, bounds, fill: (launch) => this.fill(launch) };
  }
}

/**
 * The launch-time validator of a kernel.
 * @param code what `compileVerdicts` made of the same summary and `allocationBound`; without it the first call compiles
 */
export function compileValidator(
  summary: KernelSummary,
  options: ValidatorOptions = {},
  code?: VerdictCode,
): Validator {
  return new Validator(summary, options, code);
}

/** Compiles a validator's code, so that other threads that have the same summary need not. */
export function compileVerdicts(
  summary: KernelSummary,
  { allocationBound = false }: Pick<ValidatorOptions, 'allocationBound'> = {},
): VerdictCode {
  return CompactedCode.compile(summary, allocationBound);
}
