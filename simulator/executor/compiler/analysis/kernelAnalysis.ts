import { analyzeLoops, readRegisters, type IrFunction, type IrModule } from '../../../ptx/index.js';
import { meetsInCluster } from '../../clusters.js';
import { groupAccesses, type AccessGroups } from './accessGroups.js';
import { exitMarks, type ExitMarks } from './exitMarks.js';
import { buildFlowGraph, type FlowGraph, type FlowNode } from './flowGraph.js';
import { planSteps } from '../inStep/index.js';
import { computeLiveness, type NodeLiveness } from './nodeLiveness.js';
import { cutRegions, type RegionCuts } from './regionCuts.js';
import { findExactRegisters } from '../instructions/index.js';
import { findSpinLoops, type SpinLoops } from './spinLoops.js';
import { layoutContext, type ThreadContext } from './threadContext.js';

/** What there is to know of a kernel before code of any form is written. */
export interface KernelAnalysis {
  readonly loops: SpinLoops;
  /** Whether threads give way to one another, because they wait for each other or may have to stop. */
  readonly takesTurns: boolean;
  /** Whether lanes of a warp are seen to go in step. */
  readonly isInStep: boolean;
  readonly cuts: RegionCuts;
  readonly exits: ExitMarks;
  readonly liveness: NodeLiveness;
  readonly exact: Uint8Array;
  readonly groups: AccessGroups;
  readonly context: ThreadContext;
  /** Registers that warp operations read from the contexts of waiting threads. */
  readonly exchanged: ReadonlySet<number>;
}

/** Of kernels in forms that cannot be stopped: code for lanes together follows soon on that for lane after lane. */
const known = new WeakMap<IrFunction, KernelAnalysis>();

/** @param isResumable whether a block may have to stop at any edge back */
export function analyseKernel(ir: IrModule, fn: IrFunction, isResumable: boolean): KernelAnalysis {
  const found = isResumable ? undefined : known.get(fn);
  if (found !== undefined) return found;
  const loops = findSpinLoops(fn);
  const takesTurns = loops.any || isResumable || meetsInCluster(fn);
  const scopeOf = (from: FlowNode, to: FlowNode): 'spin' | 'quantum' | undefined => {
    if (loops.isSpin(from.block, to.block)) return 'spin';
    return isResumable ? 'quantum' : undefined;
  };
  const isSpin = spinEdges(fn, loops);
  const steps = planSteps(fn, openArrays(ir, fn), { givesWay: takesTurns, isSpin });
  const extra = steps === undefined ? undefined : { steps, isSpin };
  const cuts = cutRegions(buildFlowGraph(fn, takesTurns, extra), scopeOf);
  const { graph } = cuts;
  const liveness = computeLiveness(fn, graph);
  const analysis: KernelAnalysis = {
    loops,
    takesTurns,
    isInStep: steps !== undefined,
    cuts,
    exits: exitMarks(graph),
    liveness,
    exact: findExactRegisters(fn),
    groups: groupAccesses(fn),
    context: layoutContext(fn, liveness),
    exchanged: exchangedRegisters(fn, graph),
  };
  if (!isResumable) known.set(fn, analysis);
  return analysis;
}

/** Shared arrays whose extent the launch gives: they all begin where the others end. */
function openArrays(ir: IrModule, fn: IrFunction): string[] {
  return [...ir.variables, ...fn.variables]
    .filter(({ space, bytes }) => space === 'shared' && bytes === 0)
    .map(({ name }) => name);
}

/** Tells of an edge between blocks whether it goes back in a loop in which threads wait. */
function spinEdges(fn: IrFunction, loops: SpinLoops): (from: number, to: number) => boolean {
  if (!loops.any) return () => false;
  const back = new Set(analyzeLoops(fn).retreatingEdges.map(([from, to]) => `${from} ${to}`));
  return (from, to) => back.has(`${from} ${to}`) && loops.isSpin(from, to);
}

function exchangedRegisters(fn: IrFunction, graph: FlowGraph): Set<number> {
  const found = new Set<number>();
  for (const point of graph.syncPoints) {
    const instruction = fn.instructions[point.instruction];
    if (instruction === undefined || point.isOnEdge) continue;
    for (const register of readRegisters(instruction)) found.add(register);
  }
  return found;
}
