import { readRegisters, writtenRegisters, type IrFunction } from '../../ptx/index.js';
import { successorsOf, type FlowGraph, type FlowNode } from './flowGraph.js';

/** Sets of registers as bit rows. */
export class RegisterSet {
  private readonly words: Uint32Array;

  constructor(private readonly registers: number) {
    this.words = new Uint32Array((registers + 31) >>> 5);
  }

  add(register: number): void {
    this.words[register >>> 5] = (this.words[register >>> 5] ?? 0) | (1 << (register & 31));
  }

  delete(register: number): void {
    this.words[register >>> 5] = (this.words[register >>> 5] ?? 0) & ~(1 << (register & 31));
  }

  has(register: number): boolean {
    return (((this.words[register >>> 5] ?? 0) >>> (register & 31)) & 1) === 1;
  }

  /** @returns whether anything was new. */
  addAll(other: RegisterSet): boolean {
    let changed = 0;
    for (let index = 0; index < this.words.length; index++) {
      const before = this.words[index] ?? 0;
      const after = before | (other.words[index] ?? 0);
      changed |= before ^ after;
      this.words[index] = after;
    }
    return changed !== 0;
  }

  copy(): RegisterSet {
    const copy = new RegisterSet(this.registers);
    copy.words.set(this.words);
    return copy;
  }

  members(): number[] {
    const found: number[] = [];
    this.words.forEach((word, index) => {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        found.push(index * 32 + (31 - Math.clz32(rest & -rest)));
      }
    });
    return found;
  }
}

export interface NodeLiveness {
  /** Registers read at or after the start of each node before they are written. */
  readonly liveIn: readonly RegisterSet[];
  /** Registers that a thread must keep while it waits at each sync point: live behind it, or read by the exchange. */
  readonly atSync: readonly RegisterSet[];
}

/** Backward data flow over the nodes, through sync points. */
export function computeLiveness(fn: IrFunction, graph: FlowGraph): NodeLiveness {
  const liveIn = graph.nodes.map(() => new RegisterSet(fn.registers.length));
  const atSync = graph.syncPoints.map(() => new RegisterSet(fn.registers.length));
  let changed = true;
  while (changed) {
    changed = false;
    for (let index = graph.nodes.length - 1; index >= 0; index--) {
      const node = graph.nodes[index];
      const known = liveIn[index];
      if (node !== undefined && known !== undefined && known.addAll(before(fn, graph, node, liveIn, atSync)))
        changed = true;
    }
  }
  for (const point of graph.syncPoints) {
    const behind = liveIn[point.resume];
    if (point.isOnEdge && behind !== undefined) atSync[point.index]?.addAll(behind);
  }
  return { liveIn, atSync };
}

function before(
  fn: IrFunction,
  graph: FlowGraph,
  node: FlowNode,
  liveIn: readonly RegisterSet[],
  atSync: readonly RegisterSet[],
): RegisterSet {
  const live = new RegisterSet(fn.registers.length);
  const terminator = node.terminator;
  if (terminator.kind === 'sync') {
    const isOnEdge = graph.syncPoints[terminator.point]?.isOnEdge === true;
    const behind = liveIn[terminator.resume];
    if (behind !== undefined) live.addAll(behind);
    const instruction = isOnEdge ? undefined : fn.instructions[terminator.at];
    if (instruction !== undefined) {
      for (const register of writtenRegisters(instruction)) live.delete(register);
      for (const register of readRegisters(instruction)) live.add(register);
    }
    atSync[terminator.point]?.addAll(live);
  }
  for (const successor of successorsOf(node)) {
    const next = liveIn[successor];
    if (next !== undefined) live.addAll(next);
  }
  if (terminator.kind === 'branch' || terminator.kind === 'switch') live.add(terminator.register);
  for (let index = node.body.length - 1; index >= 0; index--) {
    const instruction = fn.instructions[node.body[index] ?? -1];
    if (instruction === undefined) continue;
    if (instruction.guard === undefined) {
      for (const register of writtenRegisters(instruction)) live.delete(register);
    }
    for (const register of readRegisters(instruction)) live.add(register);
  }
  return live;
}
