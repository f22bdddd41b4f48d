import { redirect, type FlowGraph, type FlowNode, type SyncPoint } from './flowGraph.js';
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
 * Nodes that all regions together may have. Regions overlap, since each holds what can be reached from its start: a kernel of
 * very many loops is cut at their headers instead.
 */
const MOST_NODES = 4000;

/**
 * Cuts a kernel into regions.
 *
 * @param scopeOf how a thread leaves on an edge that goes back, if it does.
 */
export function cutRegions(
  graph: FlowGraph,
  scopeOf: (from: FlowNode, to: FlowNode) => 'spin' | 'quantum' | undefined,
  mostNodes = MOST_NODES,
): RegionCuts {
  const cuts = cutOnEdges(graph, scopeOf, mostNodes);
  return cuts.isWhole ? cuts : cutOnEdges(cutAtHeaders(cuts.graph, graph), scopeOf, Infinity);
}

/**
 * Finds the regions of a kernel, and with them the points on edges that go back: a region that starts inside a loop
 * may go round it from another node than the loop's header, so points and regions are found together.
 *
 * @param mostNodes where to stop; what has been found by then is not whole.
 */
function cutOnEdges(
  graph: FlowGraph,
  scopeOf: (from: FlowNode, to: FlowNode) => 'spin' | 'quantum' | undefined,
  mostNodes: number,
): RegionCuts & { readonly isWhole: boolean } {
  let nodes = 0;
  const points = [...graph.syncPoints];
  const onEdge = new Map<string, SyncPoint>();
  const scopeBetween = (from: number, to: number): 'spin' | 'quantum' | undefined => {
    const [source, target] = [graph.nodes[from], graph.nodes[to]];
    return source === undefined || target === undefined ? undefined : scopeOf(source, target);
  };
  const flows: RegionFlow[] = [];
  for (let region = 0; region <= points.length && nodes <= mostNodes; region++) {
    const entry = region === 0 ? graph.entry : (points[region - 1]?.resume ?? 0);
    const flow = analyseRegion(graph, entry, (from, to) => scopeBetween(from, to) !== undefined);
    flows.push(flow);
    nodes += flow.nodes.length;
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
    isWhole: nodes <= mostNodes,
    pointOf: (from, to) => onEdge.get(`${scopeBetween(from, to) ?? ''} ${to}`),
  };
}

/** Puts a sync point before every node at which a thread may leave on an edge: then each edge to it leads there. */
function cutAtHeaders(found: FlowGraph, graph: FlowGraph): FlowGraph {
  const syncPoints = [...graph.syncPoints];
  const gates: FlowNode[] = [];
  const gateOf = new Map<number, number>();
  for (const point of found.syncPoints.slice(graph.syncPoints.length)) {
    const { resume, instruction } = point;
    const known = gateOf.get(resume);
    if (known !== undefined) {
      // A loop in which threads wait is left as one, whatever other loop begins there.
      const at = syncPoints.findIndex(
        (each, place) => place >= graph.syncPoints.length && each.resume === resume,
      );
      const first = syncPoints[at];
      if (point.scope === 'spin' && first !== undefined) syncPoints[at] = { ...first, scope: 'spin' };
      continue;
    }
    const index = graph.nodes.length + gates.length;
    gateOf.set(resume, index);
    gates.push({
      index,
      block: graph.nodes[resume]?.block ?? 0,
      body: [],
      counted: [],
      terminator: { kind: 'sync', at: instruction, point: syncPoints.length, resume },
    });
    syncPoints.push({ ...point, index: syncPoints.length });
  }
  const through = (node: number): number => gateOf.get(node) ?? node;
  const nodes = graph.nodes.map((node): FlowNode => {
    const terminator = redirect(node.terminator, through);
    if (terminator.kind !== 'sync') return { ...node, terminator };
    return { ...node, terminator: { ...terminator, resume: through(terminator.resume) } };
  });
  return {
    nodes: [...nodes, ...gates],
    entry: through(graph.entry),
    syncPoints: syncPoints.map((point) =>
      point.isOnEdge ? point : { ...point, resume: through(point.resume) },
    ),
  };
}

function firstInstruction(graph: FlowGraph, index: number): number {
  const node = graph.nodes[index];
  if (node === undefined) return 0;
  const [first] = node.counted;
  if (first !== undefined) return first;
  return node.terminator.kind === 'jump' ? firstInstruction(graph, node.terminator.to) : node.terminator.at;
}
