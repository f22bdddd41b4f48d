import type { IrFunction } from '../../../ptx/index.js';
import type { InstructionClass } from '../../types.js';
import { accessBytes, countsDynamically, classOf, spaceOf } from '../instructions/index.js';
import type { FlowGraph, RegionFlow } from '../analysis/index.js';

/** What one pass of a thread through a set of nodes counts. */
export interface InstructionWeights {
  instructions: number;
  /** Places in the kernel of these instructions. */
  readonly indices: number[];
  readonly byClass: Map<InstructionClass, number>;
  globalLoadBytes: number;
  globalStoreBytes: number;
  sharedBytes: number;
}

/** Weights of each class of a region's nodes: a counter for each class is all that runs. */
export function weighClasses(fn: IrFunction, graph: FlowGraph, flow: RegionFlow): InstructionWeights[] {
  const weights = Array.from({ length: flow.classCount }, (): InstructionWeights => ({
    instructions: 0,
    indices: [],
    byClass: new Map(),
    globalLoadBytes: 0,
    globalStoreBytes: 0,
    sharedBytes: 0,
  }));
  flow.nodes.forEach((node, position) => {
    const weight = weights[flow.classOf[position] ?? 0];
    if (weight === undefined) return;
    for (const index of graph.nodes[node]?.counted ?? []) {
      const instruction = fn.instructions[index];
      if (instruction === undefined) continue;
      weight.instructions += 1;
      weight.indices.push(index);
      const kind = classOf(instruction);
      weight.byClass.set(kind, (weight.byClass.get(kind) ?? 0) + 1);
      if (countsDynamically(instruction)) continue;
      if (kind === 'globalLoad') weight.globalLoadBytes += accessBytes(instruction);
      else if (kind === 'globalStore') weight.globalStoreBytes += accessBytes(instruction);
      else if (kind === 'shared') weight.sharedBytes += accessBytes(instruction);
      else if (kind === 'constant' && spaceOf(instruction.modifiers) === 'const') {
        weight.globalLoadBytes += accessBytes(instruction);
      } else if (kind === 'atomic') {
        if (spaceOf(instruction.modifiers) === 'shared') weight.sharedBytes += accessBytes(instruction);
        else {
          weight.globalStoreBytes += accessBytes(instruction);
          weight.globalLoadBytes += accessBytes(instruction);
        }
      }
    }
  });
  return weights;
}
