import { afterEach, beforeEach, expect, it } from 'vitest';
import { builtInModelPath, heldOutDigits, type DigitSet } from '../../containers/models/index.js';
import { DigitsServer, errorOn, halvesOf, learnCascade, meanUs, measureModel } from './cascadeExperiment.js';

const NAMES = ['digits-logistic', 'digits-mlp'] as const;
const MODELS = NAMES.map((name) => ({ name, path: builtInModelPath(name) }));
const SEED = 5;
const COUNT = 400;

let few: DigitSet;
let server: DigitsServer;
beforeEach(async () => {
  const { count, pixels, labels } = heldOutDigits();
  // Digits of a class stand together.
  const places = Array.from({ length: COUNT }, (_, at) => Math.floor((at * count) / COUNT));
  few = {
    count: COUNT,
    pixels: Float32Array.from(places.flatMap((at) => [...pixels.subarray(at * 784, (at + 1) * 784)])),
    labels: Uint8Array.from(places, (at) => labels[at]),
  };
  server = await DigitsServer.start(MODELS, few, SEED, 2 ** 24);
});
afterEach(() => server.close());

it('keeps to a budget learned on other digits, and is nearly as good as the better model', async () => {
  const halves = halvesOf(COUNT, SEED);
  const [learned, reported] = halves;
  expect(new Set([...learned, ...reported]).size).toBe(COUNT);
  const cheap = await measureModel(server, NAMES[0], few);
  const better = await measureModel(server, NAMES[1], few);
  expect(errorOn(cheap, reported)).toBeGreaterThan(errorOn(better, reported) + 0.03);
  const share = meanUs(cheap, learned) / meanUs(better, learned);
  expect(share).toBeGreaterThan(0.1);
  const cascade = await learnCascade(server, [cheap, better], share + 0.3, halves, 8);
  expect(cascade.escalated).toBeGreaterThan(0.2);
  expect(cascade.escalated).toBeLessThan(0.4);
  expect(cascade.error).toBeLessThan(errorOn(better, reported) + 0.0151);
  expect(cascade.threshold).toBeGreaterThan(0.5);

  // The same with every answer computed: what was charged is what the GPU was busy for.
  const computing = await DigitsServer.start(MODELS, few, SEED, 0);
  const fixed = { name: 'cascade', parameters: { threshold: cascade.threshold } };
  const computed = await computing.serve(NAMES, fixed, reported);
  computing.close();
  expect(computed.defaults).toBe(0);
  expect(computed.error).toBe(cascade.error);
  expect(computed.gpuUsPerQuery / cascade.gpuUs).toBeCloseTo(1, 2);
});

it('serves a stream in batches', async () => {
  const [digits] = halvesOf(COUNT, SEED);
  const computing = await DigitsServer.start(MODELS, few, SEED, 0);
  const choice = { name: 'static', parameters: { model: NAMES[1] } };
  const single = await computing.serve(NAMES, choice, digits);
  const stream = await computing.serve(NAMES, choice, digits, 200_000);
  computing.close();
  expect(stream.gpuUsPerQuery).toBeLessThan(0.7 * single.gpuUsPerQuery);
  expect(stream.queries).toBeGreaterThan(0.8 * digits.length);
  expect(stream.answeredBy.every((name) => name === '' || name === NAMES[1])).toBe(true);
});
