import type { ForestPlan } from './forest.js';
import type { SvmPlan } from './linearSvm.js';
import type { TrainingPlan } from './network.js';
import type { RadialPlan } from './radialMachine.js';

const SEED = 20170327;

const NETWORK = {
  seed: SEED,
  batchSize: 32,
  rate: 0.05,
  momentum: 0.9,
  weightDecay: 1e-4,
  shiftPixels: 1,
};

export const LOGISTIC_PLAN: TrainingPlan = { ...NETWORK, hidden: 0, epochs: 30 };
export const PERCEPTRON_PLAN: TrainingPlan = { ...NETWORK, hidden: 32, epochs: 60 };

/** Costs, gamma and the forest's size were chosen on a fifth of the training digits, never on the held-out ones. */
export const LINEAR_SVM_PLAN: SvmPlan = { seed: SEED, cost: 1, epochs: 20 };

export const RADIAL_PLAN: RadialPlan = {
  seed: SEED,
  cost: 3,
  epochs: 20,
  centresPerClass: 24,
  clusterRounds: 15,
  gamma: 2,
  ridge: 1e-3,
};

export const FOREST_PLAN: ForestPlan = {
  seed: SEED,
  trees: 64,
  treeNodes: 1023,
  depth: 14,
  pixelsPerSplit: 120,
  shiftPixels: 0,
};
