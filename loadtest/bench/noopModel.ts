/** Answers at once, in a process of its own: what `noopModel.py` is beside. */
import type { Model, ModelInputs } from '../../containers/runtime/process/modelModule.js';

class NoopModel implements Model<'doubles'> {
  readonly inputType = 'doubles';

  predict(inputs: readonly ModelInputs['doubles'][]): number[] {
    return inputs.map(() => 0);
  }
}

export default NoopModel;
