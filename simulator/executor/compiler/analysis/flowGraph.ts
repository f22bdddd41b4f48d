import { syncScope } from '../instructions/index.js';
import type { StepPlan } from '../inStep/index.js';
import { controlEffect, type IrFunction, type IrInstruction, isWait } from '../../../ptx/index.js';

/** How control leaves a node; `at` is the instruction that does it. */
export type Terminator =
  | { readonly kind: 'jump'; readonly to: number }
  | {
      readonly kind: 'branch';
      readonly at: number;
      readonly register: number;
      readonly negated: boolean;
      readonly then: number;
      readonly else: number;
    }
  /** `brx.idx`: to the target that the register counts to; there is none for an index outside. */
  | {
      readonly kind: 'switch';
      readonly at: number;
      readonly register: number;
      readonly targets: readonly number[];
    }
  | { readonly kind: 'exit'; readonly at: number }
  | { readonly kind: 'trap'; readonly at: number }
  /** The thread waits at sync point `point` and goes on at node `resume`. */
  | { readonly kind: 'sync'; readonly at: number; readonly point: number; readonly resume: number };

/** A piece of a basic block: blocks are cut at the instructions where threads meet. */
export interface FlowNode {
  readonly index: number;
  /** The basic block that it is a piece of. */
  readonly block: number;
  /** Instructions without the terminator's, in order. */
  readonly body: readonly number[];
  /** Instructions that count as issued here: the body and, unless another node counts it, the terminator's. */
  readonly counted: readonly number[];
  readonly terminator: Terminator;
}

export interface SyncPoint {
  readonly index: number;
  /** The instruction that waits, or the first one behind the point when none does. */
  readonly instruction: number;
  readonly resume: number;
  readonly scope: SyncScope;
  /** Between two instructions, on an edge back: `instruction` is the first one behind it and does nothing here. */
  readonly isOnEdge: boolean;
  /** Of `step` points behind a branch: the instruction at which lanes have parted. */
  readonly parts?: number | undefined;
  /** Of `step` points before a store in which lanes may overwrite one another: its bytes a lane. */
  readonly stores?: number | undefined;
}

/**
 * `block`: threads of the block meet at a barrier; `warp`: lanes of a warp named by a mask, or those on the same path;
 * `spin`: the thread waits for what others write, so that they have their turn before it looks again; `quantum`: the
 * block's fuel is used up; nobody is waited for at these two. `step`: lanes on the same path are together here, before what
 * shows whether they are.
 */
export type SyncScope = 'block' | 'warp' | 'spin' | 'quantum' | 'step';

/** Where control flow is cut besides: for lanes in step, and where threads wait on a way back that such cuts hide. */
export interface FlowCuts {
  readonly steps: StepPlan;
  /** Whether a thread waits for what others write when it goes from one block to another. */
  isSpin(from: number, to: number): boolean;
}

export interface FlowGraph {
  readonly nodes: readonly FlowNode[];
  readonly entry: number;
  readonly syncPoints: readonly SyncPoint[];
}

type Step = Pick<SyncPoint, 'parts' | 'stores'>;

/**
 * Cuts a function's basic blocks into nodes at its sync points.
 * @param yields whether a thread gives way to others at `nanosleep`.
 */
export function buildFlowGraph(fn: IrFunction, yields = false, cuts?: FlowCuts): FlowGraph {
  return new GraphBuilder(fn, yields, cuts).build();
}

class GraphBuilder {
  private readonly nodes: FlowNode[] = [];
  private readonly syncPoints: SyncPoint[] = [];
  /** First node of each basic block, known before the blocks are cut. */
  private readonly heads: number[];
  private next: number;

  constructor(
    private readonly fn: IrFunction,
    private readonly yields: boolean,
    private readonly cuts: FlowCuts | undefined,
  ) {
    this.heads = fn.blocks.map((_, index) => index);
    this.next = fn.blocks.length;
  }

  build(): FlowGraph {
    for (const block of this.fn.blocks) this.cut(block.index, block.first, block.last);
    this.nodes.sort((a, b) => a.index - b.index);
    return { nodes: this.nodes, entry: 0, syncPoints: this.syncPoints };
  }

  private cut(block: number, first: number, last: number): void {
    let index = this.head(block);
    let body: number[] = [];
    const close = (counted: readonly number[], terminator: Terminator): void => {
      this.nodes.push({ index, block, body, counted: [...body, ...counted], terminator });
    };
    for (let at = first; at <= last; at++) {
      const instruction = this.fn.instructions[at];
      if (instruction === undefined) continue;
      if (this.cuts?.steps.before.has(at) === true) {
        const resume = this.fresh();
        const point = this.addPoint(at, resume, 'step', { stores: this.cuts.steps.stores.get(at) });
        close([], { kind: 'sync', at, point, resume });
        index = resume;
        body = [];
      }
      const scope = this.scopeOf(instruction);
      if (scope === undefined && at < last) {
        body.push(at);
        continue;
      }
      if (scope === undefined) {
        this.closeBlock(instruction, block, at, body, close);
        return;
      }
      const resume = at < last ? this.fresh() : this.edge(block, at, this.target(block, 0));
      const point = this.syncPoints.length;
      this.syncPoints.push({ index: point, instruction: at, resume, scope, isOnEdge: false });
      this.guarded(instruction, block, at, resume, close, { kind: 'sync', at, point, resume });
      if (at === last) return;
      index = resume;
      body = [];
    }
  }

