import { describe, expect, it } from 'vitest';
import { INSTANT_MODELS, KERNEL_MODELS, feedbackRate } from '../bench/feedbackRate.js';

describe('feedback on an ensemble of four models', () => {
  it('is learned faster where the prediction cache has what the models said', async () => {
    const cached = await feedbackRate(KERNEL_MODELS, 'input, cached', 1, 1);
    const plain = await feedbackRate(KERNEL_MODELS, 'input, not cached', 1, 1);
    expect(Object.keys(cached.joined)).toEqual(['cache']);
    expect(Object.keys(plain.joined)).toEqual(['evaluated']);
    expect([cached.errors, plain.errors]).toEqual([0, 0]);
    expect(cached.perSecond / plain.perSecond).toBeGreaterThan(1.6);
  });

  it('needs no cache where it names the query', async () => {
    const { joined, errors } = await feedbackRate(INSTANT_MODELS, 'query', 1, 1);
    expect(Object.keys(joined)).toEqual(['query']);
    expect(errors).toBe(0);
  });
});
