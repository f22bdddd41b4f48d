import { describe, expect, it } from 'vitest';
import { exp3Policy } from './exp3.js';
import { lossInVote } from './exp4.js';
import { sameOutput } from './sameOutput.js';
import { vote } from './votes.js';

describe('outputs and labels', () => {
  it.each([
    ['0', '0.0'],
    ['-0.0', '0'],
    ['1e2', '100'],
    ['q', '"q"'],
    ['7', '"7"'],
    ['7.0', '"7"'],
    ['"\\u00e4"', 'ä'],
    ['{"a": 1, "b": [2.0]}', '{"b":[2],"a":1.0}'],
    ['null', 'null'],
    ['9007199254740993', '9007199254740993'],
    ['9007199254740992.0', '9007199254740992'],
    ['[9007199254740993, "1e400"]', '[9007199254740993,1e400]'],
    ['1e20', '100000000000000000000'],
    ['[-0]', '[0.0]'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['', '""'],
  ])('%s and %s are the same', (one, other) => {
    expect(sameOutput(one, other)).toBe(true);
    expect(sameOutput(other, one)).toBe(true);
  });

  it.each([
    ['0', '1'],
    ['9007199254740993', '9007199254740992'],
    ['007', '7'],
    ['0x10', '16'],
    ['1e400', '1e401'],
    ['[1e400]', '[1e401]'],
    ['[9007199254740993]', '[9007199254740992]'],
    ['{"id":-9007199254740993}', '{"id":-9007199254740992}'],
    ['\u00e4', 'a\u0308'],
    ['\ufeff1', '1'],
    ['q', 'Q'],
    [' 7x', '7'],
    ['[1]', '1'],
    ['[1]', '["1", 2]'],
    ['{"a":1}', '[1]'],
    ['{"a":1}', '{"b":1}'],
    ['{"__proto__":1}', '{"toString":1}'],
    ['', '0'],
    ['null', '0'],
    ['true', '1'],
    ['"', 'q'],
    [`${'['.repeat(100_000)}1${']'.repeat(100_000)}`, `${'['.repeat(100_000)} 1${']'.repeat(100_000)}`],
  ])('%s and %s are not', (one, other) => {
    expect(sameOutput(one, other)).toBe(false);
    expect(sameOutput(other, one)).toBe(false);
  });

  it('count together in a vote', () => {
    const arrived = [
      { arm: 'a', output: '1' },
      { arm: 'b', output: '0.0' },
      { arm: 'c', output: '0' },
    ];
    const arms = ['a', 'b', 'c'];
    expect(vote(arms, arrived, arms, [1, 1, 1], 0)).toMatchObject({ output: '0.0', confidence: 2 / 3 });
  });

  it('that are the same are right: a model that answers 0.0 keeps its share', () => {
    const arms = ['a', 'b'];
    let state = exp3Policy.init(arms, { eta: 0.2 });
    const selection = { arms: ['a'], propensity: 0.5 };
    for (let at = 0; at < 12; at++) {
      state = exp3Policy.observe(state, selection, [{ arm: 'a', output: '0.0' }], { label: '0' });
    }
    expect(exp3Policy.shares(state).get('a')).toBeGreaterThanOrEqual(0.5);
    expect(lossInVote('a', [{ arm: 'a', output: '"q"' }], { label: 'q' })).toBe(0);
  });
});
