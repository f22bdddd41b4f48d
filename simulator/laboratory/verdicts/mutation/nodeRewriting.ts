import type { KernelSummary, SummaryNode } from '../../../idempotency/index.js';

/** Adds a node to the new table and gives its index. */
export type AddNode = (node: SummaryNode) => number;

/**
 * Copies a summary, node by node: `visit` is given each node with its operands as they are numbered anew, and gives the index
 * of what takes its place.
 */
export function rewriteNodes(
  summary: KernelSummary,
  visit: (node: SummaryNode, add: AddNode) => number,
): KernelSummary {
  const nodes: SummaryNode[] = [];
  const places: number[] = [];
  const moved = (index: number): number => places[index] ?? index;
  const add: AddNode = (node) => nodes.push(node) - 1;
  for (const node of summary.nodes) places.push(visit(withOperands(node, moved), add));
  return {
    ...summary,
    nodes,
    variables: summary.variables.map((variable) =>
      variable.kind === 'counter' ? { ...variable, count: moved(variable.count) } : variable,
    ),
    conditions: summary.conditions.map((condition) => ({ ...condition, node: moved(condition.node) })),
    accesses: summary.accesses.map((access) => ({
      ...access,
      address: moved(access.address),
      exact: moved(access.exact),
      conditions: access.conditions.map(moved),
      narrowed: access.narrowed.map(moved),
      bases: access.bases.map(moved),
    })),
  };
}

/** A node plus a constant, as a node that is added behind it. */
export function shifted(of: number, constant: number, uniform: boolean, add: AddNode): number {
  return add({ op: 'sum', constant, terms: [of], uniform });
}

function withOperands(node: SummaryNode, moved: (index: number) => number): SummaryNode {
  switch (node.op) {
    case 'constant':
    case 'argument':
    case 'dimension':
    case 'symbol':
    case 'variable':
    case 'unknown':
      return node;
    case 'sum':
    case 'and':
    case 'or':
      return { ...node, terms: node.terms.map(moved) };
    case 'scale':
    case 'power':
    case 'wrap':
    case 'not':
      return { ...node, of: moved(node.of) };
    case 'product':
    case 'quotient':
    case 'exactQuotient':
    case 'remainder':
    case 'minimum':
    case 'maximum':
    case 'bits':
    case 'less':
    case 'lessEqual':
    case 'equal':
      return { ...node, a: moved(node.a), b: moved(node.b) };
    case 'select':
      return { ...node, condition: moved(node.condition), a: moved(node.a), b: moved(node.b) };
    case 'narrow':
      return {
        ...node,
        of: moved(node.of),
        ...(node.lo === undefined ? {} : { lo: moved(node.lo) }),
        ...(node.hi === undefined ? {} : { hi: moved(node.hi) }),
      };
    case 'assume':
      return {
        ...node,
        of: moved(node.of),
        fits: node.fits.map((fit) => ({ ...fit, of: moved(fit.of) })),
      };
    case 'meet':
      return { ...node, of: node.of.map(moved) };
    case 'hull':
      return { ...node, from: moved(node.from), to: moved(node.to) };
  }
}
