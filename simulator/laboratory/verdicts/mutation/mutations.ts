import { isUpdate } from '../../../ptx/index.js';
import type { IrFunction } from '../../../ptx/index.js';
import type { KernelSummary, SummaryAccess, SummaryNode } from '../../../idempotency/index.js';
import { rewriteNodes, shifted, type AddNode } from './nodeRewriting.js';

/**
 * A mistake that a validator might make, made on purpose: it changes what analysis has found, and never an oracle. Oracles
 * that are worth something contradict the validator that comes of it.
 */
export interface Mutation {
  readonly name: string;
  /** The mistake in words. */
  readonly what: string;
  /** The summary with the mistake; the same object where there is no place for it. */
  readonly apply: (summary: KernelSummary, kernel: IrFunction) => KernelSummary;
}

type Visit = (node: SummaryNode, add: AddNode, summary: KernelSummary) => number;

/** Of a mistake in how one kind of node is read. */
function nodes(
  name: string,
  what: string,
  op: SummaryNode['op'] | readonly SummaryNode['op'][],
  visit: Visit,
): Mutation {
  const ops = new Set([op].flat());
  return {
    name,
    what,
    apply: (summary) =>
      summary.nodes.some((node) => ops.has(node.op))
        ? rewriteNodes(summary, (node, add) => (ops.has(node.op) ? visit(node, add, summary) : add(node)))
        : summary,
  };
}

/** Of a mistake in what is made of each access: undefined forgets it. */
function accesses(
  name: string,
  what: string,
  change: (
    access: SummaryAccess,
    index: number,
    summary: KernelSummary,
    kernel: IrFunction,
  ) => SummaryAccess | undefined,
): Mutation {
  return {
    name,
    what,
    apply: (summary, kernel) => {
      const kept = summary.accesses.map((access, index) => change(access, index, summary, kernel));
      if (kept.every((access, index) => access === summary.accesses[index])) return summary;
      return { ...summary, accesses: kept.filter((access) => access !== undefined) };
    },
  };
}

/** Thread variables whose name matches are 0. */
function withoutThreads(name: string, what: string, pattern: RegExp): Mutation {
  const matches = (node: SummaryNode, { variables }: KernelSummary): boolean => {
    const variable = node.op === 'variable' ? variables[node.variable] : undefined;
    return variable?.kind === 'thread' && pattern.test(variable.name);
  };
  return {
    name,
    what,
    apply: (summary) =>
      summary.nodes.some((node) => matches(node, summary))
        ? rewriteNodes(summary, (node, add) =>
            add(matches(node, summary) ? { op: 'constant', value: 0, uniform: true } : node),
          )
        : summary,
  };
}

/** Loops run so many iterations fewer. */
function shorterLoops(name: string, what: string, fewer: number): Mutation {
  return {
    name,
    what,
    apply: (summary) => {
      const counts = new Set(
        summary.variables.flatMap((variable) => (variable.kind === 'counter' ? [variable.count] : [])),
      );
      if (counts.size === 0) return summary;
      let index = -1;
      return rewriteNodes(summary, (node, add) => {
        index++;
        const same = add(node);
        return counts.has(index) ? shifted(same, -fewer, node.uniform, add) : same;
      });
    },
  };
}

const modifiersOf = (access: SummaryAccess, kernel: IrFunction): readonly string[] =>
  kernel.instructions[access.instruction]?.modifiers ?? [];

