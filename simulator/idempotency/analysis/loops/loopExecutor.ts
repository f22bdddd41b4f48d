import type { NaturalLoop } from '../../../ptx/index.js';
import { writesMemory, writtenRegisters } from '../../../ptx/index.js';
import type { OutgoingEdge } from '../execution/blockExecutor.js';
import { Findings, type FoundLoop } from '../execution/findings.js';
import { LocalMemory } from '../execution/localMemory.js';
import type { Surroundings } from '../execution/memoryTransfer.js';
import type { Path } from '../execution/path.js';
import type { LoopExecutor, RegionExecutor } from '../execution/regionExecutor.js';
import { mergeEdges, type Edge, type ThreadState } from '../execution/threadState.js';
import type { Expression } from '../expressions/expression.js';
import { Rewriter } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';
import {
  IterationSolver,
  replaced,
  shifted,
  type CarriedRegister,
  type LoopNotes,
} from './iterationSolver.js';
import { isForeign, timesTrue } from './tripCount.js';
import { isLost, unroll, type Unrolling } from './unrolling.js';

/**
 * Runs a loop symbolically: once with its carried registers as symbols, to learn what an iteration makes of them, and once
 * with what they are at iteration k of so many. Its accesses are those of that one iteration. Where these depend on what
 * follows no rule, its iterations are run one by one instead, as far as the kernel may be unrolled.
 */
export function loopExecutor(unrolling: Unrolling): LoopExecutor {
  return (region, loop, entry, surroundings) => {
    const exploration = explore(region, loop, entry, surroundings);
    if (exploration === undefined) return region.runIteration(loop, entry, surroundings).exits;
    const run = new LoopRun(region, loop, entry, exploration);
    const { findings } = surroundings;
    if (findings === undefined) return run.execute(surroundings);
    const compacted = new Findings();
    const exits = run.execute({ ...surroundings, findings: compacted });
    const isCheckable = !exploration.notes.tainted;
    if (isCheckable && compacted.accesses.some((access) => isLost(region.context, access))) {
      const unrolled = new Findings();
      const ways = unroll(region, loop, entry, { ...surroundings, findings: unrolled }, unrolling);
      if (ways !== undefined) {
        findings.take(unrolled);
        return ways;
      }
    }
    findings.take(compacted);
    return exits;
  };
}

interface Exploration {
  readonly carried: readonly CarriedRegister[];
  readonly notes: LoopNotes;
  /** Conditions for a further iteration, in terms of the symbols. */
  readonly goingOn: readonly Expression[];
  readonly source: Expression['source'];
  readonly local: LocalMemory;
}

/**
 * @param tainted registers that two runs may see differently once an iteration is over: what it makes of them is explored again
 * @returns undefined when there is never a second iteration
 */
function explore(
  region: RegionExecutor,
  loop: NaturalLoop,
  entry: Edge,
  surroundings: Surroundings,
  tainted: ReadonlySet<number> = new Set(),
): Exploration | undefined {
  const { context } = region;
  const { table } = context;
  const { kernel } = context;
  const mark = table.nextId;
  const live = region.liveInto(loop.header);
  const written = new Set<number>();
  let storesLocal = false;
  for (const block of loop.blocks) {
    const { first = 0, last = -1 } = kernel.blocks[block] ?? {};
    for (const instruction of kernel.instructions.slice(first, last + 1)) {
      for (const register of writtenRegisters(instruction)) written.add(register);
      storesLocal ||= writesMemory(instruction.opcode);
    }
  }
  const local = storesLocal ? LocalMemory.empty() : entry.state.local;
  const state = entry.state.copy(local.copy());
  const symbols = live
    .filter((register) => written.has(register))
    .map((register) => {
      const initial = entry.state.get(register);
      const symbol = table.carried(register, tainted.has(register) || initial?.tainted !== false);
      state.set(register, symbol);
      return { register, symbol, initial };
    });
  const { latches, exits } = region.runIteration(
    loop,
    { path: entry.path, state },
    { ...surroundings, findings: undefined },
  );
  if (latches.length === 0) return undefined;
  const latch = mergeEdges(context, latches, live);
  const carried = symbols.map((each) => ({ ...each, next: latch.state.get(each.register) }));
  const later = carried.filter(({ symbol, next }) => !symbol.tainted && next?.tainted !== false);
  if (later.length > 0) {
    const known = new Set([...tainted, ...later.map(({ register }) => register)]);
    return explore(region, loop, entry, surroundings, known);
  }
  const goingOn = latch.path.since(entry.path);
  const all = [...goingOn, ...exits.flatMap((exit) => exit.path.since(entry.path))];
  const line = kernel.instructions[kernel.blocks[loop.header]?.first ?? 0]?.line ?? kernel.line;
  return {
    carried,
    notes: { line, mark, tainted: all.some((condition) => condition.tainted) },
    goingOn,
    source: all.find((condition) => condition.source !== undefined)?.source,
    local,
  };
}

class LoopRun {
  private readonly context: KernelContext;

  constructor(
    private readonly region: RegionExecutor,
    private readonly loop: NaturalLoop,
    private readonly entry: Edge,
    private readonly exploration: Exploration,
  ) {
    this.context = region.context;
  }

