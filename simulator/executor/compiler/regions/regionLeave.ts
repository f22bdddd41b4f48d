import type { IrInstruction } from '../../../ptx/index.js';
import type { FaultCode } from '../../types.js';
import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import { FAULTS } from '../area/index.js';
import type { FlowNode, Terminator, RegionFlow } from '../analysis/index.js';
import type { KernelPlan } from '../plan/index.js';

/** What leaving a region needs of the code that runs it, for one lane or for a chunk of them. */
export interface RegionLeave {
  readonly f: FunctionBuilder;
  readonly plan: KernelPlan;
  readonly region: number;
  readonly flow: RegionFlow;
  readonly shape: 'warp' | 'blocks';
  /** Local with the state that lanes have come to. */
  readonly status: number;
  emitFault(code: FaultCode, at: number): void;
  emitBackEdge(node: FlowNode, cost: number): void;
  /** Keeps what lanes need behind a wait, and leaves. */
  leaveAt(point: number): void;
}

/** @param leave label behind the region's code */
export function emitRegionLeave(
  around: RegionLeave,
  leave: Label,
  node: FlowNode,
  terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>,
): void {
  const { f, plan, flow } = around;
  switch (terminator.kind) {
    case 'exit':
      if (around.shape === 'warp' && !plan.exits.marked.has(node.index))
        f.i32(-1 - node.index).set(around.status);
      f.br(leave);
      return;
    case 'trap':
      around.emitFault(trapCode(plan.fn.instructions[terminator.at]), terminator.at);
      return;
    case 'sync':
      // A loop through a wait has no back edge inside a region: the way from wait to wait is charged instead.
      if (around.region > 0)
        around.emitBackEdge(node, flow.backEdgeCost(flow.positionOf.get(node.index) ?? 0, 0));
      around.leaveAt(terminator.point);
  }
}

/** A trap that lowering made says which fault it is. */
function trapCode(instruction: IrInstruction | undefined): FaultCode {
  const [modifier] = instruction?.modifiers ?? [];
  return FAULTS.find((code) => code === modifier) ?? 'trap';
}
