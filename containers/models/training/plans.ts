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
export const LINEAR_SVM_PLAN: SvmPlan = { seed: SEED, cost: 0.03, epochs: 20 };

export const RADIAL_PLAN: RadialPlan = {
  seed: SEED,
  cost: 10,
  epochs: 20,
  centresPerClass: 25,
  clusterRounds: 15,
  gamma: 0.1,
  ridge: 1e-3,
  shifted: false,
};

export const FOREST_PLAN: ForestPlan = {
  seed: SEED,
  trees: 64,
  treeNodes: 1023,
  depth: 14,
  pixelsPerSplit: 60,
  shiftPixels: 0,
};
