import { describe, expect, it } from 'vitest';
import { userPolicy } from './index.js';

const complete = {
  name: 'mine',
  decide: () => ({ kind: 'hold' }),
  snapshot: () => null,
  restore: () => undefined,
};

describe('userPolicy', () => {
  it('takes a function that makes a policy', () => {
    const make = userPolicy(() => complete, 'mine.mjs');
    expect(make().name).toBe('mine');
  });

  it.each([
    [undefined, /policy mine.mjs: its default export is missing; export a function/],
    [complete, /its default export is a value of type object/],
    [() => null, /returned null; return an object with decide, snapshot, restore/],
    [() => ({ ...complete, name: '' }), /name is ''/],
    [() => ({ ...complete, decide: 1 }), /'mine' has no function 'decide'/],
    [() => ({ ...complete, mayKill: true }), /mayKill is a value of type boolean/],
    [() => ({ ...complete, preempts: 'yes' }), /preempts is 'yes'/],
  ])('says what is wrong with %s', (exported, message) => {
    expect(() => userPolicy(exported, 'mine.mjs')).toThrow(message);
  });
});
