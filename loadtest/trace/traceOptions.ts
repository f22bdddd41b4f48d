import { InvalidArgumentError, type Command } from 'commander';
import { eachOne } from '../../services/cli/index.js';
import { SPREADS } from './countedTrace.js';
import { TIME_UNITS } from './timestamp.js';
import { TRACE_FORMATS } from './traceFormat.js';
import { TRACE_FORMS } from './traceSpec.js';

/** Of every command that runs a trace. */
export interface TraceOptions {
  readonly trace: string;
  readonly format?: string;
  readonly timeUnit?: string;
  readonly column?: readonly string[];
  readonly spread?: string;
}

/** @param without what happens where none is given; undefined: one must be */
export function addTraceOptions(command: Command, without?: string): Command {
  const flags = '--trace <trace>';
  const what = `arrivals: ${TRACE_FORMS.join(', ')} (rates are queries a second)`;
  if (without === undefined) command.requiredOption(flags, what);
  else command.option(flags, `${what}; ${without}`);
  return command
    .option('--format <format>', `of a trace file: ${TRACE_FORMATS.join(', ')}; found out by default`)
    .option('--time-unit <unit>', `of a trace file's times: ${TIME_UNITS.join(', ')}; found out by default`)
    .option(
      '--column <name=column>',
      "what a trace file calls one of the product's columns, as time_s=arrived; again for others",
      eachOne,
    )
    .option(
      '--spread <how>',
      `arrivals of a minute or second that is only counted: ${SPREADS.join(', ')}; random by default`,
    );
}

/** What a trace's queries ask, and what is judged of the answers: of every command that runs a trace. */
export interface QueryOptions {
  readonly inputs?: string;
  readonly repeats?: number;
  readonly feedback: number;
  readonly feedbackDelayMs: number;
}

export function addQueryOptions(command: Command): Command {
  return command
    .option('--inputs <file>', 'inputs to draw from: a JSON array, or .jsonl with one a line')
    .option('--repeats <share>', 'share of queries that repeat a sample digit exactly', numberWithin(0, 1))
    .option(
      '--feedback <share>',
      'share of the answers with a known label that are judged',
      numberWithin(0, 1),
      0,
    )
    .option('--feedback-delay-ms <ms>', 'from an answer to its judgement', numberWithin(0, 3_600_000), 100);
}

/** What of them a trace is opened with. */
export function traceChoices({ format, timeUnit, column, spread }: Partial<TraceOptions>) {
  return {
    ...(format === undefined ? {} : { format }),
    ...(timeUnit === undefined ? {} : { timeUnit }),
    ...(column === undefined ? {} : { columns: column }),
    ...(spread === undefined ? {} : { spread }),
  };
}

/** Parser of an option that takes a number above `low`. */
export function numberAbove(low: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value > low && value <= most)) {
      throw new InvalidArgumentError(`expected a number above ${low}, at most ${most}.`);
    }
    return value;
  };
}

/** Parser of an option that takes a number from `low` to `high`. */
export function numberWithin(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= low && value <= high)) {
      throw new InvalidArgumentError(`expected a number from ${low} to ${high}.`);
    }
    return value;
  };
}
