import type { FlowGraph, FlowNode, SyncPoint } from './flowGraph.js';
import { analyseRegion, type RegionFlow } from './regionFlow.js';

/** A kernel's graph cut into regions: 0 starts at the kernel's entry, k + 1 behind sync point k. */
export interface RegionCuts {
  /** The graph with the points on edges behind those of its instructions. */
  readonly graph: FlowGraph;
  readonly flows: readonly RegionFlow[];
  /** The point at which a thread that goes back from one node to another may leave its region. */
  pointOf(from: number, to: number): SyncPoint | undefined;
}

/**
 * Finds the regions of a kernel, and with them the points on edges that go back: a region that starts inside a loop
 * may go round it from another node than the loop's header, so points and regions are found together.
 *
 * @param scopeOf how a thread leaves on an edge that goes back, if it does.
 */
export function cutRegions(
  graph: FlowGraph,
  scopeOf: (from: FlowNode, to: FlowNode) => 'spin' | 'quantum' | undefined,
): RegionCuts {
  const points = [...graph.syncPoints];
  const onEdge = new Map<string, SyncPoint>();
  const scopeBetween = (from: number, to: number): 'spin' | 'quantum' | undefined => {
    const [source, target] = [graph.nodes[from], graph.nodes[to]];
    return source === undefined || target === undefined ? undefined : scopeOf(source, target);
  };
  const flows: RegionFlow[] = [];
  for (let region = 0; region <= points.length; region++) {
    const entry = region === 0 ? graph.entry : (points[region - 1]?.resume ?? 0);
    const flow = analyseRegion(graph, entry, (from, to) => scopeBetween(from, to) !== undefined);
    flows.push(flow);
    for (const { from, to } of flow.backEdges) {
      const scope = scopeBetween(from, to);
      if (scope === undefined || onEdge.has(`${scope} ${to}`)) continue;
      const point: SyncPoint = {
        index: points.length,
        instruction: firstInstruction(graph, to),
        resume: to,
        scope,
        isOnEdge: true,
      };
      points.push(point);
      onEdge.set(`${scope} ${to}`, point);
    }
  }
  return {
    graph: { ...graph, syncPoints: points },
    flows,
    pointOf: (from, to) => onEdge.get(`${scopeBetween(from, to) ?? ''} ${to}`),
  };
}

function firstInstruction(graph: FlowGraph, index: number): number {
  const node = graph.nodes[index];
  if (node === undefined) return 0;
  const [first] = node.counted;
  if (first !== undefined) return first;
  return node.terminator.kind === 'jump' ? firstInstruction(graph, node.terminator.to) : node.terminator.at;
}
