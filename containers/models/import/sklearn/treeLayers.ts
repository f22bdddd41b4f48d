import { countOf, pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import type { TreesExport } from './exportSchema.js';
import type { ClassTensors } from './linearLayers.js';
import type { ExportCheck } from './readExport.js';

/** All trees' nodes, one tree after the other. */
interface Forest {
  readonly roots: Int32Array;
  /** Where values may be missing: twice the feature, and 1 where those go to the left. */
  readonly feature: Int32Array;
  readonly takesMissing: boolean;
  readonly threshold: Float64Array;
  /** At a leaf: the row of its probabilities. */
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** Leaves x classes. */
  readonly leafProbabilities: Float64Array;
  /** Steps to the deepest leaf, added up over the trees. */
  readonly steps: number;
}

/** DecisionTreeClassifier, RandomForestClassifier and ExtraTreesClassifier: the mean of the trees' probabilities. */
export function addTrees(
  draft: ModelDraft,
  x: Tensor,
  model: TreesExport,
  classes: number,
  check: ExportCheck,
): ClassTensors {
  const forest = joinTrees(model, x.width, classes, check);
  const trees = forest.roots.length;
  const { takesMissing } = forest;
  draft.takesMissing = takesMissing && (draft.inputType === 'doubles' || draft.inputType === 'floats');
  const leaves = draft.tensor('leaves', 'i32', trees);
  draft.launchElements({
    module: 'trees',
    kernel: takesMissing ? 'tree_leaves_missing_f64' : 'tree_leaves_f64',
    width: trees,
    instructionsEach: 60 + Math.ceil(((takesMissing ? 30 : 22) * forest.steps) / trees),
    arguments: [
      pointerTo(x),
      draft.weight('treeRoots', forest.roots),
      draft.weight('nodeFeature', forest.feature),
      draft.weight('nodeThreshold', forest.threshold),
      draft.weight('nodeLeft', forest.left),
      draft.weight('nodeRight', forest.right),
      pointerTo(leaves),
      countOf(trees),
      { i32: trees },
      { i32: x.width },
    ],
  });
  const means = draft.tensor('probabilities', 'f64', classes);
  draft.launchElements({
    module: 'trees',
    kernel: 'leaf_means_f64',
    width: classes,
    instructionsEach: 70 + 9 * trees,
    arguments: [
      pointerTo(leaves),
      draft.weight('leafProbabilities', forest.leafProbabilities),
      pointerTo(means),
      countOf(classes),
      { i32: trees },
      { i32: classes },
    ],
  });
  return { decisions: means, scores: means };
}

function joinTrees({ trees }: TreesExport, features: number, classes: number, check: ExportCheck): Forest {
  const nodes = trees.reduce((sum, { feature }) => sum + feature.length, 0);
  const leaves = trees.reduce((sum, tree) => sum + tree.leafProbabilities.length, 0);
  const takesMissing = trees.every(({ missingLeft }) => missingLeft !== undefined);
  const forest = {
    takesMissing,
    roots: new Int32Array(trees.length),
    feature: new Int32Array(nodes),
    threshold: new Float64Array(nodes),
    left: new Int32Array(nodes),
    right: new Int32Array(nodes),
    leafProbabilities: new Float64Array(leaves * classes),
    steps: 0,
  };
  let node = 0;
  let leaf = 0;
  trees.forEach((tree, index) => {
    const field = `model.trees[${index}]`;
    const size = tree.feature.length;
    for (const list of ['threshold', 'left', 'right'] as const) {
      check.length(tree[list], size, `${field}.${list}`);
    }
    if (tree.missingLeft !== undefined) check.length(tree.missingLeft, size, `${field}.missingLeft`);
    if ((tree.missingLeft !== undefined) !== takesMissing) {
      check.fail(`${field}.missingLeft`, 'is missing, and other trees say where missing values go');
    }
    check.length(
      tree.leafProbabilities,
      tree.feature.filter((feature) => feature < 0).length,
      `${field}.leafProbabilities`,
    );
    forest.leafProbabilities.set(
      check.matrix(tree.leafProbabilities, classes, `${field}.leafProbabilities`),
      leaf * classes,
    );
    forest.roots[index] = node;
    const depths = new Int32Array(size);
    for (let k = 0; k < size; k++) {
      const feature = tree.feature[k];
      if (feature >= features) check.fail(`${field}.feature[${k}]`, `there is no feature ${feature}`);
      const isLeft = tree.missingLeft?.[k] === true ? 1 : 0;
      forest.feature[node + k] = feature < 0 ? -1 : takesMissing ? 2 * feature + isLeft : feature;
      if (feature < 0) {
        forest.left[node + k] = leaf++;
        continue;
      }
      forest.threshold[node + k] = tree.threshold[k];
      for (const side of ['left', 'right'] as const) {
        const child = tree[side][k];
        // Children come after their parents: no walk can go round in circles.
        if (child <= k || child >= size)
          check.fail(`${field}.${side}[${k}]`, `node ${child} cannot follow node ${k}`);
        forest[side][node + k] = node + child;
        depths[child] = depths[k] + 1;
      }
    }
    forest.steps += depths.reduce((deepest, depth) => Math.max(deepest, depth), 0);
    node += size;
  });
  return forest;
}
