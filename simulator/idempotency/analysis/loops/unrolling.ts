import type { NaturalLoop } from '../../../ptx/index.js';
import { Narrowing } from '../access/narrowing.js';
import type { OutgoingEdge } from '../execution/blockExecutor.js';
import type { Findings, FoundAccess } from '../execution/findings.js';
import type { Surroundings } from '../execution/memoryTransfer.js';
import type { RegionExecutor } from '../execution/regionExecutor.js';
import { mergeEdges, type Edge } from '../execution/threadState.js';
import { operandsOf, type Expression } from '../expressions/expression.js';
import { contains } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';

/** Iterations that are told one by one; a launch with more is refused (section 2.7). */
const MOST_COPIES = 32;
/** Over all unrolled loops of a kernel: where they are nested, the outer one's copies each hold the inner one's. */
export const COPIES_OF_KERNEL = 160;
/** Work that unrolling may make of a kernel, in what `ExpressionTable` counts: about a second. */
export const WORK_OF_UNROLLING = 700_000;
/** A launch judges each copy of an access by itself. */
const MOST_ACCESSES = 256;
/** Wider than this a value bounds nothing. */
const NARROW = 2 ** 31;

/** How far a kernel may be unrolled, and whether that is of use. */
export class Unrolling {
  /** A loop has accesses that only its iterations one by one would tell. */
  isWanted = false;
  /** A loop has been unrolled. */
  isDone = false;

  constructor(private copies: number) {}

  /** Takes one more copy of a loop's body, if one is left. */
  take(): boolean {
    return this.copies-- > 0;
  }
}

/** Whether an access is somewhere that only the number of the iteration would tell, by no rule. */
export function isLost(context: KernelContext, { address, path, loops }: FoundAccess): boolean {
  if (address.uniform || !contains(address, isIrregular)) return false;
  const conditions = path.since().filter((condition) => condition !== context.conditions.yes);
  const isEndless = loops.some(({ count }) => count === undefined);
  return isUnbounded(new Narrowing(context, conditions, loops).bounded(address), isEndless);
}

function isIrregular({ op, source }: Expression): boolean {
  return op === 'hull' || ((op === 'unknown' || op === 'counter') && source?.cause === 'PE');
}

function isUnbounded(part: Expression, isEndless: boolean, seen: Set<Expression> = new Set()): boolean {
  if (part.uniform || part.hi - part.lo < NARROW || seen.has(part)) return false;
  if (isIrregular(part)) return part.op !== 'hull' || isEndless;
  if (part.op === 'narrow' && part.least !== undefined && part.most !== undefined) return false;
  if (part.op === 'meet') {
    return isUnbounded(part.a, isEndless, new Set(seen)) && isUnbounded(part.b, isEndless, new Set(seen));
  }
  seen.add(part);
  return operandsOf(part).some((inner) => isUnbounded(inner, isEndless, seen));
}

/**
 * Runs a loop one iteration after another, each under the conditions that have let it begin, up to 32; that there are no
 * more becomes a condition of the launch.
 *
 * @returns undefined when no launch could tell whether there are more, or they are too many to tell
 */
export function unroll(
  region: RegionExecutor,
  loop: NaturalLoop,
  entry: Edge,
  surroundings: Surroundings & { readonly findings: Findings },
  unrolling: Unrolling,
): readonly OutgoingEdge[] | undefined {
  unrolling.isWanted = true;
  const { context } = region;
  const { findings } = surroundings;
  const live = region.liveInto(loop.header);
  const exits: OutgoingEdge[] = [];
  let edge: Edge = { path: entry.path, state: entry.state.copy() };
  for (let copy = 0; copy < MOST_COPIES; copy++) {
    if (findings.accesses.length > MOST_ACCESSES || !unrolling.take()) return undefined;
    const run = region.runIteration(loop, edge, surroundings);
    exits.push(...run.exits);
    const latch = run.latches.length === 0 ? undefined : mergeEdges(context, run.latches, live);
    const goesOn = latch?.path.since(edge.path) ?? [];
    if (latch === undefined || context.conditions.and(latch.path.since()) === context.conditions.no) {
      unrolling.isDone = true;
      return waysOut(region, entry, exits);
    }
    if (goesOn.length > 0 && !goesOn.some((condition) => isChecked(context, condition))) return undefined;
    edge = latch;
  }
  const goesOn = edge.path.since().filter((condition) => isChecked(context, condition));
  const condition = context.conditions.not(context.conditions.and(goesOn));
  if (condition === context.conditions.no) return undefined;
  const { line } =
    context.kernel.instructions[context.kernel.blocks[loop.header]?.first ?? 0] ?? context.kernel;
  const text = `a loop whose counter follows no rule goes on for more than ${MOST_COPIES} iterations`;
  if (condition !== context.conditions.yes) findings.conditions.push({ condition, line, text });
  unrolling.isDone = true;
  return waysOut(region, entry, exits);
}

/** Whether a launch can tell a condition, if only for all its threads together. */
function isChecked({ conditions }: KernelContext, condition: Expression): boolean {
  if (condition === conditions.yes || condition.source !== undefined || condition.tainted) return false;
  return !contains(condition, ({ op }) => /^(unknown|counter|hull|carried)$/.test(op));
}

/** Where all ways out lead to one place, whoever comes to the loop comes there. */
function waysOut(
  region: RegionExecutor,
  entry: Edge,
  exits: readonly OutgoingEdge[],
): readonly OutgoingEdge[] {
  const [first] = exits;
  if (first === undefined || exits.some(({ target }) => target !== first.target)) return exits;
  const live = first.target === undefined ? [] : region.liveInto(first.target);
  const { state } = mergeEdges(region.context, exits, live);
  return [{ target: first.target, path: entry.path, state }];
}
