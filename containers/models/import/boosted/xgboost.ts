import { z } from 'zod';
import { fieldPath } from '../../manifest.js';
import { ModelError } from '../../modelError.js';
import type { InnerNode, Votes } from '../layers/treeVotes.js';
import type { BoostedModel, Link } from './boostedImport.js';
import { WAY_ON } from './wayOn.js';

const numbers = z.array(z.number());
const numeral = z.string().or(z.number());

const tree = z.object({
  left_children: numbers,
  right_children: numbers,
  split_indices: numbers,
  split_conditions: numbers,
  default_left: z.array(z.number().or(z.boolean())),
  split_type: numbers.optional(),
  base_weights: numbers.optional(),
});

const model = z.object({ trees: z.array(tree).min(1), tree_info: numbers });

const schema = z.object({
  version: numbers.optional(),
  learner: z.object({
    learner_model_param: z.object({
      base_score: numeral,
      num_class: numeral,
      num_feature: numeral,
      num_target: numeral.optional(),
    }),
    objective: z.object({ name: z.string() }),
    gradient_booster: z.object({
      name: z.string(),
      model: model.optional(),
      gbtree: z.object({ model }).optional(),
      weight_drop: numbers.optional(),
    }),
  }),
});

const LINKS: Readonly<Record<string, Link>> = {
  'binary:logistic': 'twoClasses',
  'binary:logitraw': 'identity',
  'binary:hinge': 'isPositive',
  'reg:logistic': 'logistic',
  'multi:softprob': 'classes',
  'multi:softmax': 'classes',
  'reg:squarederror': 'identity',
  'reg:linear': 'identity',
  'reg:absoluteerror': 'identity',
  'reg:pseudohubererror': 'identity',
  'reg:quantileerror': 'identity',
  'reg:squaredlogerror': 'identity',
  'count:poisson': 'exponential',
  'reg:gamma': 'exponential',
  'reg:tweedie': 'exponential',
  'survival:cox': 'exponential',
  'rank:pairwise': 'identity',
  'rank:ndcg': 'identity',
  'rank:map': 'identity',
};

/** The JSON of `Booster.save_model`. Thresholds and leaves are floats, and an input goes left below its threshold. */
export function readXgboost(json: unknown, file: string): BoostedModel {
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = fieldPath(issue.path) || undefined;
    throw new ModelError(
      'importInvalid',
      file,
      field,
      `${issue.message}; save the model with save_model("model.json")`,
    );
  }
  const { learner, version } = parsed.data;
  const refuse = (field: string, problem: string): never => {
    throw new ModelError('importUnsupported', file, `learner.${field}`, `${problem}; ${WAY_ON}`);
  };
  const { learner_model_param: parameters, objective, gradient_booster: booster } = learner;
  const trees = booster.model ?? booster.gbtree?.model;
  if (trees === undefined) {
    return refuse('gradient_booster', `${booster.name} has no trees, only gbtree and dart are supported`);
  }
  if (!Object.hasOwn(LINKS, objective.name)) {
    refuse('objective.name', `'${objective.name}' is not supported, only ${Object.keys(LINKS).join(', ')}`);
  }
  if (Number(parameters.num_target ?? 1) > 1)
    refuse('learner_model_param.num_target', 'several targets are not supported: train one model for each');
  const link = LINKS[objective.name];
  const classes = Math.max(1, Number(parameters.num_class));
  const features = Number(parameters.num_feature);
  if (!(features >= 1 && features <= 2 ** 24 && classes <= 65_536)) {
    throw new ModelError(
      'importInvalid',
      file,
      'learner.learner_model_param',
      `${features} features and ${classes} classes`,
    );
  }
  const nodes: (InnerNode | Votes)[] = [];
  const roots = trees.trees.map((one, place) => {
    const root = nodes.length;
    const lists = [one.right_children, one.split_indices, one.split_conditions, one.default_left];
    if (lists.some(({ length }) => length !== one.left_children.length) || one.left_children.length === 0) {
      throw new ModelError('importInvalid', file, `trees[${place}]`, 'its lists of nodes differ in length');
    }
    if (one.split_type?.some((type) => type !== 0) === true)
      refuse(
        `trees[${place}].split_type`,
        'categorical splits are not supported: encode categories as numbers',
      );
    const weight = booster.weight_drop?.[place] ?? 1;
    const target = trees.tree_info[place] ?? 0;
    one.left_children.forEach((left, node) => {
      const value = Math.fround(one.split_conditions[node]);
      nodes.push(
        left < 0
          ? [{ target, weight: weight * value }]
          : {
              feature: one.split_indices[node],
              threshold: value,
              branch: 'BRANCH_LT',
              left: root + left,
              right: root + one.right_children[node],
              missingLeft: Boolean(one.default_left[node]),
            },
      );
    });
    return root;
  });
  const base = baseScore(parameters.base_score, classes).map((score) => marginOf(score, link));
  return {
    description: `${objective.name} of XGBoost ${(version ?? []).join('.')}`.trim(),
    features,
    ensemble: { roots, nodes, targets: classes, base, aggregate: 'SUM', isSingle: true },
    link,
    steepness: 1,
  };
}

/** A number, or a list of them as text, as newer releases write it. */
function baseScore(text: string | number, classes: number): number[] {
  const list = String(text).replace(/[[\]]/g, '').split(',').map(Number);
  return Array.from({ length: classes }, (_, k) => list[k] ?? list[0]);
}

/** What is added to the sums, of a score in the units of the prediction. */
function marginOf(score: number, link: Link): number {
  if (link === 'twoClasses' || link === 'logistic') return Math.log(score / (1 - score));
  return link === 'exponential' ? Math.log(score) : score;
}
