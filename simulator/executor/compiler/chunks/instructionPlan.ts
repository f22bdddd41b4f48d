import type { IrInstruction } from '../../../ptx/index.js';
import type { RegisterShapes } from '../vector/index.js';

/** How an instruction is written for a chunk. */
export type Manner =
  /** Nothing to do. */
  | 'silent'
  /** Once, by the scalar emitters: what it reads and writes is uniform or affine. */
  | 'once'
  /** For all groups: loads and stores. */
  | 'memory'
  /** For all groups, by a vector emitter. */
  | 'vector'
  /** Once, and the result goes to all lanes. */
  | 'spread'
  /** Lane after lane by the scalar emitters. */
  | 'lanes';
/** What there is to know of each instruction. */
export interface InstructionPlan {
  readonly shapes: RegisterShapes;
  mannerOf(instruction: IrInstruction): Manner;
}
