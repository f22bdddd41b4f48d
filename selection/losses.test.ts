import { describe, expect, it } from 'vitest';
import { checkLoss, labelFault, lossNamed, type LossChoice } from './losses.js';

describe('losses by name', () => {
  it.each<[LossChoice, output: string, label: string, loss: number]>([
    [{ name: 'zeroOne' }, '7', '7.0', 0],
    [{ name: 'zeroOne' }, '7', '8', 1],
    [{ name: 'absolute' }, '1.25', '1', 0.25],
    [{ name: 'absolute', scale: 10 }, '1', '6', 0.5],
    [{ name: 'absolute' }, '5', '1', 1],
    [{ name: 'absolute' }, '[1.5]', '"1"', 0.5],
    [{ name: 'absolute' }, 'three', '3', 1],
    [{ name: 'absolute' }, '[1,2]', '1', 1],
    [{ name: 'absolute' }, 'NaN', '1', 1],
    [{ name: 'absolute' }, '', '0', 1],
    [{ name: 'absolute' }, '[1e999]', '1', 1],
    [{ name: 'squared' }, '1e308', '-1e308', 1],
    [{ name: 'squared' }, '1.5', '1', 0.25],
    [{ name: 'squared', scale: 2 }, '3', '2', 0.25],
    [{ name: 'pinball' }, '1', '1.5', 0.25],
    // Below the truth costs the quantile, above it the rest.
    [{ name: 'pinball', quantile: 0.9 }, '1', '1.5', 0.45],
    [{ name: 'pinball', quantile: 0.9 }, '1.5', '1', 0.05],
    [{ name: 'pinball', quantile: 0.9, scale: 10 }, '0', '10', 0.9],
    [{ name: 'reciprocalRank' }, '["a","b","c"]', 'a', 0],
    [{ name: 'reciprocalRank' }, '["a","b","c"]', 'c', 2 / 3],
    [{ name: 'reciprocalRank' }, '["a","b","c"]', 'd', 1],
    [{ name: 'reciprocalRank' }, '[3,7]', '7.0', 0.5],
    [{ name: 'reciprocalRank' }, 'a', 'a', 0],
    [{ name: 'reciprocalRank' }, '[]', 'a', 1],
  ])('%j of %s where %s is true is %d', (choice, output, label, loss) => {
    expect(lossNamed(choice)(output, label)).toBeCloseTo(loss, 12);
  });

  it('pinball is least at its quantile', () => {
    const labels = Array.from({ length: 100 }, (_, at) => String(at));
    const loss = lossNamed({ name: 'pinball', quantile: 0.8, scale: 1000 });
    const total = (output: number) => labels.reduce((sum, label) => sum + loss(String(output), label), 0);
    const best = labels.map(Number).reduce((least, one) => (total(one) < total(least) ? one : least));
    expect(best).toBeGreaterThanOrEqual(79);
    expect(best).toBeLessThanOrEqual(80);
  });

  it.each<[object, field: string, says: RegExp]>([
    [{ name: 'hinge' }, 'name', /no loss 'hinge': choose one of zeroOne, absolute, squared, pinball, recip/],
    [{ name: 'zeroOne', scale: 2 }, 'scale', /for losses of numbers/],
    [{ name: 'absolute', scale: 0 }, 'scale', /above 0, not 0/],
    [{ name: 'squared', scale: Infinity }, 'scale', /above 0, not Infinity/],
    [{ name: 'absolute', quantile: 0.5 }, 'quantile', /for the loss 'pinball'/],
    [{ name: 'pinball', quantile: 1 }, 'quantile', /above 0 and below 1, not 1/],
  ])('%j is refused by its field', (choice, field, says) => {
    expect(() => checkLoss(choice as LossChoice)).toThrow(says);
    expect(() => checkLoss(choice as LossChoice)).toThrow(expect.objectContaining({ field }) as Error);
  });

  it('say which labels they cannot be measured by', () => {
    expect(labelFault({ name: 'absolute' }, 'cat')).toMatch(
      /must be a number under .* 'absolute', not "cat"/,
    );
    // Too large for a number, also where JSON reads it as one.
    expect(labelFault({ name: 'absolute' }, '[1e999]')).toMatch(/must be a number/);
    expect(labelFault({ name: 'pinball' }, '-3.5e2')).toBeUndefined();
    expect(labelFault({ name: 'reciprocalRank' }, 'cat')).toBeUndefined();
  });
});