export const MUTATIONS: readonly Mutation[] = [
  accesses('dropLastBytes', 'an access ends at its first byte', (access) =>
    access.bytes === 1 ? access : { ...access, bytes: 1 },
  ),
  accesses(
    'ignoreLanes',
    'the lanes of a vector beyond the first are not counted',
    (access, _index, _summary, kernel) =>
      modifiersOf(access, kernel).some((each) => /^v[24]$/.test(each))
        ? { ...access, bytes: access.bytes / (modifiersOf(access, kernel).includes('v4') ? 4 : 2) }
        : access,
  ),
  nodes('narrowOneLess', 'a guard `<` is taken for one less', 'narrow', (node, add) =>
    node.op === 'narrow' && node.hi !== undefined
      ? add({ ...node, hi: shifted(node.hi, -1, false, add) })
      : add(node),
  ),
  nodes('narrowOneMore', 'a guard from below is taken for one more', 'narrow', (node, add) =>
    node.op === 'narrow' && node.lo !== undefined
      ? add({ ...node, lo: shifted(node.lo, 1, false, add) })
      : add(node),
  ),
  withoutThreads('ignoreY', 'the y dimension is forgotten', /\.y$/),
  withoutThreads('ignoreZ', 'the z dimension is forgotten', /\.z$/),
  withoutThreads('oneBlock', 'only the first block is counted', /^ctaid/),
  withoutThreads('oneThread', 'only the first thread of a block is counted', /^tid/),
  // Either alone is made good by the other.
  nodes(
    'skipNoWrap',
    '32-bit arithmetic is taken for exact, and that values fit their types is not checked',
    ['wrap', 'assume'],
    (node, add) => (node.op === 'wrap' || node.op === 'assume' ? node.of : add(node)),
  ),
  shorterLoops('lastIterationForgotten', 'the last iteration of a loop is not counted', 1),
  shorterLoops('twoIterationsForgotten', 'the last two iterations of a loop are not counted', 2),
  nodes(
    'firstIterationOnly',
    'a loop is taken for its first iteration',
    'variable',
    (node, add, { variables }) =>
      add(
        node.op === 'variable' && variables[node.variable]?.kind === 'counter'
          ? { op: 'constant', value: 0, uniform: true }
          : node,
      ),
  ),
  accesses('noReadOnlyLoads', '`ld.global.nc` is taken for no read', (access, _index, _summary, kernel) =>
    modifiersOf(access, kernel).includes('nc') ? undefined : access,
  ),
  accesses(
    'noPlainLoads',
    'loads that may be generic are taken for no read',
    (access, _index, _summary, kernel) =>
      access.kind === 'read' && !modifiersOf(access, kernel).includes('nc') ? undefined : access,
  ),
  accesses('unknownReadsNothing', 'an access at an unknown address is taken for none', (access) =>
    access.unknown === undefined ? access : undefined,
  ),
  accesses('unknownConditionFails', 'a condition on memory is taken for false', (access) =>
    access.conditionUnknown === undefined ? access : undefined,
  ),
  accesses(
    'otherGuard',
    'the guard of one access is taken for that of the next',
    (access, index, summary) => {
      const before = summary.accesses[index - 1];
      if (before === undefined || (before.narrowed.length === 0 && before.conditions.length === 0))
        return access;
      return {
        ...access,
        conditions: [...access.conditions, ...before.conditions],
        narrowed: [...access.narrowed, ...before.narrowed],
      };
    },
  ),
  accesses(
    'remainderForgotten',
    'of two loops over one buffer the second is forgotten',
    (access, index, summary) => {
      const loops = (each: SummaryAccess): boolean =>
        each.variables.some((variable) => summary.variables[variable]?.kind === 'counter');
      const earlier = summary.accesses
        .slice(0, index)
        .some((each) => loops(each) && each.kind === access.kind && each.bases[0] === access.bases[0]);
      return loops(access) && earlier ? undefined : access;
    },
  ),
  accesses(
    'lastStoreForgotten',
    'the last store of a kernel is forgotten',
    (access, index, { accesses: all }) =>
      index === all.map(({ kind }) => kind).lastIndexOf('write') ? undefined : access,
  ),
  accesses('constantAddress', 'an access is taken to stay at its base', (access) =>
    access.bases.length === 1 && access.address !== access.bases[0]
      ? { ...access, address: access.bases[0] ?? access.address }
      : access,
  ),
  nodes('dropOffsets', 'constant offsets are forgotten', 'sum', (node, add) =>
    add(node.op === 'sum' ? { ...node, constant: 0 } : node),
  ),
  nodes('positiveStrides', 'negative strides are taken for positive ones', 'scale', (node, add) =>
    add(node.op === 'scale' ? { ...node, factor: Math.abs(node.factor) } : node),
  ),
  nodes('bytesForElements', 'elements of four bytes are taken for single bytes', 'scale', (node, add) =>
    add(node.op === 'scale' && node.factor === 4 ? { ...node, factor: 1 } : node),
  ),
  nodes('shortRemainders', 'a remainder ends one before the divisor less one', 'remainder', (node, add) =>
    shifted(add(node), -1, node.uniform, add),
  ),
  nodes('swapExtremes', 'the lesser is taken for the greater', ['minimum', 'maximum'], (node, add) =>
    add(
      node.op === 'minimum'
        ? { ...node, op: 'maximum' }
        : node.op === 'maximum'
          ? { ...node, op: 'minimum' }
          : node,
    ),
  ),
  nodes('firstChoice', 'of two values the first is taken', 'select', (node, add) =>
    node.op === 'select' ? node.a : add(node),
  ),
  nodes('halfArguments', 'arguments of eight bytes are read as four', 'argument', (node, add) =>
    add(node.op === 'argument' && node.bytes === 8 ? { ...node, bytes: 4 } : node),
  ),
  nodes('swapDimensions', 'the extents of blocks in x and y are confused', 'dimension', (node, add) =>
    add(
      node.op === 'dimension' && (node.name === 'ntid.x' || node.name === 'ntid.y')
        ? { ...node, name: node.name === 'ntid.x' ? 'ntid.y' : 'ntid.x' }
        : node,
    ),
  ),
  {
    name: 'atomicsOnlyStore',
    what: 'an atomic is taken for a store',
    apply: (summary, kernel) => {
      const isAtomic = ({ instruction }: SummaryAccess): boolean =>
        isUpdate(kernel.instructions[instruction]?.opcode ?? '');
      if (!summary.isComplete || !summary.accesses.some(isAtomic)) return summary;
      const kept = summary.accesses.filter((access) => !isAtomic(access) || access.kind === 'write');
      return { ...summary, class: 'conditional', accesses: kept };
    },
  },
  {
    name: 'refusalsForgotten',
    what: 'what analysis refused (atomics, races for a value) is judged by its intervals alone',
    apply: (summary) =>
      summary.class === 'nonIdempotent' && summary.isComplete
        ? { ...summary, class: 'conditional' }
        : summary,
  },
];
