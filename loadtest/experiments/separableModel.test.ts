import { describe, expect, it } from 'vitest';
import { comparison } from '../../simulator/laboratory/calibration/index.js';
import { askedValues, separableModel } from './separableModel.js';

const FIGURES = [
  { name: 'speed', value: 10 },
  { name: 'start', value: 4 },
];

describe('the stand-in of the model', () => {
  it('tells products of powers as they are, and asks the model twice a figure', () => {
    let asked = 0;
    const model = separableModel(FIGURES, ({ speed, start }) => {
      asked += 1;
      return [{ name: 'a', kernel: 'k', ...comparison(1, start ** 0.5 / speed) }];
    });
    expect(asked).toBe(5);
    for (const [speed, start] of [
      [10, 4],
      [11.3, 3.1],
      [5, 6],
      [16, 1.9],
    ]) {
      expect(model({ speed, start })[0].simulatedUs).toBeCloseTo(start ** 0.5 / speed, 12);
    }
    expect(asked).toBe(5);
  });

  it('goes straight from the value on where a figure stops to matter', () => {
    const model = separableModel(FIGURES, ({ speed }) => [
      { name: 'a', kernel: 'k', ...comparison(1, Math.max(1, 10 / speed)) },
    ]);
    expect(model({ speed: 14, start: 4 })[0].simulatedUs).toBe(1);
    expect(model({ speed: 5, start: 4 })[0].simulatedUs).toBeCloseTo(2, 12);
  });

  it('says beforehand what it will ask', () => {
    const asked: object[] = [];
    separableModel(FIGURES, (values) => {
      asked.push(values);
      return [{ name: 'a', kernel: 'k', ...comparison(1, 1) }];
    });
    expect(asked).toEqual(askedValues(FIGURES));
  });
});
