/** The model of the rows with bad inputs: the slow model, which throws for all of a batch where one input is below 0. */
import type { ModelInputs } from '../../containers/runtime/process/modelModule.js';
import SlowModel from './slowModel.js';

class PickyModel extends SlowModel {
  override predict(inputs: readonly ModelInputs['doubles'][]): number[] {
    if (inputs.some(([first]) => first < 0)) throw new RangeError('an input is below 0');
    return super.predict(inputs);
  }
}

export default PickyModel;
