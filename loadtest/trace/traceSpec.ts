import { existsSync } from 'node:fs';
import { LoadError } from './loadError.js';
import { gammaGaps, logNormalGaps, poissonGaps, switchingGaps, uniformGaps, type GapSource } from './gaps.js';
import { GeneratedTrace } from './generatedTrace.js';
import { openRecordedTrace, type RecordedTraceOptions } from './recordedTrace.js';
import type { Trace } from './trace.js';

interface Parameter {
  readonly name: string;
  /** undefined: it must be given. */
  readonly byDefault?: number;
  readonly most: number;
}

interface Process {
  readonly parameters: readonly Parameter[];
  gaps(values: readonly number[]): GapSource;
}

const RATE: Parameter = { name: 'RATE', most: 1e7 };

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
    gaps: ([first, second, stay]) => switchingGaps(first, second, stay),
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
}

/** Whether a trace of this spec ends by itself. */
export function endsByItself(spec: string): boolean {
  return processOf(spec) === undefined;
}

/** @throws LoadError when it is neither a process with its numbers nor a trace file that can be read. */
export function openTrace({ spec, seed, ...options }: TraceRequest): Trace {
  const found = processOf(spec);
  if (found === undefined) {
    if (/^[a-z]+:/.test(spec) || (!/[./]/.test(spec) && !existsSync(spec))) {
      throw new LoadError('--trace', `'${spec}' is none of ${TRACE_FORMS.join(', ')}`);
    }
    return openRecordedTrace(spec, options);
  }
  const { name, process, text } = found;
  for (const [option, value] of [
    ['--format', options.format],
    ['--time-unit', options.timeUnit],
  ]) {
    if (value !== undefined)
      throw new LoadError(option ?? '', `it is for trace files, and ${name} is none`);
  }
  const gaps = process.gaps(numbersOf(name, process.parameters, text));
  return new GeneratedTrace(spec, gaps, options.scale, seed);
}

function processOf(spec: string): { name: string; process: Process; text: string } | undefined {
  const at = spec.indexOf(':');
  const name = spec.slice(0, Math.max(0, at));
  if (!Object.hasOwn(PROCESSES, name)) return undefined;
  return { name, process: PROCESSES[name], text: spec.slice(at + 1) };
}

function numbersOf(name: string, parameters: readonly Parameter[], text: string): number[] {
  const given = text.split(',');
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

function formOf(parameters: readonly Parameter[]): string {
  return parameters
    .map(({ name, byDefault }, at) => {
      const sign = at === 0 ? '' : ',';
      return byDefault === undefined ? `${sign}${name}` : `[${sign}${name}]`;
    })
    .join('');
}