  execute(surroundings: Surroundings): readonly OutgoingEdge[] {
    const { table, arithmetic } = this.context;
    const { notes } = this.exploration;
    const draft = this.solve(table.counter(-1, [0, Infinity], { tainted: notes.tainted }));
    const most = draft.times === undefined ? Infinity : draft.times.hi;
    const number = this.context.loops.length;
    const counter = table.counter(number, [0, most], {
      tainted: notes.tainted,
      ...(draft.times === undefined ? { source: this.endlessSource() } : {}),
    });
    const solution = this.solve(counter);
    const found: FoundLoop = {
      counter,
      count: solution.times === undefined ? undefined : arithmetic.addConstant(solution.times, 1),
      line: notes.line,
    };
    this.context.loops.push(found);
    const state = this.entry.state.copy(this.exploration.local.copy());
    for (const { register, symbol } of this.exploration.carried) {
      state.set(register, solution.solver.valueOf(symbol));
    }
    let path = this.headerPath(solution, counter);
    if (notes.tainted) {
      const source = this.exploration.source ?? this.endlessSource();
      path = path.with(table.unknown([0, 1], { tainted: true, source }));
    }
    const { exits } = this.region.runIteration(
      this.loop,
      { path, state },
      { ...surroundings, loops: [...surroundings.loops, found] },
    );
    return this.leave(exits, counter, solution);
  }

  private endlessSource(): NonNullable<Expression['source']> {
    const { source, notes } = this.exploration;
    return { cause: source?.cause ?? 'PE', line: notes.line, text: 'a loop whose length no argument tells' };
  }

  private solve(counter: Expression): Solution {
    const { context } = this;
    const { carried, notes, goingOn } = this.exploration;
    const solver = new IterationSolver(context, counter, notes, carried);
    const at = solver.at();
    const tests = goingOn.map((condition) => at.rewrite(condition));
    const before = { mark: notes.mark, path: this.entry.path };
    const each = tests.map((condition) => timesTrue(context, condition, counter, before));
    const known = each.flatMap((times) => (times === undefined ? [] : [times]));
    const [first, ...others] = known;
    return {
      solver,
      tests,
      times: others.reduce((least, times) => least && context.arithmetic.minimum(least, times), first),
      isExact: known.length === tests.length && known.length > 0,
    };
  }

  /** What holds at the header in every iteration: a test that has let an iteration begin, if it would the first too. */
  private headerPath({ tests }: Solution, counter: Expression): Path {
    const { context, entry } = this;
    let { path } = entry;
    for (const test of tests) {
      if (test.op !== 'atMostZero' || isForeign(test, counter, this.exploration.notes.mark)) continue;
      const before = shifted(context, test, counter);
      const first = replaced(context, before, counter, context.table.constant(0));
      if (isImplied(context, entry.path, first)) path = path.with(before);
    }
    return path;
  }

  private leave(
    exits: readonly OutgoingEdge[],
    counter: Expression,
    { times, isExact }: Solution,
  ): readonly OutgoingEdge[] {
    const { context, entry } = this;
    const [only] = exits;
    if (exits.length === 1 && only !== undefined) {
      const isKnown = isExact && times !== undefined;
      const state = isKnown ? this.replacedState(only, counter, times) : only.state;
      return [{ target: only.target, path: entry.path, state }];
    }
    const { conditions, table } = context;
    const { tainted } = this.exploration.notes;
    let { path } = entry;
    return exits.map((exit, index) => {
      if (index === exits.length - 1) return { ...exit, path };
      const source = this.exploration.source ?? this.endlessSource();
      const isThis = table.unknown([0, 1], { tainted, source });
      const taken = path.with(isThis);
      path = path.with(conditions.not(isThis));
      return { ...exit, path: taken };
    });
  }

  private replacedState(exit: OutgoingEdge, counter: Expression, times: Expression): ThreadState {
    const { context } = this;
    if (exit.target === undefined) return exit.state;
    const rewriter = new Rewriter(context, (part) =>
      part === counter ? times : part.newest < counter.id ? part : undefined,
    );
    const state = exit.state.copy(exit.state.local.mapped((value) => rewriter.rewrite(value)));
    for (const register of this.region.liveInto(exit.target)) {
      const value = state.get(register);
      if (value !== undefined) state.set(register, rewriter.rewrite(value));
    }
    return state;
  }
}

interface Solution {
  readonly solver: IterationSolver;
  /** Conditions for a further iteration, at iteration k. */
  readonly tests: readonly Expression[];
  /** How often they hold; undefined when no argument tells. */
  readonly times: Expression | undefined;
  /** Whether `times` is exact where nothing else leaves the loop. */
  readonly isExact: boolean;
}

/** Whether a path's conditions hold the one asked for, or one of the same form that is stricter. */
function isImplied({ arithmetic, conditions }: KernelContext, path: Path, asked: Expression): boolean {
  if (asked === conditions.yes) return true;
  if (asked.op !== 'atMostZero') return false;
  return path.since().some((held) => {
    if (held.op !== 'atMostZero') return false;
    const excess = arithmetic.subtract(asked.of, held.of);
    return excess.op === 'constant' && excess.value <= 0;
  });
}
