import {
  AllocationMap,
  analyzeKernel,
  type KernelSummary,
  type SolverFacts,
  type ValidatedLaunch,
  type Validator,
} from '../../../simulator/idempotency/index.js';
import { validatorInMode, type ModeOptions } from '../../../simulator/laboratory/validatorModes/index.js';
import {
  type IntervalSource,
  type InstanceVerdict,
  type MutableValidator,
  type PlacedInstance,
  type Validation,
} from '../../../simulator/laboratory/verdicts/index.js';
import type { IrFunction } from '../../../simulator/ptx/index.js';

/** The system's analysis and validators, as evaluations of the corpus ask for them. */
export function systemValidator(options: ModeOptions = {}, facts: SolverFacts = new Map()): MutableValidator {
  const summaries = new Map<string, KernelSummary>();
  return {
    analyze: (ir, entry) => {
      const key = `${ir.file} ${entry}`;
      const summary =
        summaries.get(key) ?? analyzeKernel(ir, entry, { solver: { facts, ask: () => undefined } });
      summaries.set(key, summary);
      return summary;
    },
    validator: (summary) => {
      const validator = validatorInMode(summary, options);
      return (placed) => verdictOf(validator, placed);
    },
  };
}

/** As systemValidator, kernel by kernel. */
export function systemValidation(options: ModeOptions = {}, facts?: SolverFacts): Validation {
  const { analyze, validator } = systemValidator(options, facts);
  return (ir, entry) => validator(analyze(ir, entry));
}

/** A placed launch as validators take it. */
export function validatedLaunch({ launch: { module, params, shape } }: PlacedInstance): ValidatedLaunch {
  const allocations = new AllocationMap(module.space.segments());
  return { params, shape, symbols: module.symbols, allocations };
}

function verdictOf(validator: Validator, placed: PlacedInstance): InstanceVerdict {
  const launch = validatedLaunch(placed);
  const idempotent = validator.judge(launch);
  const cause = idempotent ? undefined : validator.explain(launch).cause;
  return {
    idempotent,
    ...(cause === undefined ? {} : { cause }),
    intervals: predictedOf(validator, launch, placed.launch.kernel),
  };
}

/** What a validator predicts of a launch, by lines of the PTX text. */
export function predictedOf(
  validator: Validator,
  launch: ValidatedLaunch,
  kernel: IrFunction,
): IntervalSource {
  const { isComplete, count, lo, hi, isWrite, line } = validator.intervals(launch);
  const found = new Map<string, { lo: number; hi: number }[]>();
  for (let index = 0; index < count; index++) {
    const [first = 0, last = -1] = [lo[index], hi[index]];
    if (first > last) continue;
    const key = `${isWrite[index] === 1 ? 'W' : 'R'}${line[index]}`;
    found.set(key, [...(found.get(key) ?? []), { lo: first, hi: last }]);
  }
  // Constant memory is never written: nothing is said of it.
  const constant = new Set(
    kernel.instructions
      .filter(({ opcode, modifiers }) => opcode === 'ld' && modifiers.includes('const'))
      .map((instruction) => instruction.line),
  );
  return {
    predictedIntervals: (at, rw) =>
      !isComplete || constant.has(at) ? 'anything' : (found.get(`${rw}${at}`) ?? []),
  };
}
