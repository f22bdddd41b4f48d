import { ValueGraph, type Node, type RegionInput } from './valueGraph.js';

/** Most operations of a region whose order is searched; longer ones are taken as they stand. */
const SEARCHED_OPS = 3000;

/** Registers that a region's values take at once, when the assembler orders it for speed as long as a budget lasts. */
export function regionPressure(input: RegionInput, budget: number): number {
  const graph = new ValueGraph(input, budget);
  if (graph.nodes.length > SEARCHED_OPS) return inOrder(graph);
  const forSpeed = listSchedule(graph, budget);
  if (forSpeed <= budget) return forSpeed;
  return Math.min(forSpeed, Math.max(inOrder(new ValueGraph(input, budget)), budget));
}

/** Registers more (or fewer) in use behind an operation than before it. */
function growth(node: Node): number {
  let change = 0;
  for (const value of node.uses) if (value.uses === 1) change -= value.width;
  for (const value of node.defs) if (value.uses > 0) change += value.width;
  return change;
}

function issue(node: Node, live: number): { live: number; peak: number } {
  const after = live + growth(node);
  for (const value of node.uses) value.uses--;
  return { live: after, peak: Math.max(after, live) + node.temps };
}

function inOrder({ nodes, start }: ValueGraph): number {
  let live = start;
  let most = start;
  for (const node of nodes) {
    const step = issue(node, live);
    live = step.live;
    most = Math.max(most, step.peak);
  }
  return most;
}

function listSchedule({ nodes, start }: ValueGraph, budget: number): number {
  const ready: number[] = [];
  nodes.forEach((node, index) => {
    if (node.waitsFor === 0) ready.push(index);
  });
  let live = start;
  let most = start;
  for (let cycle = 0; ready.length > 0; cycle++) {
    const at = choose(nodes, ready, live, budget, cycle);
    const index = ready[at] ?? 0;
    const node = nodes[index];
    ready[at] = ready[ready.length - 1] ?? 0;
    ready.pop();
    if (node === undefined) continue;
    cycle = Math.max(cycle, node.readyAt);
    const step = issue(node, live);
    live = step.live;
    most = Math.max(most, step.peak);
    for (const next of node.successors) {
      const successor = nodes[next];
      if (successor === undefined) continue;
      successor.readyAt = Math.max(successor.readyAt, cycle + node.latency);
      if (--successor.waitsFor === 0) ready.push(next);
    }
  }
  return most;
}

/** The ready operation to issue: the longest chain first while registers last, then what frees most. */
function choose(
  nodes: readonly Node[],
  ready: readonly number[],
  live: number,
  budget: number,
  cycle: number,
): number {
  let best = -1;
  let bestHeight = -1;
  let frugal = 0;
  let least = Infinity;
  let earliest = 0;
  let soonest = Infinity;
  for (let at = 0; at < ready.length; at++) {
    const index = ready[at] ?? 0;
    const node = nodes[index];
    if (node === undefined) continue;
    const grows = growth(node);
    if (live + grows + node.temps <= budget) {
      if (node.readyAt <= cycle) {
        if (node.height > bestHeight || (node.height === bestHeight && index < (ready[best] ?? 0))) {
          best = at;
          bestHeight = node.height;
        }
      } else if (node.readyAt < soonest || (node.readyAt === soonest && index < (ready[earliest] ?? 0))) {
        soonest = node.readyAt;
        earliest = at;
      }
    }
    if (grows < least || (grows === least && index < (ready[frugal] ?? 0))) {
      least = grows;
      frugal = at;
    }
  }
  if (best >= 0) return best;
  return soonest < Infinity ? earliest : frugal;
}
