import { KeyedDraw, policyNamed } from '../../selection/index.js';
import type { RecordedModel } from './recordedModels.js';

export interface Group {
  /** Of all digits. */
  readonly share: number;
  /** Of the group; 0 when it is empty. */
  readonly error: number;
}

/** Digits by how many models agree with the ensemble's answer. */
export interface Split {
  /** The least number of agreeing models. */
  readonly agree: number;
  readonly confident: Group;
  readonly unsure: Group;
}

export interface EnsembleResult {
  readonly policy: string;
  readonly error: number;
  readonly splits: readonly Split[];
}

/**
 * Every digit of a set once, in an order drawn by lot, through an ensemble policy that gets feedback on each before the next.
 * @param truth the label of each digit.
 */
export function runEnsemble(
  name: string,
  models: readonly RecordedModel[],
  truth: Uint8Array,
  seed: number,
): EnsembleResult {
  const policy = policyNamed(name);
  const arms = models.map((model) => model.name);
  let state = policy.init(arms, {});
  /** By the number of agreeing models. */
  const digits = new Array<number>(arms.length + 1).fill(0);
  const wrong = new Array<number>(arms.length + 1).fill(0);
  const draw = new KeyedDraw(seed);
  for (const digit of shuffled(truth.length, draw)) {
    const label = `${truth[digit]}`;
    const selection = policy.select(state, draw.of(`query ${digit}`));
    const predictions = models.map(({ name: arm, labels }) => ({ arm, output: `${labels[digit]}` }));
    const { output } = policy.combine(state, selection.arms, predictions);
    const agreeing = predictions.filter((prediction) => prediction.output === output).length;
    digits[agreeing] += 1;
    if (output !== label) wrong[agreeing] += 1;
    state = policy.observe(state, selection, predictions, { label });
  }
  const group = (from: number, until: number): Group => {
    const count = sum(digits.slice(from, until));
    return { share: count / truth.length, error: count === 0 ? 0 : sum(wrong.slice(from, until)) / count };
  };
  return {
    policy: name,
    error: sum(wrong) / truth.length,
    splits: [arms.length - 1, arms.length].map((agree) => ({
      agree,
      confident: group(agree, arms.length + 1),
      unsure: group(0, agree),
    })),
  };
}

/** Fisher and Yates. */
function shuffled(count: number, draw: KeyedDraw): number[] {
  const order = Array.from({ length: count }, (_, at) => at);
  const next = draw.of('order');
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(next() * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
