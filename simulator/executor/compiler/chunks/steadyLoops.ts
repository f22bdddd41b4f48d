import {
  type IrInstruction,
  isPlainLoad,
  isStore,
  readRegisters,
  writtenRegisters,
} from '../../../ptx/index.js';
import type { FlowNode, RegionFlow } from '../analysis/index.js';
import { spaceOf } from '../instructions/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { InstructionPlan } from './instructionPlan.js';
import { sameShape, type RegisterShapes } from '../vector/index.js';
import type { MaskedPlan } from '../predication/index.js';

/**
 * A loop under masks that is written a second time for chunks whose lanes come to it as if none had gone another way before:
 * registers that are varying otherwise are scalars in it.
 */
export interface SteadyLoop {
  readonly plan: InstructionPlan;
  /** Registers that are scalars here alone. */
  readonly scalars: readonly number[];
  /** Registers to be found in their shapes when the loop begins. */
  readonly tested: readonly number[];
  /** Registers that it writes as scalars, and lanes need when they leave. */
  readonly neededBehind: readonly number[];
  /** The same of lanes that stay when others leave, without those. */
  readonly neededInside: readonly number[];
}

/** The loops of a region that are worth it, by node. */
export function findSteadyLoops(
  plan: KernelPlan,
  flow: RegionFlow,
  masked: MaskedPlan,
  shapes: RegisterShapes,
  unparted: InstructionPlan,
): ReadonlyMap<number, SteadyLoop> {
  const found = new Map<number, SteadyLoop>();
  for (const index of flow.nodes) {
    const node = plan.graph.nodes[index];
    if (node === undefined || !masked.isMasked(node)) continue;
    const loop = steadyLoop(plan, node, shapes, unparted);
    if (loop !== undefined) found.set(index, loop);
  }
  return found;
}

function steadyLoop(
  { fn, liveness }: KernelPlan,
  { index, body, terminator }: FlowNode,
  { shapes }: RegisterShapes,
  unparted: InstructionPlan,
): SteadyLoop | undefined {
  if (terminator.kind !== 'branch') return undefined;
  if ((terminator.then === index) === (terminator.else === index)) return undefined;
  const instructions = body.flatMap((each) => fn.instructions[each] ?? []);
  // Lanes must not part in the middle of a loop under masks.
  if (instructions.some((each) => unparted.shapes.resultOf(each).checked !== undefined)) return undefined;
  const isScalar = (register: number): boolean =>
    shapes[register]?.kind === 'varying' && unparted.shapes.shapes[register]?.kind !== 'varying';
  if (!instructions.some((each) => touchesGlobal(each) && addressOf(each).some(isScalar))) return undefined;
  const written = new Set(instructions.flatMap(writtenRegisters));
  const used = new Set([...instructions.flatMap(readRegisters), ...written, terminator.register]);
  for (const register of used) {
    const [now, then] = [shapes[register], unparted.shapes.shapes[register]];
    if (now === undefined || then === undefined) return undefined;
    if (now.kind !== 'varying' && !sameShape(now, then)) return undefined;
  }
  const scalars = [...used].filter(isScalar);
  const inside = liveness.liveIn[index];
  const behind = liveness.liveIn[terminator.then === index ? terminator.else : terminator.then];
  const isBack = (register: number): boolean => written.has(register) && isScalar(register);
  return {
    plan: unparted,
    scalars,
    tested: scalars.filter((register) => inside?.has(register) === true),
    neededBehind: scalars.filter((register) => isBack(register) && behind?.has(register) === true),
    neededInside: scalars.filter(
      (register) => isBack(register) && inside?.has(register) === true && behind?.has(register) !== true,
    ),
  };
}

function touchesGlobal({ opcode, modifiers }: IrInstruction): boolean {
  return (isPlainLoad(opcode) || isStore(opcode)) && spaceOf(modifiers) === 'global';
}

function addressOf({ sources: [address] }: IrInstruction): number[] {
  return address?.kind === 'address' && typeof address.base === 'number' ? [address.base] : [];
}
