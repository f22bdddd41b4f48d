import { InvalidArgumentError, Option, type Command } from 'commander';
import { wholeNumber, withSecurityOptions, type SecurityOptions } from '../../services/cli/index.js';
import {
  addQueryOptions,
  addTraceOptions,
  numberAbove,
  numberWithin,
  type QueryOptions,
  type TraceOptions,
} from '../trace/index.js';
import { LAGS, MODES, type FeedbackPlan, type LoadMode } from './loadPlan.js';

export interface LoadtestOptions extends SecurityOptions, Partial<TraceOptions>, QueryOptions {
  readonly url: string;
  readonly timeoutMs: number;
  readonly duration?: number;
  readonly warmUp: number;
  readonly seed: number;
  readonly scale: number;
  readonly app?: readonly WeightedName[];
  readonly mode: LoadMode;
  readonly connections?: number;
  readonly inFlight?: number;
  readonly processes: number;
  readonly feedbackLag: FeedbackPlan['lag'];
  readonly objectiveMs?: number;
  readonly lateLimitMs?: number;
  readonly findLimit?: RateRange;
  readonly percentile: number;
  readonly compare?: string;
  readonly report?: string;
  readonly csv?: string;
  readonly saveAnswers?: string;
}

export interface WeightedName {
  readonly name: string;
  readonly weight: number;
}

/** Queries a second, from the least to the most. */
export interface RateRange {
  readonly low: number;
  readonly high: number;
}

export function addLoadtestCommand(program: Command): void {
  const command = program
    .command('loadtest')
    .description(
      'ask a running server as a trace says, or as fast as it answers; prints what came of it as JSON on standard output',
    );
  withSecurityOptions(command).addOption(
    new Option('--url <url>', 'address of the query interface')
      .env('WINDJAMMER_URL')
      .default('http://127.0.0.1:1337'),
  );
  addTraceOptions(command, 'without it each connection asks again as soon as it is answered')
    .option('--duration <seconds>', 'of the wall; a file runs to its end, others 10', numberAbove(0, 1e6))
    .option(
      '--warm-up <seconds>',
      'ask before that, 200 a second at random or the closed loop itself, what does not count',
      numberWithin(0, 3600),
      0,
    )
    .option('--seed <number>', 'seed of every random draw', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--scale <factor>', 'arrivals come so many times as fast', numberAbove(0, 1e6), 1)
    .option(
      '--app <name=weight>',
      'application to ask; again for a mix, by weight (1 unless given)',
      weightedName,
    )
    .addOption(new Option('--mode <mode>', 'how queries travel').choices(MODES).default('http'))
    .option(
      '--connections <number>',
      'of each process; 256, of a closed loop 16, WebSockets 4',
      wholeNumber(1, 10_000),
    )
    .option(
      '--in-flight <number>',
      'queries under way on each WebSocket of a closed loop; 8',
      wholeNumber(1, 1024),
    )
    .option('--processes <number>', 'that share the load', wholeNumber(1, 64), 1)
    .option('--timeout-ms <ms>', 'give a query up after so long', wholeNumber(1, 3_600_000), 30_000);
  addQueryOptions(command)
    .addOption(
      new Option('--feedback-lag <lag>', 'that delay is the same each time, or the mean of exponential ones')
        .choices(LAGS)
        .default('fixed'),
    )
    .option(
      '--objective-ms <ms>',
      'objective to hold answers to; the application’s by default',
      numberAbove(0, 3_600_000),
    )
    .option(
      '--late-limit-ms <ms>',
      'end when 1 of 100 queries leaves so late; 5 % of the objective by default',
      numberAbove(0, 3_600_000),
    )
    .option(
      '--find-limit <low..high>',
      'search the highest rate that keeps the objective, in queries a second',
      rateRange,
    )
    .option('--percentile <number>', 'of the latency that must keep it', numberWithin(1, 100), 99)
    .option('--compare <file>', 'print a table of this run beside an earlier one')
    .option('--report <file>', 'write a report too: one HTML file that needs nothing else')
    .option('--csv <file>', 'write what happened over time as CSV')
    .option('--save-answers <file>', 'write every answer as a JSON line')
    .action(async (options: LoadtestOptions) => {
      // Loaded when it is needed: the other commands start without it.
      const { runLoadtest } = await import('./loadMain.js');
      await runLoadtest(options);
    });
}

function weightedName(text: string, before: readonly WeightedName[] = []): readonly WeightedName[] {
  const at = text.lastIndexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  const weight = at < 0 ? 1 : Number(text.slice(at + 1));
  if (name === '' || text.slice(at + 1).trim() === '' || !(weight > 0 && weight <= 1e6)) {
    throw new InvalidArgumentError('expected NAME or NAME=WEIGHT, with a weight above 0.');
  }
  if (before.some((one) => one.name === name)) throw new InvalidArgumentError(`'${name}' is named twice.`);
  return [...before, { name, weight }];
}

function rateRange(text: string): RateRange {
  const [low = NaN, high = NaN, ...others] = text
    .split('..')
    .map((part) => (part.trim() === '' ? NaN : Number(part)));
  if (others.length > 0 || !(low > 0 && high > low && high <= 1e7)) {
    throw new InvalidArgumentError('expected LOW..HIGH, such as 10..2000, in queries a second.');
  }
  return { low, high };
}
