import type { ClassScores } from './classScores.js';

/**
 * A node in 32 bits, from the lowest: 10 of the pixel it asks about (LEAF_PIXEL in a leaf), 8 of the threshold in 1/256 (of
 * the class in a leaf), 14 of the left child's place in its tree; the right child follows the left one.
 */
export const LEAF_PIXEL = 1023;
export const THRESHOLD_SHIFT = 10;
export const CHILD_SHIFT = 18;
const THRESHOLD_MASK = 255;

export interface ForestParameters {
  /** [trees][nodes a tree], unused places at each tree's end. */
  readonly nodes: Uint32Array;
  readonly trees: number;
  readonly classes: number;
}

/** Share of the trees that vote for each class. */
export function forestShares({ nodes, trees, classes }: ForestParameters): ClassScores {
  const treeNodes = nodes.length / trees;
  return (pixels) => {
    const votes = new Float64Array(classes);
    for (let root = 0; root < nodes.length; root += treeNodes) {
      let node = nodes[root];
      while ((node & LEAF_PIXEL) !== LEAF_PIXEL) {
        const threshold = ((node >>> THRESHOLD_SHIFT) & THRESHOLD_MASK) / 256;
        const right = pixels[node & LEAF_PIXEL] > threshold ? 1 : 0;
        node = nodes[root + (node >>> CHILD_SHIFT) + right];
      }
      votes[(node >>> THRESHOLD_SHIFT) & THRESHOLD_MASK] += 1;
    }
    return votes.map((count) => count / trees);
  };
}
