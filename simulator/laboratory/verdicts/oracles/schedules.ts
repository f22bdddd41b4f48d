import { ReferenceInterpreter } from '../../../executor/index.js';
import type { AccessJournal } from '../../../executor/testing/index.js';
import type { KernelFault, RunResult } from '../../../executor/index.js';
import { AccessTrace } from './accessTrace.js';
import { OracleRandom } from './oracleRandom.js';
import type { PlacedInstance } from './placedInstance.js';

/**
 * In which order the blocks of a launch run: one after another forward, from the last on or in a random order, each thread to
 * its next barrier before the next begins; or interleaved, all blocks there from the start and warps going on for a few
 * instructions each, at random.
 */
export const SCHEDULES = ['forward', 'reverse', 'shuffled', 'interleaved'] as const;
export type Schedule = (typeof SCHEDULES)[number];

/** The three that a verdict is held to unless others are asked for. */
export const USUAL_SCHEDULES: readonly Schedule[] = ['forward', 'reverse', 'interleaved'];

/** Instructions that a warp makes before another has its turn, at most, where warps are interleaved. */
const LONGEST_TURN = 24;

/** One uninterrupted run, with all that it did to global memory. */
export interface ScheduledRun {
  readonly schedule: Schedule;
  readonly trace: AccessTrace;
  /** Blocks in the order in which they ended, each with the thread-instructions of the run until then. */
  readonly blockEnds: readonly { readonly block: number; readonly position: number }[];
  /** Which block made the thread-instructions from each position on, up to the next one's. */
  readonly turns: readonly { readonly block: number; readonly position: number }[];
  /** All of memory after it. */
  readonly output: Uint8Array;
  /** Whether it wrote to the host by `printf`. */
  readonly prints: boolean;
  readonly fault?: KernelFault;
}

/** Runs a placed instance from its initial memory. */
export function runScheduled(placed: PlacedInstance, schedule: Schedule, seed: number): ScheduledRun {
  placed.arena.write(placed.initial);
  return schedule === 'interleaved'
    ? runInterleaved(placed, seed)
    : runInOrder(placed, schedule, blockOrder(placed.blocks, schedule, seed));
}

function blockOrder(blocks: number, schedule: Schedule, seed: number): readonly number[] {
  const forward = Array.from({ length: blocks }, (_, block) => block);
  if (schedule === 'reverse') return forward.reverse();
  return schedule === 'shuffled' ? new OracleRandom(seed).order(blocks) : forward;
}

function runInOrder(placed: PlacedInstance, schedule: Schedule, order: readonly number[]): ScheduledRun {
  const { launch, executor, arena, fuel } = placed;
  const journals: AccessJournal[] = [];
  const blockEnds: { block: number; position: number }[] = [];
  const turns: { block: number; position: number }[] = [];
  let [position, prints] = [0, false];
  let fault: KernelFault | undefined;
  for (const block of order) {
    const result = executor.run(launch, { lo: block, hi: block + 1 }, 'observed', fuel);
    const journal = journalOf(result);
    journals.push(journal);
    turns.push({ block, position });
    position += journal.positions;
    prints ||= result.printed !== undefined;
    if (result.status === 'fault') {
      fault = result.fault;
      break;
    }
    blockEnds.push({ block, position });
  }
  const trace = new AccessTrace(journals, arena);
  const output = arena.read();
  return { schedule, trace, blockEnds, turns, output, prints, ...(fault === undefined ? {} : { fault }) };
}

function runInterleaved(placed: PlacedInstance, seed: number): ScheduledRun {
  const { launch, arena, blocks, fuel } = placed;
  const random = new OracleRandom(seed);
  let executed = 0;
  const blockEnds: { block: number; position: number }[] = [];
  const turns: { block: number; position: number }[] = [];
  const interpreter = new ReferenceInterpreter({
    // The last of two: later blocks and warps tend to come first, unlike in any other schedule.
    draw: (choices) => Math.max(random.below(choices), random.below(choices)),
    turn: LONGEST_TURN,
    observer: {
      onStep: ({ block }, _pc, lanes) => {
        if (turns.at(-1)?.block !== block) turns.push({ block, position: executed });
        executed += lanesOf(lanes);
      },
      onBlockEnd: (block) => void blockEnds.push({ block, position: executed }),
    },
  });
  const result = interpreter.run(launch, { lo: 0, hi: blocks }, 'observed', fuel);
  const trace = new AccessTrace([journalOf(result)], arena);
  const output = arena.read();
  const prints = result.printed !== undefined;
  const fault = result.status === 'fault' ? { fault: result.fault } : {};
  return { schedule: 'interleaved', trace, blockEnds, turns, output, prints, ...fault };
}

function lanesOf(mask: number): number {
  let count = 0;
  for (let left = mask; left !== 0; left &= left - 1) count++;
  return count;
}

function journalOf({ journal }: RunResult): AccessJournal {
  if (journal === undefined) throw new RangeError('an observed run has a journal');
  return journal;
}
