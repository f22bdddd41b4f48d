import { expect, it } from 'vitest';
import { digitAt, heldOutDigits, loadDigits, type DigitSet } from '../../containers/models/index.js';
import { KeyedDraw } from '../../selection/index.js';
import { serveUsers, trainStyleModels, usersOf } from './personalModelsExperiment.js';
import { PLAIN, groupStyles, styleWithin, written } from './writingStyles.js';

const SEED = 3;

it('writes digits in styles', () => {
  const set = heldOutDigits();
  const draw = new KeyedDraw(SEED).of('styles');
  const digit = digitAt(set, 17);
  const ink = (pixels: Float32Array): number => pixels.reduce((sum, value) => sum + value, 0);
  written(digit, PLAIN, draw).forEach((value, at) => expect(value).toBeCloseTo(digit[at], 5));
  // Turned by a quarter: rows become columns.
  const turned = written(digit, { ...PLAIN, turn: 90 }, draw);
  for (let row = 0; row < 28; row++) {
    for (let column = 0; column < 28; column++) {
      expect(turned[(27 - column) * 28 + row]).toBeCloseTo(digit[row * 28 + column], 4);
    }
  }
  expect(ink(written(digit, { ...PLAIN, thickness: 1 }, draw))).toBeGreaterThan(1.2 * ink(digit));
  expect(ink(written(digit, { ...PLAIN, thickness: -1 }, draw))).toBeLessThan(0.8 * ink(digit));
  expect(ink(written(digit, { ...PLAIN, wide: 0.5 }, draw))).toBeLessThan(0.7 * ink(digit));
  const noisy = written(digit, { ...groupStyles(1)[6], noise: 0.2 }, draw);
  expect(noisy.every((value) => value >= 0 && value <= 1)).toBe(true);
  const people = Array.from({ length: 200 }, () => styleWithin(groupStyles(1)[0], draw).turn);
  expect(people.reduce((sum, turn) => sum + turn, 0) / 200).toBeCloseTo(35, -1);
});

/** Every `step`th digit. */
function thinned({ count, pixels, labels }: DigitSet, step: number): DigitSet {
  const places = Array.from({ length: Math.floor(count / step) }, (_, at) => at * step);
  const kept = new Float32Array(places.length * 784);
  places.forEach((place, at) => kept.set(pixels.subarray(place * 784, (place + 1) * 784), at * 784));
  return { count: places.length, pixels: kept, labels: Uint8Array.from(places, (place) => labels[place]) };
}

it('learns for each user whom to believe', { timeout: 60_000 }, () => {
  const { training, heldOut } = loadDigits();
  const plan = {
    seed: SEED,
    epochs: 8,
    batchSize: 16,
    rate: 0.05,
    momentum: 0.9,
    weightDecay: 1e-4,
    shiftPixels: 1,
  };
  const styles = groupStyles(1.2);
  const models = trainStyleModels(thinned(training, 4), styles, plan, SEED);
  const users = usersOf(models, styles, heldOut, 6, 50, SEED);
  const late = (curve: readonly number[]): number =>
    curve.slice(20).reduce((sum, value) => sum + value, 0) / (curve.length - 20);
  const personal = { name: 'exp4', parameters: { eta: 0.6, memory: null }, isPersonal: true };
  const curve = serveUsers(users, personal, SEED);
  const shared = late(serveUsers(users, { ...personal, isPersonal: false }, SEED));
  expect(late(curve)).toBeLessThan(shared);
  // Before any feedback all models are believed alike.
  const early = curve.slice(0, 5).reduce((sum, value) => sum + value, 0) / 5;
  expect(early).toBeGreaterThan(late(curve));
  expect(serveUsers(users, personal, SEED)).toEqual(curve);
});
