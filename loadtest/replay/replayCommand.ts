import { InvalidArgumentError, type Command } from 'commander';
import { cardListOrCount, MOST_NODES, wholeNumber } from '../../services/cli/index.js';
import { TIME_UNITS, TRACE_FORMATS, TRACE_FORMS } from '../trace/index.js';

export interface ReplayOptions {
  readonly trace: string;
  readonly format?: string;
  readonly timeUnit?: string;
  readonly duration?: number;
  readonly seed: number;
  readonly scale: number;
  readonly app?: string;
  readonly config?: string;
  readonly policy?: string;
  readonly objectiveMs?: number;
  readonly replicas?: number;
  readonly gpus?: readonly string[] | number;
  readonly nodes?: number;
  readonly inputs?: string;
  readonly repeats?: number;
  readonly feedback: number;
  readonly feedbackDelayMs: number;
  readonly cacheMib: number;
  readonly report?: string;
}

export function addReplayCommand(program: Command): void {
  program
    .command('replay')
    .description(
      'run a trace of queries through the whole system in virtual time; prints what came of it as JSON on standard output',
    )
    .requiredOption('--trace <trace>', `arrivals: ${TRACE_FORMS.join(', ')} (rates are queries a second)`)
    .option(
      '--duration <seconds>',
      'simulated seconds of it; a file runs to its end, others 10',
      above(0, 1e7),
    )
    .option('--format <format>', `of a trace file: ${TRACE_FORMATS.join(', ')}; found out by default`)
    .option('--time-unit <unit>', `of a trace file's times: ${TIME_UNITS.join(', ')}; found out by default`)
    .option('--seed <number>', 'seed of every random draw', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--scale <factor>', 'arrivals come so many times as fast', above(0, 1e6), 1)
    .option('--app <name>', 'application to ask; the first by default')
    .option('--config <file>', 'applications and models in JSON; by default what a fresh server serves')
    .option('--policy <name>', 'selection policy in place of the application’s: NAME or NAME:{"parameter":…}')
    .option('--objective-ms <ms>', 'latency objective in place of the application’s', above(0, 3_600_000))
    .option('--replicas <number>', 'replicas of each model', wholeNumber(1, 4096))
    .option(
      '--gpus <cards>',
      "cards of each node's GPUs, with commas between, or how many: names of `gpu devices`, or JSON files",
      cardListOrCount,
    )
    .option('--nodes <number>', 'GPU nodes with these GPUs: node0 and on', wholeNumber(1, MOST_NODES))
    .option('--inputs <file>', 'inputs to draw from: a JSON array, or .jsonl with one a line')
    .option('--repeats <share>', 'share of queries that repeat a sample digit exactly', between(0, 1))
    .option('--feedback <share>', 'share of the answers with a known label that are judged', between(0, 1), 0)
    .option('--feedback-delay-ms <ms>', 'from an answer to its judgement', between(0, 3_600_000), 100)
    .option('--cache-mib <number>', 'size of the prediction cache', wholeNumber(0, 65_536), 32)
    .option('--report <file>', 'write a report too: one HTML file that needs nothing else')
    .action(async (options: ReplayOptions) => {
      // Loaded when it is needed: the other commands start without the system.
      const { runReplay } = await import('./replayMain.js');
      await runReplay(options);
    });
}

function above(low: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value > low && value <= most)) {
      throw new InvalidArgumentError(`expected a number above ${low}, at most ${most}.`);
    }
    return value;
  };
}

function between(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= low && value <= high)) {
      throw new InvalidArgumentError(`expected a number from ${low} to ${high}.`);
    }
    return value;
  };
}
