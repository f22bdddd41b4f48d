import type { GoldenSet, KernelModelManifest } from '../../models/index.js';
import type { ItemResult, KnownAnswer } from '../../protocol/index.js';
import type { TrialClient } from './trialClient.js';
import { inputBytes } from './trialInputs.js';

export interface GoldenFailure {
  /** Its place in golden.json. */
  readonly case: number;
  readonly problem: string;
}

export interface GoldenReport {
  readonly cases: number;
  readonly passed: number;
  readonly failures: readonly GoldenFailure[];
}

/** Asks every golden input, in batches as large as the model takes, and compares. */
export function runGolden(
  client: TrialClient,
  manifest: KernelModelManifest,
  golden: GoldenSet,
): GoldenReport {
  const { type } = manifest.inputs[0];
  const failures: GoldenFailure[] = [];
  for (let first = 0; first < golden.cases.length; first += manifest.maxBatchSize) {
    const cases = golden.cases.slice(first, first + manifest.maxBatchSize);
    const { results } = client.ask(cases.map(({ input }) => inputBytes(type, input)));
    cases.forEach((expected, index) => {
      const problem = goldenProblem(expected, results[index], golden.tolerance);
      if (problem !== undefined) failures.push({ case: first + index, problem });
    });
  }
  return { cases: golden.cases.length, passed: golden.cases.length - failures.length, failures };
}

/** What is wrong with the answer to a golden input, or undefined. */
export function goldenProblem(
  expected: KnownAnswer,
  result: ItemResult,
  tolerance: number,
): string | undefined {
  if (!result.ok) return `no answer (${result.code}): ${result.message}`;
  if (expected.label !== undefined && result.output !== expected.label) {
    return `the label is '${result.output}', expected '${expected.label}'`;
  }
  if (expected.scores === undefined) return undefined;
  // A model that answers values has them in the output.
  const scores: ArrayLike<number> | undefined =
    expected.label === undefined && result.scores === undefined
      ? (JSON.parse(result.output) as number[])
      : result.scores;
  if (scores === undefined) return 'the model answers no scores';
  if (scores.length !== expected.scores.length) {
    return `${scores.length} scores, expected ${expected.scores.length}`;
  }
  const wrong = expected.scores.findIndex(
    (score, k) => !(Math.abs(scores[k] - score) <= tolerance * Math.max(1, Math.abs(score))),
  );
  if (wrong < 0) return undefined;
  return `scores[${wrong}] is ${scores[wrong]}, expected ${expected.scores[wrong]} within ${tolerance}`;
}
