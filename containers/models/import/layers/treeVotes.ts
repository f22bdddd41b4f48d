import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { elementCount, tableOf, type Source } from './sources.js';
import { rowsOf } from './stridedLayers.js';

/** How an inner node chooses, in the numbers of `tree_votes_f64`; a leaf has 0. */
export const BRANCHES = {
  BRANCH_LEQ: 1,
  BRANCH_LT: 2,
  BRANCH_GTE: 3,
  BRANCH_GT: 4,
  BRANCH_EQ: 5,
  BRANCH_NEQ: 6,
} as const;
export type Branch = keyof typeof BRANCHES;

export const AGGREGATES = { SUM: 0, AVERAGE: 1, MIN: 2, MAX: 3 } as const;
export type Aggregate = keyof typeof AGGREGATES;

export interface InnerNode {
  readonly feature: number;
  readonly threshold: number;
  readonly branch: Branch;
  /** Places among the ensemble's nodes. */
  readonly left: number;
  readonly right: number;
  readonly missingLeft: boolean;
}

/** What a leaf adds to targets. */
export type Votes = readonly { readonly target: number; readonly weight: number }[];

/** Trees whose leaves' votes are put together. */
export interface TreeEnsemble {
  readonly roots: readonly number[];
  readonly nodes: readonly (InnerNode | Votes)[];
  readonly targets: number;
  /** Of each target, added in the end. */
  readonly base: readonly number[];
  readonly aggregate: Aggregate;
  /** Values are rounded to single precision before they are compared. */
  readonly isSingle: boolean;
}

/** What is wrong with an ensemble's structure; undefined: every way from a root ends at a leaf. */
export function brokenTree({ roots, nodes, targets }: TreeEnsemble, features: number): string | undefined {
  const seen = new Uint8Array(nodes.length);
  const open = [...roots];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (!(Number.isInteger(place) && place >= 0 && place < nodes.length)) return `there is no node ${place}`;
    if (seen[place] !== 0) return `node ${place} is reached twice`;
    seen[place] = 1;
    const node = nodes[place];
    if (isLeaf(node)) {
      const vote = node.find(({ target }) => !(target >= 0 && target < targets));
      if (vote !== undefined) return `a leaf votes for ${vote.target} of ${targets} targets`;
    } else {
      if (!(Number.isInteger(node.feature) && node.feature >= 0 && node.feature < features)) {
        return `node ${place} asks for feature ${node.feature}, there are ${features}`;
      }
      open.push(node.left, node.right);
    }
  }
  return undefined;
}

export function isLeaf(node: InnerNode | Votes): node is Votes {
  return Array.isArray(node);
}

/** @param x in double precision. @returns a value for each target */
export function addTreeVotes(draft: ModelDraft, x: Source, features: number, ensemble: TreeEnsemble): Tensor {
  const { roots, nodes, targets, base, aggregate, isSingle } = ensemble;
  const name = draft.layerName('trees');
  const table = new Int32Array(5 * nodes.length);
  const thresholds = new Float64Array(nodes.length);
  const starts: number[] = [0];
  const voted: number[] = [];
  const weights: number[] = [];
  nodes.forEach((node, place) => {
    if (isLeaf(node)) {
      table[5 * place + 4] = starts.length - 1;
      for (const { target, weight } of node) {
        voted.push(target);
        weights.push(weight);
      }
      starts.push(voted.length);
    } else {
      const mode = BRANCHES[node.branch] + (node.missingLeft ? 8 : 0);
      table.set([node.feature, mode, node.left, node.right, 0], 5 * place);
      thresholds[place] = node.threshold;
    }
  });
  const y = draft.tensor(name, 'f64', targets);
  draft.launchElements({
    module: 'trees',
    kernel: 'tree_votes_f64',
    width: targets,
    instructionsEach: 200 + roots.length * (40 + 40 * depthOf(ensemble)) + 20 * votesSeen(ensemble),
    arguments: [
      rowsOf(draft, x, features),
      tableOf(draft, 'roots', Int32Array.from(roots)),
      tableOf(draft, 'nodes', table),
      draft.weight(`${name}Thresholds`, thresholds),
      tableOf(draft, 'starts', Int32Array.from(starts)),
      tableOf(draft, 'targets', Int32Array.from(voted.length === 0 ? [0] : voted)),
      draft.weight(`${name}Weights`, Float64Array.from(weights.length === 0 ? [0] : weights)),
      draft.weight(
        `${name}Base`,
        Float64Array.from({ length: targets }, (_, k) => base[k] ?? 0),
      ),
      pointerTo(y),
      elementCount(targets),
      ...[roots.length, features, targets, AGGREGATES[aggregate], isSingle ? 1 : 0].map((i32) => ({ i32 })),
    ],
  });
  return y;
}

function depthOf({ roots, nodes }: TreeEnsemble): number {
  let deepest = 0;
  const open = roots.map((place) => [place, 0]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [place, depth] = next;
    const node = nodes[place];
    deepest = Math.max(deepest, depth);
    if (!isLeaf(node)) open.push([node.left, depth + 1], [node.right, depth + 1]);
  }
  return deepest;
}

/** Votes that an item meets, at most. */
function votesSeen({ roots, nodes }: TreeEnsemble): number {
  const most = nodes.reduce((largest, node) => Math.max(largest, isLeaf(node) ? node.length : 0), 0);
  return roots.length * most;
}
