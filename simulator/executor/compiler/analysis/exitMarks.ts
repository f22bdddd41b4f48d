import { successorsOf, type FlowGraph, type FlowNode } from './flowGraph.js';

/**
 * How a thread that has ended says which way it took. Early exits and the kernel's last statements often share one bare
 * return, so a node that leads to one marks the thread on its way there; other returns mark it themselves.
 */
export interface ExitMarks {
  /** Nodes that mark a thread before they may send it to a bare return. */
  readonly before: ReadonlySet<number>;
  /** Bare returns that every thread reaches with a mark. */
  readonly marked: ReadonlySet<number>;
}

export function exitMarks(graph: FlowGraph): ExitMarks {
  const marked = new Set<number>();
  const before = new Set<number>();
  if (!graph.syncPoints.some(({ scope }) => scope === 'block')) return { before, marked };
  const resumed = new Set([graph.entry, ...graph.syncPoints.map(({ resume }) => resume)]);
  for (const node of graph.nodes) if (isBareReturn(node) && !resumed.has(node.index)) marked.add(node.index);
  for (const node of graph.nodes) {
    if (successorsOf(node).some((to) => marked.has(to))) before.add(node.index);
  }
  return { before, marked };
}

/**
 * Whether a thread with the mark of a node has passed by a sync point: it came through code behind the point, with no
 * way back to it. Who went straight to a bare return, as an early exit does, has not.
 */
export function skipsPoint(graph: FlowGraph, point: number, mark: number): boolean {
  const node = graph.nodes[mark];
  const sync = graph.syncPoints[point];
  const at = graph.nodes.find(({ terminator }) => terminator.kind === 'sync' && terminator.point === point);
  if (node === undefined || sync === undefined || at === undefined || isBareReturn(node)) return false;
  return reaches(graph, sync.resume, mark) && !reaches(graph, mark, at.index);
}

function isBareReturn({ terminator, body }: FlowNode): boolean {
  return terminator.kind === 'exit' && body.length === 0;
}

/** Whether there is a way from one node to another, through waits too. */
function reaches(graph: FlowGraph, from: number, to: number): boolean {
  const seen = new Set<number>();
  const work = [from];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    if (at === to) return true;
    const node = graph.nodes[at];
    if (node === undefined || seen.has(at)) continue;
    seen.add(at);
    work.push(...successorsOf(node));
    if (node.terminator.kind === 'sync') work.push(node.terminator.resume);
  }
  return false;
}
