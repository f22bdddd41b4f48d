import {
  CHILD_SHIFT,
  LEAF_PIXEL,
  THRESHOLD_SHIFT,
  type ForestParameters,
} from '../evaluation/forestShares.js';
import { shiftDigit } from './augmentation.js';
import { CLASSES, PIXELS, digitAt, type DigitSet } from './digits.js';
import { Draws } from './draws.js';

export interface ForestPlan {
  readonly seed: number;
  readonly trees: number;
  /** Places for nodes a tree has; a tree that would need more stops growing. */
  readonly treeNodes: number;
  /** Splits from a root to a leaf, at most. */
  readonly depth: number;
  /** Pixels drawn anew for each split, of which the best is taken. */
  readonly pixelsPerSplit: number;
  /** Each drawn digit is shifted by up to so many pixels each way. */
  readonly shiftPixels: number;
}

/** Thresholds that a split may have, in 1/256: 8, 24, …, 248. */
const THRESHOLDS = 16;
const LEVELS = THRESHOLDS + 1;

/** A bag's digits with each pixel as the number of thresholds that it exceeds: `levels[digit][PIXELS]`. */
interface Bag {
  readonly levels: Uint8Array;
  readonly labels: Uint8Array;
}

interface Split {
  readonly pixel: number;
  /** Right are the digits whose level is above it. */
  readonly level: number;
}

interface Growth {
  readonly place: number;
  readonly depth: number;
  readonly members: Int32Array;
}

/** Random forest (Breiman, 2001): each tree grows on a bag drawn with replacement, a few drawn pixels a split. */
export function trainForest(set: DigitSet, plan: ForestPlan): ForestParameters {
  const { trees, treeNodes } = plan;
  const draws = new Draws(plan.seed);
  const nodes = new Uint32Array(trees * treeNodes);
  for (let tree = 0; tree < trees; tree++) {
    growTree(
      drawBag(set, plan, draws),
      plan,
      draws,
      nodes.subarray(tree * treeNodes, (tree + 1) * treeNodes),
    );
  }
  return { nodes, trees, classes: CLASSES };
}

function drawBag(set: DigitSet, { shiftPixels }: ForestPlan, draws: Draws): Bag {
  const levels = new Uint8Array(set.count * PIXELS);
  const labels = new Uint8Array(set.count);
  const shifted = new Float32Array(PIXELS);
  for (let k = 0; k < set.count; k++) {
    const drawn = draws.integer(0, set.count - 1);
    shiftDigit(digitAt(set, drawn), shiftPixels, draws, shifted);
    for (let i = 0; i < PIXELS; i++) {
      levels[k * PIXELS + i] = Math.max(0, Math.min(THRESHOLDS, Math.ceil(shifted[i] * 16 - 0.5)));
    }
    labels[k] = set.labels[drawn];
  }
  return { levels, labels };
}

/** Breadth first, so that a tree whose places run out is cut at its deepest level. */
function growTree(bag: Bag, plan: ForestPlan, draws: Draws, nodes: Uint32Array): void {
  const all = Int32Array.from(bag.labels, (_, index) => index);
  const queue: Growth[] = [{ place: 0, depth: 0, members: all }];
  let used = 1;
  for (const { place, depth, members } of queue) {
    const counts = classCounts(bag, members);
    const isPure = counts.some((count) => count === members.length);
    const split =
      isPure || depth === plan.depth || used + 2 > nodes.length
        ? undefined
        : bestSplit(bag, members, plan.pixelsPerSplit, draws);
    if (split === undefined) {
      const label = counts.indexOf(Math.max(...counts));
      nodes[place] = LEAF_PIXEL | (label << THRESHOLD_SHIFT);
      continue;
    }
    const threshold = 16 * split.level + 8;
    nodes[place] = (split.pixel | (threshold << THRESHOLD_SHIFT) | (used << CHILD_SHIFT)) >>> 0;
    const isRight = (member: number): boolean => bag.levels[member * PIXELS + split.pixel] > split.level;
    queue.push({ place: used, depth: depth + 1, members: members.filter((member) => !isRight(member)) });
    queue.push({ place: used + 1, depth: depth + 1, members: members.filter(isRight) });
    used += 2;
  }
}

function classCounts({ labels }: Bag, members: Int32Array): Int32Array {
  const counts = new Int32Array(CLASSES);
  for (const member of members) counts[labels[member]] += 1;
  return counts;
}

/** The split of least Gini impurity among the drawn pixels; undefined when none of them parts the members. */
function bestSplit(bag: Bag, members: Int32Array, pixels: number, draws: Draws): Split | undefined {
  const table = new Int32Array(LEVELS * CLASSES);
  let best: Split | undefined;
  let highest = -Infinity;
  for (let draw = 0; draw < pixels; draw++) {
    const pixel = draws.integer(0, PIXELS - 1);
    table.fill(0);
    for (const member of members) {
      table[bag.levels[member * PIXELS + pixel] * CLASSES + bag.labels[member]] += 1;
    }
    const { level, purity } = bestLevel(table, members.length);
    if (purity > highest) {
      highest = purity;
      best = { pixel, level };
    }
  }
  return best;
}

/** purity: the sum over both sides of (sum of squared class counts) / members, larger where Gini impurity is smaller. */
function bestLevel(table: Int32Array, members: number): { level: number; purity: number } {
  const left = new Int32Array(CLASSES);
  const right = new Int32Array(CLASSES);
  table.forEach((count, index) => (right[index % CLASSES] += count));
  let onLeft = 0;
  let best = { level: 0, purity: -Infinity };
  for (let level = 0; level < THRESHOLDS; level++) {
    for (let c = 0; c < CLASSES; c++) {
      const count = table[level * CLASSES + c];
      left[c] += count;
      right[c] -= count;
      onLeft += count;
    }
    const onRight = members - onLeft;
    if (onLeft === 0 || onRight === 0) continue;
    const purity = squares(left) / onLeft + squares(right) / onRight;
    if (purity > best.purity) best = { level, purity };
  }
  return best;
}

function squares(counts: Int32Array): number {
  let sum = 0;
  for (const count of counts) sum += count * count;
  return sum;
}
