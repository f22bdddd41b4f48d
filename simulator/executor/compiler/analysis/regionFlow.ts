import { successorsOf, type FlowGraph } from './flowGraph.js';

/**
 * One region: what a thread can run from `entry` until it exits or meets a sync point, in reverse postorder. All arrays
 * are by position in that order; position 0 is the entry.
 */
export interface RegionFlow {
  readonly nodes: readonly number[];
  readonly positionOf: ReadonlyMap<number, number>;
  readonly successors: readonly (readonly number[])[];
  /** Immediate dominator; the entry is its own. */
  readonly dominator: Int32Array;
  /**
   * Nodes that are written behind each node: those that it immediately dominates, except that the exits of a loop stand
   * behind the outermost loop that they leave. So loops in a row do not nest.
   */
  readonly followers: readonly (readonly number[])[];
  /** Written behind a loop whose header dominates it. */
  readonly isLoopExit: Uint8Array;
  readonly isLoopHeader: Uint8Array;
  /** Reached by two or more forward edges. */
  readonly isMerge: Uint8Array;
  /** Position of the header of the innermost loop around each node, or -1. */
  readonly innermostLoop: Int32Array;
  /** Header of the next loop around a loop, by header; -1 when there is none. */
  readonly loopParent: (header: number) => number;
  /** False when some loop has a second entrance: then dominators do not nest and structure cannot be found. */
  readonly isReducible: boolean;
  /** Nodes of the same class run equally often for every thread. Class 0 is the entry's. */
  readonly classOf: Int32Array;
  readonly classCount: number;
  /** Instructions of each class, together. */
  readonly classSizes: readonly number[];
  /** Whether a thread can run the class more than once. */
  readonly isRepeated: readonly boolean[];
  /** Fewest instructions from each loop header to the end of the node, for back edges to charge. */
  readonly backEdgeCost: (latch: number, header: number) => number;
  /** Edges that go back in the order, by node: every cycle has one. */
  readonly backEdges: readonly { readonly from: number; readonly to: number }[];
}

/** @param leaves whether a thread may leave the region when it goes back along an edge from one node to another. */
export function analyseRegion(
  graph: FlowGraph,
  entry: number,
  leaves: (from: number, to: number) => boolean = () => false,
): RegionFlow {
  const nodes = reversePostorder(graph, entry);
  const positionOf = new Map(nodes.map((node, position) => [node, position]));
  const successors = nodes.map((node) => {
    const found = graph.nodes[node];
    return found === undefined
      ? []
      : [...new Set(successorsOf(found).map((next) => positionOf.get(next) ?? 0))];
  });
  const predecessors = invert(successors);
  const dominator = dominators(successors.length, predecessors);

  const isLoopHeader = new Uint8Array(nodes.length);
  const isMerge = new Uint8Array(nodes.length);
  let isReducible = true;
  for (let position = 0; position < nodes.length; position++) {
    let forward = 0;
    for (const from of predecessors[position] ?? []) {
      if (from < position) {
        forward += 1;
        continue;
      }
      isLoopHeader[position] = 1;
      if (!dominates(dominator, position, from)) isReducible = false;
    }
    if (forward > 1) isMerge[position] = 1;
  }
  const loops = isReducible ? naturalLoops(predecessors, isLoopHeader) : new Map<number, readonly number[]>();
  const innermostLoop = new Int32Array(nodes.length).fill(-1);
  for (const [header, body] of loops) for (const position of body) innermostLoop[position] = header;

  const parents = loopParents(loops);
  const { followers, isLoopExit } = placeNodes(dominator, innermostLoop, parents);

  const backEdges = successors.flatMap((list, position) =>
    list.filter((to) => to <= position).map((to) => ({ from: nodes[position] ?? 0, to: nodes[to] ?? 0 })),
  );
  const mayLeave = new Set(
    backEdges.filter(({ from, to }) => leaves(from, to)).map(({ from }) => positionOf.get(from) ?? 0),
  );

  const sizes = nodes.map((node) => graph.nodes[node]?.counted.length ?? 0);
  const { classOf, classCount } = isReducible
    ? equivalenceClasses(successors, dominator, innermostLoop, mayLeave)
    : { classOf: Int32Array.from(nodes.keys()), classCount: nodes.length };
  const classSizes = Array.from({ length: classCount }, () => 0);
  classOf.forEach((each, position) => {
    classSizes[each] = (classSizes[each] ?? 0) + (sizes[position] ?? 0);
  });
  const isRepeated = Array.from({ length: classCount }, () => !isReducible);
  classOf.forEach((each, position) => {
    if ((innermostLoop[position] ?? -1) >= 0) isRepeated[each] = true;
  });
  return {
    nodes,
    positionOf,
    successors,
    dominator,
    followers,
    isLoopExit,
    isLoopHeader,
    isMerge,
    innermostLoop,
    loopParent: (header) => parents.get(header) ?? -1,
    isReducible,
    classOf,
    classCount,
    classSizes,
    isRepeated,
    backEdgeCost: (latch, header) => shortestPath(header, latch, successors, sizes),
    backEdges,
  };
}

