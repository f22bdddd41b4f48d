import type { Cause, KernelSummary } from '../summary.js';
import { accessSlots, type AccessSlots } from './accessSlots.js';
import { CompactedCode, type VerdictCode } from './compactedCode.js';
import { causeOf, type Verdict } from './causes.js';
import { LaunchHeap } from './launchHeap.js';
import { IntervalBuffer } from './overlap.js';
import { RangesCode } from './rangesCode.js';
import { StrawmanCode } from './strawmanCode.js';
import type { ValidatedLaunch } from './validatedLaunch.js';

/**
 * `strawman`: every thread and iteration enumerated, the reference for precision; `ranges`: an interval for each access and
 * iteration; `compacted`: an interval for each access (PICKER, sections 2.5, 2.9, 2.10).
 */
export const VALIDATOR_MODES = ['strawman', 'ranges', 'compacted'] as const;
export type ValidatorMode = (typeof VALIDATOR_MODES)[number];

export interface ValidatorOptions {
  /** Default `compacted`. */
  readonly mode?: ValidatorMode;
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

/** Points that enumeration goes through before it gives up. */
const MOST_POINTS = 2 ** 22;

/**
 * Judges launches of one kernel before they run: true only when no byte can be both read and written, whatever memory holds,
 * so that the launch may be killed at any point and run again. Every doubt is a false.
 */
export class Validator {
  readonly mode: ValidatorMode;
  readonly allocationBound: boolean;
  private readonly slots: AccessSlots;
  private readonly heap: LaunchHeap;
  private readonly buffer: IntervalBuffer;
  private readonly enumerated = new IntervalBuffer(16);
  private readonly exported: { -readonly [K in keyof AccessIntervals]: AccessIntervals[K] };
  private quick: ReturnType<typeof CompactedCode.judge> | undefined;
  private careful: ReturnType<typeof CompactedCode.fill> | undefined;
  private ranges: ReturnType<typeof RangesCode.fill> | undefined;
  private strawman: ReturnType<typeof StrawmanCode.enumerate> | undefined;

  constructor(
    readonly summary: KernelSummary,
    { mode = 'compacted', allocationBound = false }: ValidatorOptions = {},
    private readonly code?: VerdictCode,
  ) {
    this.mode = mode;
    this.allocationBound = allocationBound;
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
    if (this.mode === 'ranges') return this.byRanges(launch);
    if (this.mode === 'strawman') return this.byStrawman(launch) === true;
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

  /** The verdict with its reason. Slow: a refusal is looked into by enumeration. */
  explain(launch: ValidatedLaunch): Verdict {
    if (this.judge(launch)) return { idempotent: true, text: this.accepted() };
    const { class: kind, reason } = this.summary;
    if (kind === 'nonIdempotent') {
      const cause: Cause = reason.cause ?? 'PE';
      return { idempotent: false, cause, text: reason.text, lines: reason.lines };
    }
    return causeOf(this.summary, {
      failed: this.fill(launch),
      intervals: this.intervals(launch),
      // Its own verdict for every thread tells what only looks like an overlap.
      byThread: this.mode === 'strawman' ? false : this.byStrawman(launch),
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

  private byRanges(launch: ValidatedLaunch): boolean {
    this.ranges ??= RangesCode.fill(this.summary, this.enumerated, this.heap);
    return this.ranges(launch) === 1 && !this.enumerated.overlaps();
  }

  /** Undefined: too many points to tell. */
  private byStrawman(launch: ValidatedLaunch): boolean | undefined {
    this.strawman ??= StrawmanCode.enumerate(this.summary, this.buffer, this.enumerated);
    if (this.fill(launch) >= 0) return false;
    const found = this.strawman(launch, MOST_POINTS);
    return found === 2 ? undefined : found === 1 && !this.enumerated.overlaps();
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
