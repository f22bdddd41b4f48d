import { builtInModelPath, type BuiltInModel } from '../../containers/models/index.js';
import { VirtualNode } from '../../containers/runtime/testing/index.js';
import { KeyedDraw } from '../../selection/index.js';
import type { VirtualClock } from '../../simulator/time/index.js';
import type { AimdSettings, ExperimentModel } from './aimdExperiment.js';

const PIXELS = 784;

/** Far beyond what one digit after the other allows. Short: every prediction is computed by the model's kernels. */
export const DIGITS_SETTINGS: AimdSettings = {
  seed: 20170327,
  // The model loads within the first 10 ms, before the load begins.
  durationSeconds: 0.1,
  windowSeconds: 0.001,
  objectiveMs: 20,
  stages: [
    { fromSeconds: 0.01, queriesPerSecond: 100_000 },
    { fromSeconds: 0.05, queriesPerSecond: 800_000 },
  ],
  adaptationSeconds: 0.01,
};

/** The two-layer perceptron of application `digits`. */
export function digitsMlpModel(seed: number): ExperimentModel {
  return digitsModel('digits-mlp', seed);
}

/** A model of application `digits` on one simulated H200, on the run's clock. */
export function digitsModel(name: BuiltInModel, seed: number): ExperimentModel {
  const draw = new KeyedDraw(seed);
  const path = builtInModelPath(name);
  return {
    record: {
      name,
      version: '1',
      inputType: 'floats',
      inputLength: PIXELS,
      labels: [],
      container: { kind: 'kernelModel', path },
    },
    replica(clock: VirtualClock) {
      const node = new VirtualNode({ clock });
      return node.start({
        model: name,
        version: '1',
        replica: '0',
        inputType: 'floats',
        inputLength: PIXELS,
        path,
      });
    },
    input(number) {
      // A random stroke pattern: what it shows does not matter to the time it takes.
      const pixels = new Float32Array(PIXELS);
      const next = draw.of(`digit ${number}`);
      for (let at = 0; at < PIXELS; at += 4) pixels[at] = next();
      return new Uint8Array(pixels.buffer);
    },
  };
}
