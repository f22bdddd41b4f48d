/**
 * The model of the batching rows, run in a process of its own as users' modules are: a batch of n keeps it from doing
 * anything else for 5 ms + n x 0.25 ms.
 */
import type { Model, ModelInputs } from '../../containers/runtime/process/modelModule.js';

export const FIXED_MS = 5;
export const ITEM_MS = 0.25;

/** Nobody wakes it: a wait that leaves the CPU to the others. */
const silence = new Int32Array(new SharedArrayBuffer(4));

class SlowModel implements Model<'doubles'> {
  readonly inputType = 'doubles';

  predict(inputs: readonly ModelInputs['doubles'][]): number[] {
    Atomics.wait(silence, 0, 0, FIXED_MS + ITEM_MS * inputs.length);
    return inputs.map(() => 0);
  }
}

export default SlowModel;