  private closeBlock(
    instruction: IrInstruction,
    block: number,
    at: number,
    body: number[],
    close: (counted: readonly number[], terminator: Terminator) => void,
  ): void {
    const guard = instruction.guard;
    switch (controlEffect(instruction.opcode)) {
      case 'branch': {
        const to = this.edge(block, at, this.target(block, 0));
        const second = this.target(block, guard === undefined ? 0 : 1);
        const other = second === this.target(block, 0) ? to : this.edge(block, at, second);
        if (guard === undefined || to === other) close([at], { kind: 'jump', to });
        else close([at], { kind: 'branch', at, ...guard, then: to, else: other });
        return;
      }
      case 'switch': {
        const [index] = instruction.sources;
        if (index?.kind !== 'register')
          throw new RangeError(`line ${instruction.line}: brx without a register`);
        const labels = instruction.sources.flatMap((each) => (each.kind === 'label' ? [each.block] : []));
        const edges = new Map([...new Set(labels)].map((to) => [to, this.edge(block, at, to)]));
        const targets = instruction.sources.flatMap((source) =>
          source.kind === 'label' ? [edges.get(source.block) ?? 0] : [],
        );
        const terminator: Terminator = { kind: 'switch', at, register: index.register, targets };
        const isSkipped = guard !== undefined && block + 1 < this.fn.blocks.length;
        const skipTo = isSkipped ? (edges.get(block + 1) ?? this.edge(block, at, block + 1)) : undefined;
        this.guarded(instruction, block, at, skipTo, close, terminator);
        return;
      }
      case 'return':
      case 'exit':
        this.guarded(instruction, block, at, this.following(block), close, { kind: 'exit', at });
        return;
      case 'trap':
      case 'breakpoint':
        this.guarded(instruction, block, at, this.following(block), close, { kind: 'trap', at });
        return;
      case undefined:
        body.push(at);
        close([], { kind: 'jump', to: this.edge(block, at, this.target(block, 0)) });
    }
  }

  /** Closes a node with a terminator that a guard may skip. */
  private guarded(
    instruction: IrInstruction,
    block: number,
    at: number,
    skipTo: number | undefined,
    close: (counted: readonly number[], terminator: Terminator) => void,
    terminator: Terminator,
  ): void {
    const guard = instruction.guard;
    if (guard === undefined || skipTo === undefined) {
      close([at], terminator);
      return;
    }
    const taken = this.fresh();
    close([at], { kind: 'branch', at, ...guard, then: taken, else: skipTo });
    this.nodes.push({ index: taken, block, body: [], counted: [], terminator });
  }

  private scopeOf(instruction: IrInstruction): SyncScope | undefined {
    return this.yields && isWait(instruction.opcode) ? 'spin' : syncScope(instruction);
  }

  private head(block: number): number {
    return this.heads[block] ?? 0;
  }

  private target(block: number, which: number): number {
    const successors = this.fn.blocks[block]?.successors ?? [];
    const target = successors[which] ?? successors[0];
    if (target === undefined) throw new RangeError(`block ${block} of ${this.fn.name} falls off the end`);
    return target;
  }

  /** Where an edge between blocks leads: to the head of its end, by the points that stand on it. @param at what takes it */
  private edge(block: number, at: number, to: number): number {
    const { cuts } = this;
    if (cuts === undefined) return this.head(to);
    const first = this.fn.blocks[to]?.first ?? 0;
    const target = this.fn.blocks[to];
    let next = this.head(to);
    if (cuts.isSpin(block, to)) next = this.gate(to, first, next, 'spin');
    if (target === undefined || !cuts.steps.parting.has(block) || cuts.steps.meeting[block] === to)
      return next;
    return this.gate(to, first, next, 'step', { parts: at });
  }

  /** A node that is nothing but a point before another node. */
  private gate(block: number, at: number, resume: number, scope: SyncScope, step: Step = {}): number {
    const index = this.fresh();
    const point = this.addPoint(at, resume, scope, step);
    this.nodes.push({ index, block, body: [], counted: [], terminator: { kind: 'sync', at, point, resume } });
    return index;
  }

  private addPoint(instruction: number, resume: number, scope: SyncScope, step: Step = {}): number {
    const index = this.syncPoints.length;
    this.syncPoints.push({ index, instruction, resume, scope, isOnEdge: true, ...step });
    return index;
  }

  /** Where a guarded instruction that ends a block lets pass: the block behind it. */
  private following(block: number): number | undefined {
    return block + 1 < this.fn.blocks.length ? this.head(block + 1) : undefined;
  }

  private fresh(): number {
    this.next += 1;
    return this.next - 1;
  }
}

/** The same end of a node with other targets; where a thread goes on after a wait stays. */
export function redirect(terminator: Terminator, through: (node: number) => number): Terminator {
  switch (terminator.kind) {
    case 'jump':
      return { ...terminator, to: through(terminator.to) };
    case 'branch':
      return { ...terminator, then: through(terminator.then), else: through(terminator.else) };
    case 'switch':
      return { ...terminator, targets: terminator.targets.map(through) };
    case 'exit':
    case 'trap':
    case 'sync':
      return terminator;
  }
}

/** Nodes that control may reach from a node without meeting a sync point. */
export function successorsOf(node: FlowNode): readonly number[] {
  switch (node.terminator.kind) {
    case 'jump':
      return [node.terminator.to];
    case 'branch':
      return [node.terminator.then, node.terminator.else];
    case 'switch':
      return [...new Set(node.terminator.targets)];
    case 'exit':
    case 'trap':
    case 'sync':
      return [];
  }
}
