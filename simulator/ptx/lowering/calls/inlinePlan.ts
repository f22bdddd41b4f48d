import type { IrFunction } from '../../ir.js';
import { callsOf, type CallGraph } from './callGraph.js';

/** What linking adds for a call of a shared body. */
const INSTRUCTIONS_PER_SHARED_CALL = 12;
const INSTRUCTIONS_PER_BLOCK = 12;

/**
 * Functions that an entry reaches and that get one body for all their calls: the recursive ones, and where the whole
 * would exceed the budget those whose copies cost most. All others are copied to where they are called.
 */
export function sharedFunctions(entry: IrFunction, graph: CallGraph, budget: number): ReadonlySet<string> {
  const reached = reachedFunctions(entry, graph);
  const shared = new Set(reached.filter((fn) => graph.isRecursive(fn.name)).map((fn) => fn.name));
  for (;;) {
    const { total, copies, sizes } = expansion(entry, reached, shared, graph);
    if (total <= budget) return shared;
    let worst: string | undefined;
    let most = 0;
    for (const [name, count] of copies) {
      const saved = (count - 1) * (sizes.get(name) ?? 0);
      if (saved > most) [worst, most] = [name, saved];
    }
    if (worst === undefined) return shared;
    shared.add(worst);
  }
}

/** Functions that may run in an entry, each before those that call it, recursion apart. */
function reachedFunctions(entry: IrFunction, graph: CallGraph): IrFunction[] {
  const found: IrFunction[] = [];
  const seen = new Set<string>([entry.name]);
  const work = [{ fn: entry, callees: calleesOf(entry, graph), at: 0 }];
  for (let top = work.at(-1); top !== undefined; top = work.at(-1)) {
    const next = top.callees[top.at];
    top.at += 1;
    if (next === undefined) {
      if (top.fn !== entry) found.push(top.fn);
      work.pop();
    } else if (!seen.has(next.name)) {
      seen.add(next.name);
      work.push({ fn: next, callees: calleesOf(next, graph), at: 0 });
    }
  }
  return found;
}

function calleesOf(fn: IrFunction, graph: CallGraph): IrFunction[] {
  return callsOf(fn)
    .flatMap((call) => graph.calleesOf(call))
    .flatMap((name) => graph.find(name) ?? [])
    .filter((callee) => graph.refusalOf(callee) === undefined);
}

/** Executors keep counters for every block, so that many small blocks weigh more than their instructions. */
function ownSize(fn: IrFunction): number {
  return Math.max(fn.instructions.length, INSTRUCTIONS_PER_BLOCK * fn.blocks.length);
}

function expansion(
  entry: IrFunction,
  reached: readonly IrFunction[],
  shared: ReadonlySet<string>,
  graph: CallGraph,
): { total: number; copies: Map<string, number>; sizes: Map<string, number> } {
  const sizes = new Map<string, number>();
  const copies = new Map<string, number>();
  const sizeOf = (fn: IrFunction): number =>
    calleesOf(fn, graph).reduce(
      (sum, callee) =>
        sum + (shared.has(callee.name) ? INSTRUCTIONS_PER_SHARED_CALL : (sizes.get(callee.name) ?? 0)),
      ownSize(fn),
    );
  for (const fn of reached) sizes.set(fn.name, sizeOf(fn));
  const count = (fn: IrFunction, times: number): void => {
    for (const callee of calleesOf(fn, graph)) {
      if (!shared.has(callee.name)) copies.set(callee.name, (copies.get(callee.name) ?? 0) + times);
    }
  };
  count(entry, 1);
  // Callers come before what they call.
  for (const fn of [...reached].reverse()) count(fn, shared.has(fn.name) ? 1 : (copies.get(fn.name) ?? 0));
  const bodies = reached.filter((fn) => shared.has(fn.name));
  const total = bodies.reduce((sum, fn) => sum + (sizes.get(fn.name) ?? 0), sizeOf(entry));
  return { total, copies, sizes };
}
