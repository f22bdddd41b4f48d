import type { IrInstruction } from '../../../ptx/index.js';
import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import type { FaultCode } from '../../types.js';
import type { FlowNode, RegionFlow, Terminator } from '../analysis/index.js';
import { FAULTS } from '../area/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { FaultExit } from './faultExit.js';

/** The region that is written, and what its function is for. */
export interface WrittenRegion {
  readonly plan: KernelPlan;
  readonly region: number;
  readonly flow: RegionFlow;
  readonly shape: 'warp' | 'blocks';
}

/** How code leaves a region, for one lane or for a chunk of them: with the state that it has come to. */
export class RegionExit {
  private label: Label = 0;

  /**
   * @param status local with the state
   * @param keep writes what keeps the registers that are needed behind a wait
   */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly of: WrittenRegion,
    readonly status: number,
    private readonly faults: FaultExit,
    private readonly keep: (point: number) => void,
  ) {}

  /** Before the region's code; whoever opens it ends it. */
  open(): void {
    this.label = this.f.block();
  }

  /** Marks which way threads took that have ended. */
  mark(node: FlowNode): void {
    this.f.i32(-1 - node.index).set(this.status);
  }

  /** Keeps what is needed behind a wait, and leaves. */
  leaveAt(point: number): void {
    this.keep(point);
    this.f
      .i32(point + 1)
      .set(this.status)
      .br(this.label);
  }

  /** The end of a node that leads out. @param spend charges for a way back to the region's start */
  leave(
    node: FlowNode,
    terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>,
    spend: (cost: number) => void,
  ): void {
    const { plan, flow, region, shape } = this.of;
    switch (terminator.kind) {
      case 'exit':
        if (shape === 'warp' && !plan.exits.marked.has(node.index)) this.mark(node);
        this.f.br(this.label);
        return;
      case 'trap':
        this.faults.raise(trapCode(plan.fn.instructions[terminator.at]), terminator.at);
        return;
      case 'sync':
        // A loop through a wait has no back edge inside a region: the way from wait to wait is charged instead.
        if (region > 0) spend(flow.backEdgeCost(flow.positionOf.get(node.index) ?? 0, 0));
        this.leaveAt(terminator.point);
    }
  }
}

/** A trap that lowering made says which fault it is. */
function trapCode(instruction: IrInstruction | undefined): FaultCode {
  const [modifier] = instruction?.modifiers ?? [];
  return FAULTS.find((code) => code === modifier) ?? 'trap';
}
