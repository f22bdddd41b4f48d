import { readRegisters, writtenRegisters, type IrFunction, type IrInstruction } from '../../../ptx/index.js';
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

  /** Adds what another set has beyond a third. @returns whether anything was new. */
  addWithout(other: RegisterSet, without: RegisterSet): boolean {
    let changed = 0;
    for (let index = 0; index < this.words.length; index++) {
      const before = this.words[index] ?? 0;
      const after = (before | ((other.words[index] ?? 0) & ~(without.words[index] ?? 0))) >>> 0;
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
  const kept = graph.nodes.map((node, index) => readFirst(fn, graph, node, liveIn[index]));
  const behind = graph.nodes.map((node) =>
    node.terminator.kind === 'sync' ? [node.terminator.resume] : successorsOf(node),
  );
  const before = graph.nodes.map((): number[] => []);
  behind.forEach((list, index) => {
    for (const next of list) before[next]?.push(index);
  });
  const work = graph.nodes.map((_, index) => index);
  const isQueued = new Uint8Array(graph.nodes.length).fill(1);
  for (let index = work.pop(); index !== undefined; index = work.pop()) {
    isQueued[index] = 0;
    const [live, overwritten] = [liveIn[index], kept[index]];
    if (live === undefined || overwritten === undefined) continue;
    let changed = overwritten.isNew;
    overwritten.isNew = false;
    for (const next of behind[index] ?? []) {
      const ahead = liveIn[next];
      if (ahead !== undefined && live.addWithout(ahead, overwritten.registers)) changed = true;
    }
    if (!changed) continue;
    for (const each of before[index] ?? []) {
      if (isQueued[each] === 1) continue;
      isQueued[each] = 1;
      work.push(each);
    }
  }
  return { liveIn, atSync: liveAtPoints(fn, graph, liveIn) };
}

/** What a node writes before anything behind it can read it. */
interface Overwritten {
  readonly registers: RegisterSet;
  /** Nothing has been told of what the node itself reads. */
  isNew: boolean;
}

/** Adds to `reads` what a node reads before it writes it. */
function readFirst(
  fn: IrFunction,
  graph: FlowGraph,
  { terminator, body }: FlowNode,
  reads = new RegisterSet(fn.registers.length),
): Overwritten {
  const registers = new RegisterSet(fn.registers.length);
  const step = (instruction: IrInstruction, isSkippable: boolean): void => {
    if (!isSkippable) {
      for (const register of writtenRegisters(instruction)) {
        registers.add(register);
        reads.delete(register);
      }
    }
    for (const register of readRegisters(instruction)) reads.add(register);
  };
  if (terminator.kind === 'sync') {
    const waiting = waitingInstruction(fn, graph, terminator);
    if (waiting !== undefined) step(waiting, false);
  }
  if (terminator.kind === 'branch' || terminator.kind === 'switch') reads.add(terminator.register);
  for (let index = body.length - 1; index >= 0; index--) {
    const instruction = fn.instructions[body[index] ?? -1];
    if (instruction !== undefined) step(instruction, instruction.guard !== undefined);
  }
  return { registers, isNew: true };
}

function liveAtPoints(fn: IrFunction, graph: FlowGraph, liveIn: readonly RegisterSet[]): RegisterSet[] {
  const atSync = graph.syncPoints.map(() => new RegisterSet(fn.registers.length));
  for (const { terminator } of graph.nodes) {
    if (terminator.kind !== 'sync') continue;
    const live = liveIn[terminator.resume]?.copy() ?? new RegisterSet(fn.registers.length);
    const waiting = waitingInstruction(fn, graph, terminator);
    if (waiting !== undefined) {
      for (const register of writtenRegisters(waiting)) live.delete(register);
      for (const register of readRegisters(waiting)) live.add(register);
    }
    atSync[terminator.point]?.addAll(live);
  }
  for (const point of graph.syncPoints) {
    const behind = liveIn[point.resume];
    if (point.isOnEdge && behind !== undefined) atSync[point.index]?.addAll(behind);
  }
  return atSync;
}

/** The instruction at which threads wait, where they do not wait on an edge. */
function waitingInstruction(
  fn: IrFunction,
  graph: FlowGraph,
  { point, at }: FlowNode['terminator'] & { readonly kind: 'sync' },
): IrInstruction | undefined {
  return graph.syncPoints[point]?.isOnEdge === true ? undefined : fn.instructions[at];
}
