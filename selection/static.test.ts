import { describe, expect, it } from 'vitest';
import { policyNamed } from './index.js';

const ARMS = ['a', 'b', 'c'];

describe('static', () => {
  const policy = policyNamed('static');

  it('asks the first linked model, or the one that is named', () => {
    expect(policy.select(policy.init(ARMS, null), () => 0).arms).toEqual(['a']);
    expect(policy.select(policy.init(ARMS, { model: 'c' }), () => 0).arms).toEqual(['c']);
    expect(policy.select(policy.init(ARMS, { model: 'z' }), () => 0).arms).toEqual([]);
    expect(() => policy.init(ARMS, { model: 3 })).toThrow(/model must be the name of a model, not 3/);
  });
});
