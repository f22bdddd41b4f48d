import { describe, expect, it } from 'vitest';
import { evaluateGraph } from '../../../runtime/tests/plainGraph.js';
import { predictions } from '../../evaluation/digitModel.js';
import { softmax } from '../../evaluation/classScores.js';
import { loadDigits } from '../digits.js';
import { Draws } from '../draws.js';
import { drawnSubset } from '../examples.js';
import {
  ImageDrafter,
  imageNetworkSpec,
  imageProbabilities,
  trainImageNetwork,
  type ImageDesign,
} from './index.js';
import { imageSteps } from './imageSteps.js';

/** Every kind of layer, and two that read one. @param isMean whether the dense layers get the mean of planes, or all of them */
function everyKind(rows: number, columns: number, isMean: boolean): ImageDesign {
  const net = new ImageDrafter();
  const first = net.convolution(net.image, 4, 3, { stride: 2 });
  const pooled = net.largest(first, 3, 2);
  const beside = net.convolution(pooled, 3, [1, 3], { isRectified: false });
  const joined = net.joined(net.convolution(pooled, 2, [3, 1]), beside, net.largest(pooled, 3, 1));
  const again = net.convolution(joined, 9, 3, { isRectified: false });
  const both = net.joined(net.sum(again, joined), again);
  net.dense(net.dense(isMean ? net.mean(both) : both, 16), 10, false);
  return { image: { rows, columns, channels: 1 }, layers: net.layers };
}

describe.each([true, false])('a network of images, with a mean of planes: %s', (isMean) => {
  const design = everyKind(9, 7, isMean);
  const draws = new Draws(3);
  const { planes, steps } = imageSteps(design, draws);
  const image = Float32Array.from(planes[0].values, () => draws.unit());
  const last = planes[planes.length - 1];
  const label = 4;

  function loss(): number {
    planes[0].values.set(image);
    for (const step of steps) step.forward();
    return -Math.log(softmax(Float64Array.from(last.values))[label]);
  }

  it('has the gradients that differences of its loss have', () => {
    loss();
    for (const { gradients } of planes) gradients.fill(0);
    last.gradients.set(softmax(Float64Array.from(last.values)));
    last.gradients[label] -= 1;
    for (let at = steps.length - 1; at >= 0; at--) steps[at].backward();
    let compared = 0;
    for (const { weights: layer } of steps) {
      if (layer === undefined) continue;
      for (const [values, gradients] of [
        [layer.weights, layer.weightGradients],
        [layer.biases, layer.biasGradients],
      ]) {
        for (let k = 0; k < values.length; k += 7) {
          const kept = values[k];
          const reach = 3e-4;
          values[k] = kept + reach;
          const above = loss();
          values[k] = kept - reach;
          const below = loss();
          values[k] = kept;
          const slope = (above - below) / (2 * reach);
          if (Math.abs(slope) > 0.01) compared += 1;
          // Single precision, and bends where a value is rectified.
          expect(Math.abs(slope - gradients[k]), `${slope} and ${gradients[k]}`).toBeLessThan(
            0.01 + 0.1 * Math.abs(slope),
          );
        }
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  it('is the same graph as ONNX', () => {
    const network = { design, weights: steps.map(({ weights }) => weights ?? null) };
    const plain = imageProbabilities(network)(image);
    const [{ values }] = evaluateGraph(imageNetworkSpec(network), {
      x: { dims: [1, image.length], values: image },
    });
    expect(values).toHaveLength(10);
    plain.forEach((value, k) => expect(values[k]).toBeCloseTo(value, 5));
    expect(Math.max(...plain)).toBeGreaterThan(0.11);
  });
});

it('learns digits', { timeout: 30_000 }, () => {
  const { training, heldOut } = loadDigits();
  const few = drawnSubset(training, 60, new Draws(1));
  const plan = {
    seed: 1,
    epochs: 12,
    batchSize: 16,
    rate: 0.02,
    momentum: 0.9,
    weightDecay: 1e-4,
    shiftPixels: 1,
  };
  const scores = imageProbabilities(trainImageNetwork(few, everyKind(28, 28, false), plan));
  const seen = drawnSubset(heldOut, 40, new Draws(2));
  const labels = predictions(
    { predict: (pixels) => `${scores(pixels).indexOf(Math.max(...scores(pixels)))}` },
    seen,
  );
  const right = labels.filter((label, k) => label === seen.labels[k]).length;
  expect(right / seen.count).toBeGreaterThan(0.75);
});
