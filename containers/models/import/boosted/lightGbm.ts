import { z } from 'zod';
import { fieldPath } from '../../manifest.js';
import { ModelError } from '../../modelError.js';
import type { InnerNode, Votes } from '../layers/treeVotes.js';
import type { BoostedModel, Link } from './boostedImport.js';
import { WAY_ON } from './wayOn.js';

const schema = z.object({
  version: z.string().optional(),
  num_class: z.int().min(1).max(65_536),
  num_tree_per_iteration: z.int().min(1),
  max_feature_idx: z
    .int()
    .min(0)
    .max(2 ** 24),
  objective: z.string().optional(),
  average_output: z.boolean().optional(),
  tree_info: z.array(z.object({ tree_structure: z.unknown() })).min(1),
});

const inner = z.object({
  split_feature: z.int().min(0),
  threshold: z.number().or(z.string()),
  decision_type: z.string(),
  default_left: z.boolean(),
  missing_type: z.string(),
  left_child: z.unknown(),
  right_child: z.unknown(),
});
const leaf = z.object({ leaf_value: z.number(), leaf_coeff: z.array(z.number()).optional() });

const LINKS: Readonly<Record<string, Link>> = {
  regression: 'identity',
  regression_l1: 'identity',
  huber: 'identity',
  fair: 'identity',
  quantile: 'identity',
  mape: 'identity',
  lambdarank: 'identity',
  rank_xendcg: 'identity',
  poisson: 'exponential',
  gamma: 'exponential',
  tweedie: 'exponential',
  binary: 'twoClasses',
  cross_entropy: 'logistic',
  multiclass: 'classes',
};

/** The JSON of `Booster.dump_model()`. An input goes left where it is at most the threshold, a double. */
export function readLightGbm(json: unknown, file: string): BoostedModel {
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = fieldPath(issue.path) || undefined;
    throw new ModelError(
      'importInvalid',
      file,
      field,
      `${issue.message}; write json.dumps(booster.dump_model())`,
    );
  }
  const { num_class: classes, num_tree_per_iteration: each, tree_info: trees } = parsed.data;
  const [objective, ...options] = (parsed.data.objective ?? 'regression').split(' ');
  if (!Object.hasOwn(LINKS, objective) || options.includes('sqrt')) {
    throw new ModelError(
      'importUnsupported',
      file,
      'objective',
      `'${parsed.data.objective ?? ''}' is not supported, only ${Object.keys(LINKS).join(', ')}; ${WAY_ON}`,
    );
  }
  const steepness = Number(options.find((option) => option.startsWith('sigmoid:'))?.slice(8) ?? 1);
  const nodes: (InnerNode | Votes)[] = [];
  const rounds = Math.ceil(trees.length / each);
  const share = parsed.data.average_output === true ? 1 / rounds : 1;
  const roots = trees.map(({ tree_structure }, place) => {
    const root = nodes.length;
    addTree(nodes, tree_structure, place % each, share, (problem, isBroken) => {
      const code = isBroken ? 'importInvalid' : 'importUnsupported';
      throw new ModelError(code, file, `tree_info[${place}]`, isBroken ? problem : `${problem}; ${WAY_ON}`);
    });
    return root;
  });
  return {
    description: `${objective} of LightGBM ${parsed.data.version ?? ''}`.trim(),
    features: parsed.data.max_feature_idx + 1,
    ensemble: { roots, nodes, targets: Math.max(classes, each), base: [], aggregate: 'SUM', isSingle: false },
    link: LINKS[objective],
    steepness,
  };
}

/** Puts a tree's nodes behind the others. Without recursion: trees may be as deep as they have leaves. */
function addTree(
  nodes: (InnerNode | Votes)[],
  structure: unknown,
  target: number,
  share: number,
  fail: (problem: string, isBroken: boolean) => never,
): void {
  const open: { json: unknown; place: number }[] = [{ json: structure, place: nodes.length }];
  nodes.push([]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { json, place } = next;
    const end = leaf.safeParse(json);
    if (end.success) {
      if ((end.data.leaf_coeff ?? []).length > 0)
        return fail(
          'its leaves are linear models (linear_tree), which are not supported: train without',
          false,
        );
      nodes[place] = [{ target, weight: share * end.data.leaf_value }];
      continue;
    }
    const parsed = inner.safeParse(json);
    if (!parsed.success)
      return fail(`${parsed.error.issues[0].message} (${fieldPath(parsed.error.issues[0].path)})`, true);
    const {
      split_feature: feature,
      threshold,
      decision_type,
      default_left,
      missing_type,
      left_child,
      right_child,
    } = parsed.data;
    if (decision_type !== '<=')
      return fail(`decision_type '${decision_type}' is not supported: encode categories as numbers`, false);
    if (missing_type === 'Zero') return fail('zero_as_missing is not supported: leave it out', false);
    const limit = Number(threshold);
    if (Number.isNaN(limit)) return fail(`the threshold ${threshold} is no number`, true);
    const left = nodes.length;
    nodes.push([], []);
    // Where nothing was missing in training, what is missing counts as 0.
    const missingLeft = missing_type === 'NaN' ? default_left : 0 <= limit;
    nodes[place] = { feature, threshold: limit, branch: 'BRANCH_LEQ', left, right: left + 1, missingLeft };
    open.push({ json: left_child, place: left }, { json: right_child, place: left + 1 });
  }
}
