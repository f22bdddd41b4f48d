import type { KernelSummary, SummaryNode } from '../summary.js';

/** Indices of the nodes that a node is made of. */
export function operandsOf(node: SummaryNode): readonly number[] {
  switch (node.op) {
    case 'constant':
    case 'argument':
    case 'dimension':
    case 'symbol':
    case 'variable':
    case 'unknown':
      return [];
    case 'scale':
    case 'power':
    case 'wrap':
    case 'not':
      return [node.of];
    case 'sum':
    case 'and':
    case 'or':
      return node.terms;
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
      return [node.a, node.b];
    case 'select':
      return [node.condition, node.a, node.b];
    case 'narrow':
      return [
        node.of,
        ...(node.lo === undefined ? [] : [node.lo]),
        ...(node.hi === undefined ? [] : [node.hi]),
      ];
    case 'assume':
      return [node.of, ...node.fits.map((fit) => fit.of)];
    case 'meet':
      return node.of;
    case 'hull':
      return [node.from, node.to];
  }
}

/** Of each node the variables that its value may depend on, those in trip counts included. */
export function variablesOfNodes({ nodes, variables }: KernelSummary): readonly ReadonlySet<number>[] {
  const found: Set<number>[] = [];
  nodes.forEach((node, index) => {
    const own = new Set<number>();
    for (const operand of operandsOf(node)) for (const each of found[operand] ?? []) own.add(each);
    if (node.op === 'variable') {
      own.add(node.variable);
      const variable = variables[node.variable];
      // Counts stand before the counters that they bound, so they are known here.
      if (variable?.kind === 'counter') for (const each of found[variable.count] ?? []) own.add(each);
    }
    found[index] = own;
  });
  return found;
}

/** Nodes whose value is one number known at launch, whatever the thread and the arguments, and never unknown. */
export function pointNodes({ nodes }: KernelSummary): readonly boolean[] {
  const isPoint: boolean[] = [];
  const isAboveZero = (index: number): boolean => {
    const node = nodes[index];
    return node?.op === 'dimension' || (node?.op === 'constant' && node.value > 0);
  };
  nodes.forEach((node, index) => {
    const isDivision = node.op === 'quotient' || node.op === 'remainder';
    isPoint[index] =
      !NEVER_POINTS.has(node.op) &&
      (!isDivision || isAboveZero(node.b)) &&
      operandsOf(node).every((operand) => isPoint[operand] === true);
  });
  return isPoint;
}

/** What differs between threads, and what may be unknown for arguments that nothing is wrong with. */
const NEVER_POINTS: ReadonlySet<SummaryNode['op']> = new Set([
  'variable',
  'unknown',
  'narrow',
  'hull',
  'meet',
  'exactQuotient',
  'assume',
  'power',
]);
