import type { IrFunction, IrInstruction } from '../../ptx/index.js';

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
  | { readonly kind: 'exit'; readonly at: number }
  | { readonly kind: 'trap'; readonly at: number }
  /** The thread waits at sync point `point` and goes on at node `resume`. */
  | { readonly kind: 'sync'; readonly at: number; readonly point: number; readonly resume: number };

/** A piece of a basic block: blocks are cut at the instructions where threads meet. */
export interface FlowNode {
  readonly index: number;
  /** Instructions without the terminator's, in order. */
  readonly body: readonly number[];
  /** Instructions that count as issued here: the body and, unless another node counts it, the terminator's. */
  readonly counted: readonly number[];
  readonly terminator: Terminator;
}

export interface SyncPoint {
  readonly index: number;
  readonly instruction: number;
  readonly resume: number;
  /** `block`: all threads of the block meet; `warp`: lanes of a warp named by a mask, or those on the same path. */
  readonly scope: 'block' | 'warp';
}

export interface FlowGraph {
  readonly nodes: readonly FlowNode[];
  readonly entry: number;
  readonly syncPoints: readonly SyncPoint[];
}

const warpOpcodes = new Set(['shfl', 'vote', 'match', 'redux', 'activemask']);

/** Where an instruction makes threads meet, if it does. */
export function syncScope(instruction: IrInstruction): 'block' | 'warp' | undefined {
  if (warpOpcodes.has(instruction.opcode)) return 'warp';
  if (instruction.opcode === 'bar' || instruction.opcode === 'barrier') {
    return instruction.modifiers.includes('warp') ? 'warp' : 'block';
  }
  return undefined;
}

/** Cuts a function's basic blocks into nodes at its sync points. */
export function buildFlowGraph(fn: IrFunction): FlowGraph {
  return new GraphBuilder(fn).build();
}

class GraphBuilder {
  private readonly nodes: FlowNode[] = [];
  private readonly syncPoints: SyncPoint[] = [];
  /** First node of each basic block, known before the blocks are cut. */
  private readonly heads: number[];
  private next: number;

  constructor(private readonly fn: IrFunction) {
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
      this.nodes.push({ index, body, counted: [...body, ...counted], terminator });
    };
    for (let at = first; at <= last; at++) {
      const instruction = this.fn.instructions[at];
      if (instruction === undefined) continue;
      const scope = syncScope(instruction);
      if (scope === undefined && at < last) {
        body.push(at);
        continue;
      }
      if (scope === undefined) {
        this.closeBlock(instruction, block, at, body, close);
        return;
      }
      const resume = at < last ? this.fresh() : this.successor(block, 0);
      const point = this.syncPoints.length;
      this.syncPoints.push({ index: point, instruction: at, resume, scope });
      this.guarded(instruction, at, resume, close, { kind: 'sync', at, point, resume });
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
    switch (instruction.opcode) {
      case 'bra': {
        const to = this.successor(block, 0);
        const other = this.successor(block, guard === undefined ? 0 : 1);
        if (guard === undefined || to === other) close([at], { kind: 'jump', to });
        else close([at], { kind: 'branch', at, ...guard, then: to, else: other });
        return;
      }
      case 'ret':
      case 'exit':
        this.guarded(instruction, at, this.following(block), close, { kind: 'exit', at });
        return;
      case 'trap':
        this.guarded(instruction, at, this.following(block), close, { kind: 'trap', at });
        return;
      default:
        body.push(at);
        close([], { kind: 'jump', to: this.successor(block, 0) });
    }
  }

  /** Closes a node with a terminator that a guard may skip. */
  private guarded(
    instruction: IrInstruction,
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
    this.nodes.push({ index: taken, body: [], counted: [], terminator });
  }

  private head(block: number): number {
    return this.heads[block] ?? 0;
  }

  private successor(block: number, which: number): number {
    const successors = this.fn.blocks[block]?.successors ?? [];
    const target = successors[which] ?? successors[0];
    if (target === undefined) throw new RangeError(`block ${block} of ${this.fn.name} falls off the end`);
    return this.head(target);
  }

  private following(block: number): number | undefined {
    const next = this.fn.blocks[block]?.successors[0];
    return next === undefined ? undefined : this.head(next);
  }

  private fresh(): number {
    this.next += 1;
    return this.next - 1;
  }
}

/** Nodes that control may reach from a node without meeting a sync point. */
export function successorsOf(node: FlowNode): readonly number[] {
  switch (node.terminator.kind) {
    case 'jump':
      return [node.terminator.to];
    case 'branch':
      return [node.terminator.then, node.terminator.else];
    case 'exit':
    case 'trap':
    case 'sync':
      return [];
  }
}
