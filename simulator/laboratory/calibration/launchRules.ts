import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LaunchSpecError, checkLaunchSpec, readSpec, type LaunchSpec } from '../../launchSpec/index.js';
import { reasonOf } from '../../text/index.js';
import { CalibrationError } from './calibrationError.js';
import { evaluateFormula } from './formula.js';
import type { Measurement } from './measuredTable.js';

const GRID = 'grid';
const BLOCK = 'block';
const DYNAMIC_SHARED = 'dynamic_shared_bytes';

/** What rules ask of a line in a table of measurements. */
export const SHAPE_COLUMNS: readonly string[] = [GRID, BLOCK, DYNAMIC_SHARED];

const kernelRule = z.strictObject({
  /** Names of its launches: `{parameter}` stands for a number. */
  launches: z
    .string()
    .regex(/^([\w-]|\{[a-z_]+\})+$/)
    .refine((name) => !/(\{\w+\}).*\1/.test(name), 'a parameter stands in it twice'),
  cooperative: z.boolean().default(false),
  symbols: z.record(z.string(), z.unknown()).default({}),
  /** As in a launch spec, where a text that starts with `=` is a formula of parameters, `blocks` and `threads` of a block. */
  args: z.array(z.unknown()),
  /** By launch, parameters that its name does not tell. */
  values: z.record(z.string(), z.record(z.string(), z.number())).default({}),
});

const ruleFile = z.strictObject({
  ptx: z.string(),
  device: z.string(),
  /** Elements: in a launch with a larger buffer none is filled. */
  largestFilled: z.number().default(Infinity),
  kernels: z.record(z.string(), kernelRule),
});

type KernelRule = z.infer<typeof kernelRule>;
type RuleFile = z.infer<typeof ruleFile>;

/** How launch specs of a kernel come from what was measured of them. */
export class LaunchRule {
  private readonly pattern: RegExp;

  /** @param place file and kernel, for messages */
  constructor(
    readonly kernel: string,
    private readonly place: string,
    private readonly file: RuleFile,
    private readonly rule: KernelRule,
  ) {
    this.pattern = new RegExp(`^${rule.launches.replaceAll(/\{(\w+)\}/g, '(?<$1>\\d+)')}$`);
  }

  /** Launches whose values stand in the rule. */
  get named(): readonly string[] {
    return Object.keys(this.rule.values);
  }

  isOf(launch: string): boolean {
    return this.pattern.test(launch);
  }

  /** @throws CalibrationError `unreadable` with file and kernel, `invalidMeasurement` with the table's line */
  specOf({ launch, place, durationUs, backToBackUs, cells }: Measurement): LaunchSpec {
    const [grid, block] = [GRID, BLOCK].map((column) => cells[column].split('x').map(wholeNumber));
    const values = this.valuesOf(launch, place, { blocks: product(grid), threads: product(block) });
    const { ptx, device, largestFilled } = this.file;
    const { cooperative, symbols, args } = this.rule;
    try {
      const spec = checkLaunchSpec({
        ptx,
        kernel: this.kernel,
        device,
        grid,
        block,
        dynamicSharedBytes: wholeNumber(cells[DYNAMIC_SHARED]),
        cooperative,
        symbols,
        args: filledIn(args, values),
        expect: { durationUs, ...(backToBackUs === undefined ? {} : { backToBackUs }) },
      });
      return largestCount(spec) > largestFilled ? { ...spec, args: spec.args.map(unfilled) } : spec;
    } catch (error) {
      if (!(error instanceof LaunchSpecError) && !(error instanceof CalibrationError)) throw error;
      throw new CalibrationError('unreadable', `${this.place}: of ${launch}: ${error.message}`);
    }
  }

  private valuesOf(
    launch: string,
    place: string,
    shape: Readonly<Record<string, number>>,
  ): ReadonlyMap<string, number> {
    const values = new Map(Object.entries({ ...shape, ...this.rule.values[launch] }));
    for (const [name, digits] of Object.entries(this.pattern.exec(launch)?.groups ?? {})) {
      const value = Number(digits);
      if ((values.get(name) ?? value) !== value) {
        throw new CalibrationError(
          'invalidMeasurement',
          `${place}: column launch: '${launch}' has ${name} ${value}, but in its other columns it is ${values.get(name)}`,
        );
      }
      values.set(name, value);
    }
    return values;
  }
}

/**
 * The rules of a folder: a file for each PTX module, in it one for each kernel.
 * @throws CalibrationError `unreadable`, naming file and field
 */
export function readLaunchRules(folder: string): LaunchRule[] {
  return ruleFiles(folder).flatMap((path) => {
    const result = ruleFile.safeParse(readRules(path));
    if (!result.success) {
      const [{ path: field, message }] = result.error.issues;
      throw new CalibrationError('unreadable', `${path}: ${field.join('.')}: ${message}`);
    }
    const file = result.data;
    return Object.entries(file.kernels).map(
      ([kernel, rule]) => new LaunchRule(kernel, `${path}: kernels.${kernel}`, file, rule),
    );
  });
}

function ruleFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => join(folder, file));
  } catch (error) {
    throw new CalibrationError('unreadable', `rules: ${reasonOf(error)}`);
  }
}

function readRules(path: string): unknown {
  try {
    return readSpec(path);
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    throw new CalibrationError('unreadable', error.message);
  }
}

function filledIn(value: unknown, values: ReadonlyMap<string, number>): unknown {
  if (typeof value === 'string') {
    return value.startsWith('=') ? evaluateFormula(value.slice(1), values) : value;
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filledIn(inner, values)]));
}

type Argument = LaunchSpec['args'][number];

function unfilled(argument: Argument): Argument {
  if (!('buffer' in argument)) return argument;
  const { fill, ...empty } = argument.buffer;
  return fill === undefined ? argument : { buffer: empty };
}

/** Elements of a launch's largest buffer. */
export function largestCount({ args }: Pick<LaunchSpec, 'args'>): number {
  return Math.max(0, ...args.map((argument) => ('buffer' in argument ? argument.buffer.count : 0)));
}

/** NaN, which no spec takes, for a cell without one. */
function wholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

function product(extents: readonly number[]): number {
  return extents.reduce((all, extent) => all * extent, 1);
}
