import { digitModel, type DigitModel } from '../evaluation/digitModel.js';
import { forestShares } from '../evaluation/forestShares.js';
import { loadDigits, type DigitSplit } from './digits.js';
import { trainForest, type ForestPlan } from './forest.js';

/** As scikit-learn's forests were in the paper's day: ten trees, the root of all pixels drawn for a split. */
const SMALL_FOREST: Omit<ForestPlan, 'seed'> = {
  trees: 10,
  treeNodes: 255,
  depth: 8,
  pixelsPerSplit: 28,
  shiftPixels: 0,
};

/**
 * Small random forests that differ in their bags and splits alone, for ensembles of one kind of model (Clipper, figure 9).
 * The same models every time.
 */
export function forestEnsemble(
  count: number,
  seed: number,
  { training, heldOut }: DigitSplit = loadDigits(),
): readonly DigitModel[] {
  return Array.from({ length: count }, (_, at) => {
    const forest = trainForest(training, { ...SMALL_FOREST, seed: seed + at });
    return digitModel(`forest-${at + 1}`, forestShares(forest), heldOut);
  });
}
