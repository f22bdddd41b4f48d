import type { CompiledKernel } from '../compiler/index.js';

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

  constructor(
    private readonly area: LaunchArea,
    launch: BlockLaunch,
    private readonly compiled: CompiledKernel,
  ) {
    this.before = readThreadInstructions(area, compiled);
    this.isSingle = compiled.asksPlace && launch.place?.sms !== undefined;
  }

  /** After a call. @param done blocks of the run so far */
  adapt(done: number): void {
    if (this.isSingle) return;
    const perBlock = (readThreadInstructions(this.area, this.compiled) - this.before) / done;
    const wanted = Math.min(this.blocks * 8, Math.floor(INSTRUCTIONS_PER_CALL / Math.max(1, perBlock)));
    this.blocks = Math.max(1, wanted);
  }
}
