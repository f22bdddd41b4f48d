import type { Command } from 'commander';
import { cardListOrCount, MOST_NODES, wholeNumber } from '../../services/cli/index.js';
import {
  addQueryOptions,
  addTraceOptions,
  numberAbove,
  type QueryOptions,
  type TraceOptions,
} from '../trace/index.js';

export interface ReplayOptions extends TraceOptions, QueryOptions {
  readonly duration?: number;
  readonly seed: number;
  readonly scale: number;
  readonly app?: string;
  readonly config?: string;
  readonly policy?: string;
  readonly policyFile?: string;
  readonly objectiveMs?: number;
  readonly replicas?: number;
  readonly gpus?: readonly string[] | number;
  readonly nodes?: number;
  readonly cacheMib: number;
  readonly report?: string;
  readonly hostTimes?: string;
  readonly csv?: string;
  readonly saveAnswers?: string;
}

export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .description(
      'run a trace of queries through the whole system in virtual time; prints what came of it as JSON on standard output',
    );
  addTraceOptions(command)
    .option(
      '--duration <seconds>',
      'simulated seconds of it; a file runs to its end, others 10',
      numberAbove(0, 1e7),
    )
    .option('--seed <number>', 'seed of every random draw', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--scale <factor>', 'arrivals come so many times as fast', numberAbove(0, 1e6), 1)
    .option('--app <name>', 'application to ask; the first by default')
    .option('--config <file>', 'applications and models in JSON; by default what a fresh server serves')
    .option('--policy <name>', 'selection policy in place of the application’s: NAME or NAME:{"parameter":…}')
    .option('--policy-file <file>', 'in its place one of your own; its parameters by --policy file:{…}')
    .option(
      '--objective-ms <ms>',
      'latency objective in place of the application’s',
      numberAbove(0, 3_600_000),
    )
    .option('--replicas <number>', 'replicas of each model', wholeNumber(1, 4096))
    .option(
      '--gpus <cards>',
      "cards of each node's GPUs, with commas between, or how many: names of `gpu devices`, or JSON files",
      cardListOrCount,
    )
    .option('--nodes <number>', 'GPU nodes with these GPUs: node0 and on', wholeNumber(1, MOST_NODES));
  addQueryOptions(command)
    .option('--cache-mib <number>', 'size of the prediction cache', wholeNumber(0, 65_536), 32)
    .option(
      '--host-times <file>',
      "charge what the host takes too: a file, `measure`, or `measure:FILE` to keep it; without it only the card's",
    )
    .option('--csv <file>', 'write what happened over time as CSV')
    .option('--save-answers <file>', 'write every answer as a JSON line')
    .option('--report <file>', 'write a report too: one HTML file that needs nothing else')
    .action(async (options: ReplayOptions) => {
      // Loaded when it is needed: the other commands start without the system.
      const { runReplay } = await import('./replayMain.js');
      await runReplay(options);
    });
}