function reversePostorder(graph: FlowGraph, entry: number): number[] {
  const order: number[] = [];
  const seen = new Set<number>([entry]);
  const stack: { node: number; next: number }[] = [{ node: entry, next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const node = graph.nodes[top.node];
    const successors = node === undefined ? [] : successorsOf(node);
    const successor = successors[top.next];
    top.next += 1;
    if (successor === undefined) {
      order.push(top.node);
      stack.pop();
    } else if (!seen.has(successor)) {
      seen.add(successor);
      stack.push({ node: successor, next: 0 });
    }
  }
  return order.reverse();
}

function invert(successors: readonly (readonly number[])[]): number[][] {
  const predecessors = successors.map((): number[] => []);
  successors.forEach((list, from) => {
    for (const to of list) predecessors[to]?.push(from);
  });
  return predecessors;
}

/** Cooper, Harvey and Kennedy's iteration; `-1` where the root does not reach. Node numbers must be a reverse postorder. */
function dominators(count: number, predecessors: readonly (readonly number[])[]): Int32Array {
  const result = new Int32Array(count).fill(-1);
  result[0] = 0;
  for (let changed = true; changed;) {
    changed = false;
    for (let node = 1; node < count; node++) {
      let best = -1;
      for (const from of predecessors[node] ?? []) {
        if ((result[from] ?? -1) < 0) continue;
        best = best < 0 ? from : meet(result, best, from);
      }
      if (best >= 0 && result[node] !== best) {
        result[node] = best;
        changed = true;
      }
    }
  }
  return result;
}

export function meet(dominator: Int32Array, a: number, b: number): number {
  while (a !== b) {
    while (a > b) a = dominator[a] ?? 0;
    while (b > a) b = dominator[b] ?? 0;
  }
  return a;
}

function dominates(dominator: Int32Array, above: number, below: number): boolean {
  let at = below;
  while (at > above) at = dominator[at] ?? 0;
  return at === above;
}

/** Bodies by header, outer loops before the loops inside them. */
function naturalLoops(
  predecessors: readonly (readonly number[])[],
  isLoopHeader: Uint8Array,
): Map<number, number[]> {
  const loops = new Map<number, number[]>();
  isLoopHeader.forEach((flag, header) => {
    if (flag === 0) return;
    const body = new Set<number>([header]);
    const work = (predecessors[header] ?? []).filter((from) => from >= header);
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
      if (body.has(at)) continue;
      body.add(at);
      work.push(...(predecessors[at] ?? []));
    }
    loops.set(header, [...body]);
  });
  return loops;
}

/** Header of the next loop around each loop, by header. */
function loopParents(loops: ReadonlyMap<number, readonly number[]>): Map<number, number> {
  const parents = new Map<number, number>();
  // Outer loops come first, so that the last one seen around a header is the innermost.
  for (const [header, body] of loops) {
    for (const position of body)
      if (position !== header && loops.has(position)) parents.set(position, header);
  }
  return parents;
}

function placeNodes(
  dominator: Int32Array,
  innermostLoop: Int32Array,
  parents: ReadonlyMap<number, number>,
): { followers: number[][]; isLoopExit: Uint8Array } {
  const followers = Array.from(dominator, (): number[] => []);
  const isLoopExit = new Uint8Array(dominator.length);
  const around = (loop: number): number => parents.get(loop) ?? -1;
  const contains = (loop: number, position: number): boolean => {
    for (let at = innermostLoop[position] ?? -1; at >= 0; at = around(at)) if (at === loop) return true;
    return false;
  };
  for (let position = 1; position < dominator.length; position++) {
    let place = dominator[position] ?? 0;
    for (let loop = innermostLoop[place] ?? -1; loop >= 0 && !contains(loop, position); loop = around(loop)) {
      place = loop;
      isLoopExit[position] = 1;
    }
    followers[place]?.push(position);
  }
  return { followers, isLoopExit };
}

