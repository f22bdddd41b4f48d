import { KeyedDraw } from '../../selection/index.js';
import { JudgedQueries, type PolicyChoice } from './judgedQueries.js';
import type { Failure, RecordedModel } from './recordedModels.js';

export interface ModelFailureSettings {
  readonly queries: number;
  readonly failure: Failure;
  /** Errors are reported after each so many queries. */
  readonly every: number;
}

export interface ErrorCurve {
  /** Wrong answers so far, over queries so far, after each `every` queries. */
  readonly cumulative: readonly number[];
  readonly wrong: number;
}

/**
 * Queries one after the other through the prediction engine, each with feedback before the next, in virtual time.
 * The digits and their order follow from the seed alone, the same for every policy.
 * @param truth the label of each digit of the set.
 */
export function runModelFailure(
  settings: ModelFailureSettings,
  models: readonly RecordedModel[],
  truth: Uint8Array,
  policy: PolicyChoice,
  seed: number,
): ErrorCurve {
  const queries = new JudgedQueries(models, policy, seed, settings.failure);
  const draw = new KeyedDraw(seed);
  const cumulative: number[] = [];
  let wrong = 0;
  for (let number = 0; number < settings.queries; number++) {
    const digit = Math.floor(draw.of(`digit ${number}`)() * truth.length);
    if (queries.ask(number, digit, `${truth[digit]}`)) wrong += 1;
    if ((number + 1) % settings.every === 0) cumulative.push(wrong / (number + 1));
  }
  queries.close();
  return { cumulative, wrong };
}
