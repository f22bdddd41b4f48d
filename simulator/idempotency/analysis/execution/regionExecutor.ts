import type { Liveness, NaturalLoop } from '../../../ptx/index.js';
import { analyzeLiveness, analyzeLoops } from '../../../ptx/index.js';
import { AnalysisBudget } from '../expressions/expressionTable.js';
import type { KernelContext } from '../transfer/operands.js';
import { executeBlock, type OutgoingEdge } from './blockExecutor.js';
import type { Surroundings } from './memoryTransfer.js';
import { mergeEdges, type Edge } from './threadState.js';

/** What leads out of a region of the flow graph. */
export interface RegionResult {
  /** Back to the region's header. */
  readonly latches: readonly Edge[];
  /** To blocks outside, or to the end of the thread. */
  readonly exits: readonly OutgoingEdge[];
}

export type LoopExecutor = (
  region: RegionExecutor,
  loop: NaturalLoop,
  entry: Edge,
  surroundings: Surroundings,
) => readonly OutgoingEdge[];

const MOST_STEPS = 3_000_000;

/**
 * Runs blocks symbolically, each once, in an order in which all ways to a block are known before it runs; ways that meet are
 * merged. What happens in an inner loop is left to `executeLoop`.
 */
export class RegionExecutor {
  readonly liveness: Liveness;
  private readonly order: readonly number[];
  private readonly loopAt = new Map<number, NaturalLoop>();
  private steps = 0;

  /** @throws AnalysisBudget when the flow graph has a cycle that is no loop */
  constructor(
    readonly context: KernelContext,
    private readonly executeLoop: LoopExecutor,
  ) {
    const { kernel } = context;
    const { loops, isReducible } = analyzeLoops(kernel);
    if (!isReducible) throw new AnalysisBudget('the kernel has a cycle with several entries');
    for (const loop of loops) this.loopAt.set(loop.header, loop);
    this.liveness = analyzeLiveness(kernel);
    this.order = topologicalOrder(context);
  }

  liveInto(block: number): readonly number[] {
    return this.liveness.liveIn[block]?.members() ?? [];
  }

  /** Runs the whole kernel. */
  runKernel(entry: Edge, surroundings: Surroundings): void {
    const members = new Set(this.context.kernel.blocks.keys());
    this.run({ start: 0, header: -1 }, members, entry, surroundings);
  }

  /** Runs one iteration of a loop, whose blocks are `members`, from its header on. */
  runIteration(loop: NaturalLoop, entry: Edge, surroundings: Surroundings): RegionResult {
    const { header } = loop;
    return this.run({ start: header, header }, new Set(loop.blocks), entry, surroundings);
  }

  private run(
    { start, header }: { start: number; header: number },
    members: ReadonlySet<number>,
    entry: Edge,
    surroundings: Surroundings,
  ): RegionResult {
    const waiting = new Map<number, Edge[]>([[start, [entry]]]);
    const latches: Edge[] = [];
    const exits: OutgoingEdge[] = [];
    for (const block of this.order) {
      const edges = waiting.get(block);
      if (edges === undefined || !members.has(block)) continue;
      waiting.delete(block);
      for (const edge of this.runNode(block, header, edges, surroundings)) {
        const { target } = edge;
        if (target === header) latches.push(edge);
        else if (target === undefined || !members.has(target)) exits.push(edge);
        else {
          const before = waiting.get(target);
          if (before === undefined) waiting.set(target, [edge]);
          else before.push(edge);
        }
      }
    }
    return { latches, exits };
  }

  private runNode(
    block: number,
    header: number,
    edges: readonly Edge[],
    surroundings: Surroundings,
  ): readonly OutgoingEdge[] {
    const entry = mergeEdges(this.context, edges, this.liveInto(block));
    const loop = this.loopAt.get(block);
    if (loop !== undefined && block !== header) return this.executeLoop(this, loop, entry, surroundings);
    const node = this.context.kernel.blocks[block];
    if (node === undefined) return [];
    this.steps += node.last - node.first + 1;
    if (this.steps > MOST_STEPS) throw new AnalysisBudget('the kernel takes too many steps to analyse');
    return executeBlock(this.context, node, entry, surroundings);
  }
}

/** Blocks so that each comes behind all that lead to it, back edges apart. */
function topologicalOrder({ kernel }: KernelContext): number[] {
  const order: number[] = [];
  const seen = new Set<number>([0]);
  const stack: { block: number; edge: number }[] = [{ block: 0, edge: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = kernel.blocks[top.block]?.successors[top.edge++];
    if (next === undefined) {
      order.push(top.block);
      stack.pop();
    } else if (!seen.has(next)) {
      seen.add(next);
      stack.push({ block: next, edge: 0 });
    }
  }
  return order.reverse();
}
