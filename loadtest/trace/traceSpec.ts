import { existsSync } from 'node:fs';
import { LoadError } from './loadError.js';
import {
  gammaGaps,
  logNormalGaps,
  poissonGaps,
  switchingGaps,
  uniformGaps,
  varyingGaps,
  type GapSource,
} from './gaps.js';
import { GeneratedTrace } from './generatedTrace.js';
import { openRecordedTrace, type RecordedTraceOptions } from './recordedTrace.js';
import type { Trace } from './trace.js';

interface Parameter {
  readonly name: string;
  /** undefined: it must be given. */
  readonly byDefault?: number;
  readonly most: number;
  /** What stands before it, where it is not the first; a comma unless given. */
  readonly sign?: '..';
}

interface Process {
  readonly parameters: readonly Parameter[];
  /** Arrivals a second, unless that is the first parameter. */
  mean?(values: readonly number[]): number;
  /** @param seconds that the trace lasts, before it is scaled */
  gaps(values: readonly number[], seconds: number): GapSource;
}

const RATE: Parameter = { name: 'RATE', most: 1e7 };

const FROM_TO: readonly Parameter[] = [
  { ...RATE, name: 'FROM' },
  { ...RATE, name: 'TO', sign: '..' },
];

/** Arrival processes by name; rates are queries a second. */
const PROCESSES: Readonly<Record<string, Process>> = {
  poisson: { parameters: [RATE], gaps: ([rate]) => poissonGaps(rate) },
  uniform: { parameters: [RATE], gaps: ([rate]) => uniformGaps(rate) },
  bursty: {
    parameters: [RATE, { name: 'CV', byDefault: 4, most: 100 }],
    gaps: ([rate, variation]) => gammaGaps(rate, variation),
  },
  lognormal: {
    parameters: [RATE, { name: 'SIGMA', byDefault: 2, most: 5 }],
    gaps: ([rate, sigma]) => logNormalGaps(rate, sigma),
  },
  switching: {
    parameters: [
      { ...RATE, name: 'RATE1' },
      { ...RATE, name: 'RATE2' },
      { name: 'SECONDS', byDefault: 1, most: 86_400 },
    ],
    mean: ([first, second]) => (first + second) / 2,
    gaps: ([first, second, stay]) => switchingGaps(first, second, stay),
  },
  ramp: {
    parameters: FROM_TO,
    mean: ([low, high]) => (low + high) / 2,
    gaps: ([from, to], seconds) =>
      varyingGaps(
        (at) => (at < seconds ? from + ((to - from) * at) / seconds : undefined),
        Math.max(from, to),
      ),
  },
  wave: {
    parameters: [...FROM_TO, { name: 'SECONDS', byDefault: 86_400, most: 1e7 }],
    mean: ([low, high]) => (low + high) / 2,
    gaps: ([low, high, period]) =>
      varyingGaps(
        (at) => low + ((high - low) * (1 - Math.cos((2 * Math.PI * at) / period))) / 2,
        Math.max(low, high),
      ),
  },
};

/** How each process is written, for help and errors. */
export const TRACE_FORMS: readonly string[] = [
  ...Object.entries(PROCESSES).map(([name, { parameters }]) => `${name}:${formOf(parameters)}`),
  'FILE',
];

export interface TraceRequest extends RecordedTraceOptions {
  readonly spec: string;
  readonly seed: number;
  /** Until when arrivals are asked for: what a ramp takes to its end. */
  readonly durationSeconds?: number | undefined;
  readonly deal?: Deal;
}

/** Functions of traces that name them, dealt to so many groups: what a key's group is, the same each time. */
export interface Deal {
  readonly groups: number;
  readonly of: (key: string) => number;
}

/** What a process that has no end is run for, unless somebody says. */
export const DEFAULT_SECONDS = 10;

/** Whether a trace of this spec ends by itself. */
export function endsByItself(spec: string): boolean {
  return processOf(spec) === undefined;
}

/** @throws LoadError when it is neither a process with its numbers nor a trace file that can be read. */
export function openTrace({
  spec,
  seed,
  durationSeconds = DEFAULT_SECONDS,
  ...options
}: TraceRequest): Trace {
  const found = processOf(spec);
  if (found === undefined) {
    if (/^[a-z]+:/.test(spec) || (!/[./]/.test(spec) && !existsSync(spec))) {
      throw new LoadError('--trace', `'${spec}' is none of ${TRACE_FORMS.join(', ')}`);
    }
    return openRecordedTrace(spec, seed, options);
  }
  const { name, process, text } = found;
  for (const [option, value] of [
    ['--format', options.format],
    ['--time-unit', options.timeUnit],
    ['--spread', options.spread],
    ['--column', options.columns?.[0]],
  ]) {
    if (value !== undefined) throw new LoadError(option ?? '', `it is for trace files, and ${name} is none`);
  }
  const values = numbersOf(name, process.parameters, text);
  const { scale } = options;
  const gaps = process.gaps(values, durationSeconds * scale);
  const mean = process.mean?.(values) ?? values[0];
  return new GeneratedTrace(spec, gaps, scale, seed, mean * scale);
}

function processOf(spec: string): { name: string; process: Process; text: string } | undefined {
  const at = spec.indexOf(':');
  const name = spec.slice(0, Math.max(0, at));
  if (!Object.hasOwn(PROCESSES, name)) return undefined;
  return { name, process: PROCESSES[name], text: spec.slice(at + 1) };
}

function numbersOf(name: string, parameters: readonly Parameter[], text: string): number[] {
  const given = splitAt(parameters, text);
  const form = `${name}:${formOf(parameters)}`;
  if (given.length > parameters.length) {
    throw new LoadError('--trace', `'${name}:${text}' has more than ${form} takes`);
  }
  return parameters.map(({ name: parameter, byDefault, most }, at) => {
    const value = given[at] ?? '';
    if (at >= given.length && byDefault !== undefined) return byDefault;
    const number = Number(value);
    if (value.trim() === '' || !(number > 0 && number <= most)) {
      throw new LoadError(
        '--trace',
        `${parameter} of ${form} must be a number above 0, at most ${most}, not '${value}'`,
      );
    }
    return number;
  });
}

/** `10..500,60` as its parameters are written. */
function splitAt(parameters: readonly Parameter[], text: string): string[] {
  const [first, ...others] = text.split(',');
  return parameters.some(({ sign }) => sign === '..')
    ? [...first.split('..'), ...others]
    : [first, ...others];
}

function formOf(parameters: readonly Parameter[]): string {
  return parameters
    .map(({ name, byDefault, sign: before = ',' }, at) => {
      const sign = at === 0 ? '' : before;
      return byDefault === undefined ? `${sign}${name}` : `[${sign}${name}]`;
    })
    .join('');
}
