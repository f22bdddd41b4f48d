import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import type { FlowGraph, FlowNode, Terminator, RegionFlow } from '../analysis/index.js';

/** What a control-flow emitter needs from whoever writes the nodes. */
export interface NodeEmitter {
  /** The node's instructions, without its terminator. */
  emitBody(node: FlowNode, position: number): void;
  /** Leaves 1 on the stack when the branch is taken. */
  emitCondition(register: number, negated: boolean): void;
  /** Ends the thread's turn: control does not come back. */
  emitLeave(node: FlowNode, terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>): void;
  /**
   * Spends fuel for going round a loop again, to node `header`; without a header the edge may be any, and only spends.
   */
  emitBackEdge(node: FlowNode, cost: number, header?: number): void;
  /** Leaves the index that a switch goes by. */
  emitIndex(register: number): void;
  /** Ends the thread at a switch whose index names no target. */
  emitNoTarget(at: number): void;
}

/**
 * Writes a region's graph as WebAssembly. Reducible graphs become nested blocks and loops by the dominator tree (Ramsey,
 * "Beyond Relooper", 2022); others a loop around a jump table.
 */
export function emitControlFlow(
  fn: FunctionBuilder,
  graph: FlowGraph,
  flow: RegionFlow,
  emitter: NodeEmitter,
): void {
  if (flow.isReducible) new StructuredEmitter(fn, graph, flow, emitter).emitTree(0);
  else emitDispatch(fn, graph, flow, emitter);
}

class StructuredEmitter {
  private readonly labels = new Map<number, Label>();

  constructor(
    private readonly fn: FunctionBuilder,
    private readonly graph: FlowGraph,
    private readonly flow: RegionFlow,
    private readonly emitter: NodeEmitter,
  ) {}

  /** The node and everything that is written behind it. Long rows of followers take no stack. */
  emitTree(position: number): void {
    let next: number | undefined = position;
    while (next !== undefined) next = this.emitUpToLast(next);
  }

  /** @returns the last follower, which is yet to be written. */
  private emitUpToLast(position: number): number | undefined {
    const followers = this.flow.followers[position] ?? [];
    const merges = followers.filter(
      (child) => this.flow.isMerge[child] === 1 && this.flow.isLoopExit[child] === 0,
    );
    if (this.flow.isLoopHeader[position] === 0) {
      this.openBlocks(merges);
      const inside = this.emitNode(position);
      if (merges.length === 0) return inside;
      if (inside !== undefined) this.emitTree(inside);
      return this.closeBlocks(merges);
    }
    const exits = followers.filter((child) => this.flow.isLoopExit[child] === 1);
    this.openBlocks(exits);
    this.labels.set(position, this.fn.loop());
    this.openBlocks(merges);
    const inside = this.emitNode(position);
    if (inside !== undefined) this.emitTree(inside);
    const last = this.closeBlocks(merges);
    if (last !== undefined) this.emitTree(last);
    this.fn.end();
    return this.closeBlocks(exits);
  }

  /** One block for each follower. Positions ascend in reverse postorder: the last follower's block is the outermost. */
  private openBlocks(followers: readonly number[]): void {
    for (let index = followers.length - 1; index >= 0; index--) {
      this.labels.set(this.blockKey(followers[index] ?? 0), this.fn.block());
    }
  }

  /** Ends each follower's block and writes it there. @returns the last one, whose block is ended but which is not written. */
  private closeBlocks(followers: readonly number[]): number | undefined {
    followers.forEach((follower, index) => {
      this.fn.end();
      if (index < followers.length - 1) this.emitTree(follower);
    });
    return followers.at(-1);
  }

  /** @returns the node to be written next, when control falls into one that only this node leads to. */
  private emitNode(position: number): number | undefined {
    const node = this.graph.nodes[this.flow.nodes[position] ?? 0];
    if (node === undefined) return undefined;
    this.emitter.emitBody(node, position);
    const terminator = node.terminator;
    switch (terminator.kind) {
      case 'jump':
        return this.emitEdge(node, position, this.positionOf(terminator.to));
      case 'branch': {
        const then = this.positionOf(terminator.then);
        const other = this.positionOf(terminator.else);
        if (then === other) {
          return this.emitEdge(node, position, then);
        }
        this.emitter.emitCondition(terminator.register, terminator.negated);
        if (this.isPlainBranch(position, then)) {
          this.fn.brIf(this.labelOf(position, then));
          return this.emitEdge(node, position, other);
        }
        this.fn.if();
        const taken = this.emitEdge(node, position, then);
        if (taken !== undefined) this.emitTree(taken);
        this.fn.end();
        return this.emitEdge(node, position, other);
      }
      case 'switch':
        emitSwitch(this.fn, this.emitter, terminator, (target) => {
          const taken = this.emitEdge(node, position, this.positionOf(target));
          if (taken !== undefined) this.emitTree(taken);
        });
        return undefined;
      case 'exit':
      case 'trap':
      case 'sync':
        this.emitter.emitLeave(node, terminator);
        return undefined;
    }
  }