/** Two nodes run equally often when one dominates, the other post-dominates, and no loop holds only one of them. */
function equivalenceClasses(
  successors: readonly (readonly number[])[],
  dominator: Int32Array,
  innermostLoop: Int32Array,
  mayLeave: ReadonlySet<number>,
): { classOf: Int32Array; classCount: number } {
  const count = successors.length;
  const postdominates = postdominance(successors, mayLeave);
  const classOf = new Int32Array(count);
  let classCount = 1;
  for (let node = 1; node < count; node++) {
    let found = -1;
    // A node that does not post-dominate its dominator post-dominates nothing above it either.
    for (let above = node; above > 0 && found < 0;) {
      above = dominator[above] ?? 0;
      if (!postdominates(node, above)) break;
      if (innermostLoop[above] === innermostLoop[node]) found = above;
    }
    if (found >= 0) classOf[node] = classOf[found] ?? 0;
    else classOf[node] = classCount++;
  }
  return { classOf, classCount };
}

/** Post-dominance, with every way out joined in one exit; nodes that never get out post-dominate nothing. */
export function postdominance(
  successors: readonly (readonly number[])[],
  mayLeave: ReadonlySet<number>,
): (below: number, above: number) => boolean {
  const count = successors.length;
  const exits = successors.flatMap((list, node) => (list.length === 0 || mayLeave.has(node) ? [node] : []));
  const predecessors = invert(successors);
  // Number the reversed graph in its own reverse postorder: 0 is the joined exit.
  const order: number[] = [];
  const seen = new Uint8Array(count);
  const stack: { list: readonly number[]; next: number; node: number }[] = [
    { list: exits, next: 0, node: -1 },
  ];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const to = top.list[top.next];
    top.next += 1;
    if (to === undefined) {
      order.push(top.node);
      stack.pop();
    } else if (seen[to] === 0) {
      seen[to] = 1;
      stack.push({ list: predecessors[to] ?? [], next: 0, node: to });
    }
  }
  order.reverse();
  const numberOf = new Int32Array(count).fill(-1);
  order.forEach((node, number) => {
    if (node >= 0) numberOf[node] = number;
  });
  const isExit = new Set(exits);
  const reversed = order.map((node) => {
    if (node < 0) return [];
    const from = (successors[node] ?? []).map((next) => numberOf[next] ?? -1).filter((number) => number >= 0);
    return isExit.has(node) ? [0, ...from] : from;
  });
  const isAbove = ancestry(dominators(order.length, reversed));
  return (below, above) => {
    const low = numberOf[above] ?? -1;
    const high = numberOf[below] ?? -1;
    return low >= 0 && high >= 0 && isAbove(high, low);
  };
}

/** Tells in constant time whether one node of a tree is another's ancestor or itself; parents have smaller numbers. */
function ancestry(parent: Int32Array): (above: number, below: number) => boolean {
  const count = parent.length;
  const size = new Int32Array(count).fill(1);
  for (let node = count - 1; node > 0; node--)
    size[parent[node] ?? 0] = (size[parent[node] ?? 0] ?? 0) + (size[node] ?? 0);
  const first = new Int32Array(count);
  const next = new Int32Array(count).fill(1);
  for (let node = 1; node < count; node++) {
    const above = parent[node] ?? 0;
    first[node] = next[above] ?? 0;
    next[above] = (next[above] ?? 0) + (size[node] ?? 0);
    next[node] = (first[node] ?? 0) + 1;
  }
  return (above, below) => {
    const offset = (first[below] ?? 0) - (first[above] ?? 0);
    return offset >= 0 && offset < (size[above] ?? 0);
  };
}

/** Fewest instructions on a way from one node to another that follows forward edges only, both ends included. */
function shortestPath(
  from: number,
  to: number,
  successors: readonly (readonly number[])[],
  sizes: readonly number[],
): number {
  const distance = new Map<number, number>([[from, sizes[from] ?? 0]]);
  for (let at = from; at < to; at++) {
    const here = distance.get(at);
    if (here === undefined) continue;
    for (const next of successors[at] ?? []) {
      if (next <= at) continue;
      const through = here + (sizes[next] ?? 0);
      if (through < (distance.get(next) ?? Infinity)) distance.set(next, through);
    }
  }
  return Math.max(1, distance.get(to) ?? 1);
}
