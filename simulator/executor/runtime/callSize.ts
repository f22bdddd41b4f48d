import type { CompiledKernel } from '../compiler/index.js';
import type { BlockRange } from '../types.js';
import type { BlockLaunch } from './blockLaunch.js';
import { readThreadInstructions } from './counters.js';
import type { LaunchArea } from './launchArea.js';

/**
 * Thread-instructions that one call into compiled code should do. V8 replaces a function by its optimised version only
 * when it is called anew, so one long call would stay in the baseline compiler's code.
 */
const INSTRUCTIONS_PER_CALL = 400_000;

/** How many blocks one call into compiled code runs. */
export class CallSize {
  /** Blocks of the next call. */
  blocks = 1;
  /** Whether each block is told anew where it runs, so that it has a call of its own. */
  readonly isSingle: boolean;
  /** Thread-instructions that the area tells of from before. */
  private readonly before: number;

  /** @param enough thread-instructions after which, done or foreseen in the range, other code is to go on */
  constructor(
    private readonly area: LaunchArea,
    launch: BlockLaunch,
    private readonly compiled: CompiledKernel,
    private readonly range: BlockRange,
    private readonly enough?: number,
  ) {
    this.before = readThreadInstructions(area, compiled);
    this.isSingle = compiled.asksPlace && launch.place?.sms !== undefined;
  }

  /** After a call: sizes the next one. @returns whether other code is to run the blocks from `next` on */
  isEnough(next: number): boolean {
    if (this.isSingle && this.enough === undefined) return false;
    const { lo, hi } = this.range;
    const perBlock = (readThreadInstructions(this.area, this.compiled) - this.before) / (next - lo);
    if (this.enough !== undefined && next < hi && perBlock * (hi - lo) >= this.enough) return true;
    if (this.isSingle) return false;
    const wanted = Math.min(this.blocks * 8, Math.floor(INSTRUCTIONS_PER_CALL / Math.max(1, perBlock)));
    this.blocks = Math.max(1, wanted);
    return false;
  }
}
