import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import {
  BUILT_IN_MODELS,
  builtInModelPath,
  digitAt,
  loadDigits,
  loadKernelModel,
  plainEvaluation,
} from '../models/index.js';
import { VirtualNode } from './virtualNode.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';

const BATCH_SIZE = 64;
const { heldOut } = loadDigits();

/** 0 for equal values, zeros included: a class may have no vote at all. */
function relativeError(value: number, expected: number): number {
  return value === expected ? 0 : Math.abs(value - expected) / Math.abs(expected);
}

describe.each(BUILT_IN_MODELS)('%s on the simulated GPU', (name) => {
  const path = builtInModelPath(name);
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: name, version: '1', replica: '0', inputType: 'floats', path }),
  );

  function predict(indices: readonly number[]): ReturnType<typeof frontend.result> {
    const inputs = indices.map((index) => {
      const { buffer, byteOffset, byteLength } = digitAt(heldOut, index);
      return new Uint8Array(buffer, byteOffset, byteLength);
    });
    const batch = frontend.ask(inputs);
    clock.run();
    return frontend.result(batch);
  }

  it('labels every held-out digit as the plain evaluation does, with its scores', () => {
    const evaluate = plainEvaluation(loadKernelModel(path));
    let worst = 0;
    for (let first = 0; first < heldOut.count; first += BATCH_SIZE) {
      const indices = Array.from(
        { length: Math.min(BATCH_SIZE, heldOut.count - first) },
        (_, k) => first + k,
      );
      const results = predict(indices)?.results ?? [];
      expect(results).toHaveLength(indices.length);
      results.forEach((result, k) => {
        const index = first + k;
        const expected = evaluate(digitAt(heldOut, index));
        if (!result.ok) throw new Error(`digit ${index}: ${result.message}`);
        if (result.output !== expected.label) {
          throw new Error(`digit ${index}: ${result.output}, the plain evaluation says ${expected.label}`);
        }
        expected.scores.forEach((score, c) => {
          worst = Math.max(worst, relativeError(result.scores?.[c] ?? NaN, score));
        });
      });
    }
    expect(worst).toBeLessThan(1e-4);
  });

  it('gives a digit the same scores in any batch', () => {
    const alone = predict([5])?.results[0];
    const last = predict([700, 1200, 5])?.results[2];
    expect(last).toEqual({ ...alone, id: 2 });
  });
});

describe('two virtual nodes', () => {
  function run(): { frames: FrontendDouble['frames']; hash: string; nowNs: number } {
    const clock = new VirtualClock();
    const node = new VirtualNode({ clock });
    const path = builtInModelPath('digits-mlp');
    const frontend = new FrontendDouble(
      node.start({ model: 'digits-mlp', version: '1', replica: '0', inputType: 'floats', path }),
    );
    clock.run();
    for (const size of [3, 1, 17]) {
      frontend.ask(Array.from({ length: size }, (_, k) => floats(...digitAt(heldOut, 100 * k))));
    }
    clock.run();
    return { frames: frontend.frames, hash: node.gpuNode.hash(), nowNs: clock.nowNs() };
  }

  it('answer the same at the same simulated time, bit for bit', () => {
    const first = run();
    expect(first.frames).toHaveLength(4);
    expect(run()).toEqual(first);
  });
});
