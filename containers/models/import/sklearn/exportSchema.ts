import { z } from 'zod';
import { inputNumber } from '../../golden.js';

/** What sklearnExport.py writes. Numbers are doubles, written so that they read back the same. */
const numbers = z.array(z.number());
const rows = z.array(numbers).min(1);
const counts = z.array(z.int());

const step = z.discriminatedUnion('kind', [
  /** (x - shift) / divisor */
  z.strictObject({ kind: z.literal('standardize'), shift: numbers, divisor: numbers }),
  /** x * factor + offset */
  z.strictObject({ kind: z.literal('scale'), factor: numbers, offset: numbers }),
]);

const linear = z.strictObject({
  kind: z.literal('linear'),
  /** A row a class, or one row for the second of two classes. */
  coefficients: rows,
  intercepts: numbers,
  /** How scores come from decisions. */
  probabilities: z.enum(['none', 'softmax', 'logistic']),
});

const supportVectors = z.strictObject({
  kind: z.literal('supportVectors'),
  kernel: z.enum(['linear', 'rbf']),
  gamma: z.number().nonnegative(),
  /** Grouped by class. */
  vectors: rows,
  vectorsOfClass: counts,
  /** (classes - 1) x vectors, with libsvm's signs. */
  dualCoefficients: rows,
  /** Of each pair of classes, with libsvm's signs. */
  intercepts: numbers,
  /** Labels by the decision function in place of the votes. */
  breakTies: z.boolean(),
});

const tree = z.strictObject({
  /** -1 at a leaf. */
  feature: counts.min(1),
  threshold: numbers,
  left: counts,
  right: counts,
  /** Where a missing value goes at each node; without it the model takes none. */
  missingLeft: z.array(z.boolean()).optional(),
  /** Of each leaf, in the order of the nodes. */
  leafProbabilities: rows,
});

const trees = z.strictObject({ kind: z.literal('trees'), trees: z.array(tree).min(1) });

const perceptron = z.strictObject({
  kind: z.literal('perceptron'),
  activation: z.enum(['identity', 'logistic', 'tanh', 'relu']),
  layers: z
    .array(
      z.strictObject({
        /** A row an input. */
        weights: rows,
        biases: numbers,
      }),
    )
    .min(1),
});

export const MODEL_KINDS = ['linear', 'supportVectors', 'trees', 'perceptron'] as const;

export const exportSchema = z.strictObject({
  format: z.literal('windjammer-sklearn'),
  formatVersion: z.literal(1),
  sklearnVersion: z.string(),
  name: z.string().min(1).max(100),
  estimator: z.string().min(1),
  features: z.int().min(1),
  classes: z.array(z.string().min(1)).min(2),
  steps: z.array(step),
  model: z.discriminatedUnion('kind', [linear, supportVectors, trees, perceptron]),
  golden: z.array(z.strictObject({ input: z.array(inputNumber), label: z.string(), scores: numbers })),
});

export type SklearnExport = z.infer<typeof exportSchema>;
export type LinearExport = z.infer<typeof linear>;
export type SupportVectorExport = z.infer<typeof supportVectors>;
export type TreesExport = z.infer<typeof trees>;
export type PerceptronExport = z.infer<typeof perceptron>;
