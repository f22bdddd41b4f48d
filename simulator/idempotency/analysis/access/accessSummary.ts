import type { SummaryAccess } from '../../summary.js';
import type { FoundAccess } from '../execution/findings.js';
import type { Expression } from '../expressions/expression.js';
import { termsOf } from '../expressions/expression.js';
import { visit } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';
import { solverBounds, type SolverNotes } from '../../solver/index.js';
import { casesOf, type AccessCase } from './cases.js';
import { withLoadedIndices } from './loadedIndices.js';
import { Narrowing } from './narrowing.js';
import type { SummaryTables } from './summaryTables.js';

/** What a launch needs to know of an access, case by case. */
export function summarizeAccess(
  context: KernelContext,
  tables: SummaryTables,
  access: FoundAccess,
  solver: SolverNotes | undefined,
): readonly SummaryAccess[] {
  const conditions = access.path.since().filter((condition) => condition !== context.conditions.yes);
  const whole = new Narrowing(context, conditions, access.loops);
  const isOpen = (condition: Expression, where: readonly Expression[]): boolean => {
    const narrowing = where === conditions ? whole : new Narrowing(context, where, access.loops);
    const { expression, fits } = narrowing.apply(condition);
    // Whether a value from memory wraps no launch can tell.
    return expression.op !== 'constant' || fits.some(({ of }) => of.source !== undefined);
  };
  const bounded = whole.bounded(access.address);
  const cases = casesOf(context, access.address, conditions, isOpen);
  return cases.flatMap((each) => {
    const isWhole = each.address === access.address;
    const narrowing = isWhole ? whole : new Narrowing(context, each.conditions, access.loops);
    const narrowed = isWhole ? bounded : narrowing.bounded(each.address);
    // Within what holds of all cases.
    const within =
      narrowed === bounded ? bounded : context.table.make({ op: 'meet', a: narrowed, b: bounded });
    const indexed = withLoadedIndices(context, each);
    const byIndex = indexed && new Narrowing(context, indexed.conditions, access.loops);
    const another = indexed && byIndex ? byIndex.bounded(indexed.address) : within;
    const own = another === within ? within : context.table.make({ op: 'meet', a: within, b: another });
    const told = solver
      ? solverBounds(context, solver, { ...each, loops: access.loops }, own, (part) =>
          narrowing.bounded(part),
        )
      : own;
    if (told === 'never') return [];
    const all = [...narrowing.narrowed, ...(byIndex?.narrowed ?? [])];
    return [summarizeCase(context, tables, access, each, all, told)];
  });
}

/** One case: its address in terms of variables that its conditions have narrowed. */
function summarizeCase(
  context: KernelContext,
  tables: SummaryTables,
  { loops, line, instruction, kind, bytes }: FoundAccess,
  { address, conditions }: AccessCase,
  narrowed: readonly Expression[],
  bounded: Expression,
): SummaryAccess {
  const { source } = address;
  const unsure = conditions.find((condition) => condition.source !== undefined)?.source;
  return {
    line,
    instruction,
    kind,
    bytes,
    address: tables.node(bounded),
    exact: tables.node(address),
    conditions: unique(conditions.map((condition) => tables.node(condition))),
    narrowed: unique(narrowed.map((each) => tables.node(each))),
    variables: variablesOf(context, tables, [address, ...conditions, ...loops.map((loop) => loop.counter)]),
    bases: basesOf(address).map((base) => tables.node(base)),
    ...(source === undefined ? {} : { unknown: source }),
    ...(unsure === undefined ? {} : { conditionUnknown: { line: unsure.line, text: unsure.text } }),
  };
}

function unique(nodes: readonly number[]): number[] {
  return [...new Set(nodes)];
}

/** Pointers to whose value everything else in the address is added. */
function basesOf(address: Expression): Expression[] {
  return termsOf(address).flatMap(({ coefficient, factors }) => {
    const [factor] = factors;
    if (coefficient !== 1 || factors.length !== 1 || factor === undefined) return [];
    return (factor.op === 'argument' && factor.bytes === 8) || factor.op === 'symbol' ? [factor] : [];
  });
}

/** All variables inside, and those that the counts of their loops depend on. */
function variablesOf(
  context: KernelContext,
  tables: SummaryTables,
  expressions: readonly Expression[],
): number[] {
  const found = new Set<number>();
  const seen = new Set<Expression>();
  const work = [...expressions];
  for (let expression = work.pop(); expression !== undefined; expression = work.pop()) {
    visit(expression, (part) => {
      if (seen.has(part)) return false;
      seen.add(part);
      if (part.op === 'thread' || part.op === 'counter') {
        const node = tables.nodes[tables.node(part)];
        if (node?.op === 'variable') found.add(node.variable);
      }
      if (part.op === 'counter') {
        const count = context.loops[part.loop]?.count;
        if (count !== undefined) work.push(count);
      }
      return true;
    });
  }
  return [...found].sort((a, b) => a - b);
}
