import { describe, expect, it } from 'vitest';
import { userPolicy, type DeviceView } from './index.js';

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
    [() => ({ ...complete, takesTurns: 1 }), /takesTurns is a value of type number; give true or false/],
    [() => ({ ...complete, onIdle: 'never' }), /onIdle is 'never'; give a function/],
  ])('says what is wrong with %s', (exported, message) => {
    expect(() => userPolicy(exported, 'mine.mjs')).toThrow(message);
  });
});

describe('a policy of somebody else', () => {
  const view: DeviceView = {
    nowNs: 5,
    tpcs: 2,
    launches: [],
    comes: () => false,
    fits: () => 0,
    canRestore: () => false,
    costs: () => {
      throw new Error('none');
    },
  };
  const decide = (decision: unknown): unknown =>
    userPolicy(() => ({ ...complete, decide: () => decision }), 'mine.mjs')().decide(view);

  it('gets its own decisions', () => {
    expect(decide({ kind: 'hold' })).toEqual({ kind: 'hold' });
    expect(decide({ kind: 'hold', untilNs: 6 })).toEqual({ kind: 'hold', untilNs: 6 });
  });

  it.each([
    [null, /policy 'mine': decide returned null; return an object with a kind: dispatch, hold/],
    [{ kind: 'explode' }, /kind is 'explode'; there are: dispatch/],
    [Promise.resolve(), /a promise: decide must not be async/],
    [{ kind: 'hold', untilNs: 5 }, /hold: untilNs is 5, and now is 5/],
    [{ kind: 'kill', launch: 9 }, /kill: launch is 9, which is not there; there are: none/],
    [{ kind: 'dispatch', launch: 9, blocks: 1 }, /dispatch: launch is 9, which is not there/],
  ])('is told what is wrong with %o', (decision, message) => {
    expect(() => decide(decision)).toThrow(message);
  });

  it('is told what it has thrown', () => {
    const throws = (): never => {
      throw new Error('boom');
    };
    const made = userPolicy(() => ({ ...complete, decide: throws }), 'mine.mjs')();
    expect(() => made.decide(view)).toThrow(/policy 'mine': decide threw: boom/);
  });

  it('is wanted for kills only where it says so, and keeps its line', () => {
    expect('mayKill' in userPolicy(() => complete, 'mine.mjs')()).toBe(false);
    const made = userPolicy(() => ({ ...complete, mayKill: () => true, nextInLine: 3 }), 'mine.mjs')();
    expect(typeof made.mayKill).toBe('function');
    expect(made.nextInLine).toBe(3);
  });
});
