import { PolicyError } from './policy.js';
import { sameOutput } from './sameOutput.js';

export const LOSS_NAMES = ['zeroOne', 'absolute', 'squared', 'pinball', 'reciprocalRank'] as const;
export type LossName = (typeof LOSS_NAMES)[number];

/** How an application measures what a model answered against the true output. */
export interface LossChoice {
  readonly name: LossName;
  /** Of numbers: an error so large counts as 1, a larger one no more. 1 unless given. */
  readonly scale?: number | undefined;
  /** Of `pinball`: which quantile models are to answer, above 0 and below 1. 0.5 unless given. */
  readonly quantile?: number | undefined;
}

/** From 0 (right) to 1. */
export type Loss = (output: string, label: string) => number;

/** Of a list longer than this the rest is not looked at. */
const MOST_RANKS = 1000;

/** @throws PolicyError naming the field and the fix */
export function checkLoss({ name, scale, quantile }: LossChoice): void {
  if (!LOSS_NAMES.includes(name)) {
    throw new PolicyError(
      'name',
      `there is no loss '${String(name)}': choose one of ${LOSS_NAMES.join(', ')}`,
    );
  }
  if (scale !== undefined && !ofNumbers(name)) {
    throw new PolicyError('scale', `scale is for losses of numbers, and '${name}' is none: leave it out`);
  }
  if (scale !== undefined && !(Number.isFinite(scale) && scale > 0)) {
    throw new PolicyError('scale', `scale must be a number above 0, not ${scale}`);
  }
  if (quantile !== undefined && name !== 'pinball') {
    throw new PolicyError('quantile', `quantile is for the loss 'pinball', not for '${name}': leave it out`);
  }
  if (quantile !== undefined && !(quantile > 0 && quantile < 1)) {
    throw new PolicyError('quantile', `quantile must be a number above 0 and below 1, not ${quantile}`);
  }
}

/** Whether it needs labels that are numbers. */
export function ofNumbers(name: LossName): boolean {
  return name === 'absolute' || name === 'squared' || name === 'pinball';
}

/** What is wrong with a label under this loss, and the fix; undefined: nothing. */
export function labelFault({ name }: LossChoice, label: string): string | undefined {
  if (!ofNumbers(name) || numberIn(label) !== undefined) return undefined;
  const shown = label.length <= 40 ? label : `${label.slice(0, 37)}...`;
  return `label must be a number under the application's loss '${name}', not ${JSON.stringify(shown)}`;
}

/**
 * The loss of that name. Under one of numbers an output that is no number, nor a list of one, has the loss 1; of
 * `reciprocalRank` an output is a list, best first, whose loss is 1 - 1 / (place of the label), 1 where it has no place.
 */
export function lossNamed({ name, scale = 1, quantile = 0.5 }: LossChoice): Loss {
  switch (name) {
    case 'zeroOne':
      return (output, label) => (sameOutput(output, label) ? 0 : 1);
    case 'absolute':
      return ofDifference((difference) => Math.abs(difference) / scale);
    case 'squared':
      return ofDifference((difference) => (difference / scale) ** 2);
    case 'pinball':
      // Koenker and Bassett's: an answer below the truth costs the quantile, one above it what is left.
      return ofDifference((above) => Math.max(quantile * above, (quantile - 1) * above) / scale);
    case 'reciprocalRank':
      return reciprocalRank;
  }
}

/** @param measure of how much the label is above the output */
function ofDifference(measure: (difference: number) => number): Loss {
  return (output, label) => {
    const [answered, truth] = [numberIn(output), numberIn(label)];
    if (answered === undefined || truth === undefined) return 1;
    return Math.min(1, measure(truth - answered));
  };
}

function reciprocalRank(output: string, label: string): number {
  const ranks = listIn(output) ?? [output];
  const most = Math.min(ranks.length, MOST_RANKS);
  for (let rank = 0; rank < most; rank++) {
    const one = ranks[rank];
    if (sameOutput(typeof one === 'string' ? one : JSON.stringify(one), label)) return 1 - 1 / (rank + 1);
  }
  return 1;
}

/** The number that a text is, as JSON or in quotes, or the only one of a list. */
function numberIn(text: string): number | undefined {
  const list = listIn(text);
  const value: unknown =
    list === undefined ? text.replace(/^\s*"(.*)"\s*$/s, '$1') : list.length === 1 ? list[0] : '';
  // A text of JSON may have a number that is too large for one.
  if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function listIn(text: string): readonly unknown[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