  private emitEdge(node: FlowNode, from: number, to: number): number | undefined {
    if (to <= from) {
      this.emitter.emitBackEdge(node, this.flow.backEdgeCost(from, to), this.flow.nodes[to]);
    }
    if (to > from && !this.isFollower(to)) return to;
    this.fn.br(this.labelOf(from, to));
    return undefined;
  }

  private isFollower(position: number): boolean {
    return this.flow.isMerge[position] === 1 || this.flow.isLoopExit[position] === 1;
  }

  /** A forward branch to a follower needs nothing but the branch. */
  private isPlainBranch(from: number, to: number): boolean {
    return to > from && this.isFollower(to);
  }

  private labelOf(from: number, to: number): Label {
    const label = this.labels.get(to <= from ? to : this.blockKey(to));
    if (label === undefined) throw new RangeError(`no label from ${from} to ${to}`);
    return label;
  }

  /** A node may be both a loop header (branched back to) and a merge (branched forward to). */
  private blockKey(position: number): number {
    return -1 - position;
  }

  private positionOf(node: number): number {
    return this.flow.positionOf.get(node) ?? 0;
  }
}

/** A block for each target, entered by a table; `emitTarget` never lets control fall through. */
function emitSwitch(
  fn: FunctionBuilder,
  emitter: NodeEmitter,
  terminator: Extract<Terminator, { kind: 'switch' }>,
  emitTarget: (target: number) => void,
): void {
  const distinct = [...new Set(terminator.targets)];
  const none = fn.block();
  const labels = new Map<number, Label>();
  for (const target of [...distinct].reverse()) labels.set(target, fn.block());
  emitter.emitIndex(terminator.register);
  fn.brTable([...terminator.targets.map((target) => labels.get(target) ?? none), none]);
  for (const target of distinct) {
    fn.end();
    emitTarget(target);
  }
  fn.end();
  emitter.emitNoTarget(terminator.at);
}

function emitDispatch(fn: FunctionBuilder, graph: FlowGraph, flow: RegionFlow, emitter: NodeEmitter): void {
  const state = fn.local('i32');
  fn.i32(0).set(state);
  const again = fn.loop();
  const labels: Label[] = [];
  for (let position = flow.nodes.length - 1; position >= 0; position--) labels[position] = fn.block();
  fn.get(state).brTable(labels);
  flow.nodes.forEach((index, position) => {
    fn.end();
    const node = graph.nodes[index];
    if (node === undefined) return;
    emitter.emitBody(node, position);
    // Any edge may close a loop here, so each spends what its node cost.
    const cost = Math.max(1, node.counted.length);
    const goTo = (target: number): void => {
      const to = flow.positionOf.get(target) ?? 0;
      emitter.emitBackEdge(node, cost, to <= position ? target : undefined);
      fn.i32(to).set(state).br(again);
    };
    emitTerminator(fn, emitter, node, goTo);
  });
  fn.end();
}

/** The end of a node whose edges `goTo` writes; control never falls through one. */
export function emitTerminator(
  fn: FunctionBuilder,
  emitter: NodeEmitter,
  node: FlowNode,
  goTo: (target: number) => void,
): void {
  const { terminator } = node;
  switch (terminator.kind) {
    case 'exit':
    case 'trap':
    case 'sync':
      emitter.emitLeave(node, terminator);
      return;
    case 'jump':
      goTo(terminator.to);
      return;
    case 'branch':
      emitter.emitCondition(terminator.register, terminator.negated);
      fn.if();
      goTo(terminator.then);
      fn.end();
      goTo(terminator.else);
      return;
    case 'switch':
      emitSwitch(fn, emitter, terminator, goTo);
  }
}
