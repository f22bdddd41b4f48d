import type { MemoryEmitter } from '../accesses/index.js';
import type { FlowNode, Terminator } from '../analysis/index.js';
import type { PassCounters } from '../counters/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { OperandEmitter } from '../scalar/index.js';
import type { FaultExit } from './faultExit.js';
import { emitInstruction } from './instructionEmitter.js';
import type { ObservedRun } from './observedRun.js';
import type { PartEmitter } from './partedLanes.js';
import type { RegionExit } from './regionExit.js';

/** What nodes of the running lane are written with. */
export interface LaneParts {
  readonly plan: KernelPlan;
  readonly emit: OperandEmitter;
  readonly memory: MemoryEmitter;
  readonly counters: PassCounters;
  readonly observed: ObservedRun;
  readonly exit: RegionExit;
  readonly faults: FaultExit;
  /** i64 local: what the block may still spend. */
  readonly fuel: number;
}

/** Writes nodes for the running lane: their instructions, and what leads on from them. */
export class LaneNodes implements PartEmitter {
  constructor(private readonly parts: LaneParts) {}

  emitBody(node: FlowNode, position: number): void {
    this.emitPart(node, position, 0, Infinity);
  }

  emitPart(node: FlowNode, position: number, from: number, to: number): void {
    const { plan, emit, memory, counters, observed, exit } = this.parts;
    if (from === 0) counters.pass(position);
    observed.beginNode(node);
    for (const index of node.body.slice(from, to)) {
      const instruction = plan.fn.instructions[index];
      if (instruction !== undefined) emitInstruction(instruction, emit, memory, plan.imported);
    }
    if (to === Infinity && plan.exits.before.has(node.index)) exit.mark(node);
  }

  emitCondition(register: number, negated: boolean): void {
    const { emit } = this.parts;
    emit.f.get(emit.localOf(register));
    if (negated) emit.f.op('i32Eqz');
  }

  emitLeave(node: FlowNode, terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>): void {
    this.parts.exit.leave(node, terminator, (cost) => {
      this.emitBackEdge(node, cost);
    });
  }

  emitBackEdge(node: FlowNode, cost: number, header?: number): void {
    const { plan, exit, faults, fuel } = this.parts;
    const { f } = this.parts.emit;
    f.get(fuel).i64(cost).op('i64Sub');
    const point = header === undefined ? undefined : plan.pointOf(node.index, header);
    if (point?.scope === 'spin') {
      f.set(fuel);
      exit.leaveAt(point.index);
      return;
    }
    if (point === undefined && plan.form.resumable === true) {
      f.set(fuel);
      return;
    }
    f.tee(fuel).i64(0).op('i64LtS').if();
    if (point !== undefined) exit.leaveAt(point.index);
    else faults.raise('fuelExhausted', node.counted.at(-1) ?? node.body.at(-1) ?? 0);
    f.end();
  }

  emitIndex(register: number): void {
    const { emit } = this.parts;
    emit.f.get(emit.localOf(register));
  }

  emitNoTarget(at: number): void {
    this.parts.faults.raise('illegalInstruction', at);
  }
}
