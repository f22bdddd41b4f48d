import type { IrInstruction } from '../../../ptx/index.js';
import { journalWhat, type JournalKind } from '../accesses/index.js';
import type { FlowNode } from '../analysis/index.js';
import { RECORD } from '../area/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { OperandEmitter } from '../scalar/index.js';
import type { FaultExit } from './faultExit.js';

/** Of observed code: how far the run has come, and its journal of accesses. Of other code it writes nothing. */
export class ObservedRun {
  /** The node whose instructions are being written. */
  private node: FlowNode | undefined;

  /** @param position i64 local: thread-instructions of the run up to the end of the running node */
  constructor(
    private readonly emit: OperandEmitter,
    private readonly plan: KernelPlan,
    private readonly position: number,
    private readonly faults: FaultExit,
  ) {}

  /** At the function's start. */
  load(): void {
    if (this.isObserved) this.emit.f.area().memory('i64Load', RECORD.position).set(this.position);
  }

  /** Before the function returns. */
  store(): void {
    if (this.isObserved) this.emit.f.area().get(this.position).memory('i64Store', RECORD.position);
  }

  /** At the start of each part of a node. */
  beginNode(node: FlowNode): void {
    this.node = node;
    if (this.isObserved && node.counted.length > 0)
      this.emit.f.get(this.position).i64(node.counted.length).op('i64Add').set(this.position);
  }

  /** See MemorySurroundings. */
  record(instruction: IrInstruction, kind: JournalKind, bytes: number, pushAddress: () => void): void {
    if (!this.isObserved) return;
    const { f } = this.emit;
    const place = this.emit.temporary('place', 'i32');
    f.set(place);
    this.pushPositionOf(instruction);
    pushAddress();
    f.get(place)
      .i32(journalWhat(instruction.index, kind, bytes))
      .call(this.plan.journal)
      .if();
    this.leaveWithFault(instruction);
    f.end().get(place);
  }

  /** Leaves at this instruction; the fault is in the launch record. */
  leaveWithFault(instruction: IrInstruction): void {
    if (this.isObserved) {
      this.pushPositionOf(instruction);
      this.emit.f.set(this.position);
    }
    this.faults.leave(instruction.index);
  }

  private get isObserved(): boolean {
    return this.plan.form.observed === true;
  }

  /** Pushes how many thread-instructions came before this one. */
  private pushPositionOf(instruction: IrInstruction): void {
    const counted = this.node?.counted ?? [];
    const place = counted.indexOf(instruction.index);
    const behind = place < 0 ? 0 : counted.length - place;
    this.emit.f.get(this.position).i64(behind).op('i64Sub');
  }
}
