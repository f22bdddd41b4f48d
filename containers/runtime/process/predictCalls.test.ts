import { describe, expect, it } from 'vitest';
import type { ItemResult } from '../../protocol/index.js';
import { PredictCalls } from './predictCalls.js';
import { StrayRejections } from './strayRejections.js';

type Predict = (inputs: readonly number[]) => unknown;

/** Inputs are bytes; from 200 on they are bad. */
const isBad = (input: number): boolean => input >= 200;

/** A model, how often it was asked, and of how many batches something was answered. */
class Asked {
  calls = 0;
  answered = 0;
  nowNs = 0;
  readonly strays = new StrayRejections();
  private readonly model: PredictCalls;

  /** @param costs what a call of so many takes, in nanoseconds: one that answers, and one that throws. */
  constructor(predict: Predict, costs = { answerNs: (_: number) => 1e5, throwNs: (_: number) => 1e3 }) {
    const counted = (inputs: readonly unknown[]): unknown => {
      this.calls += 1;
      const failedNs = this.nowNs + costs.throwNs(inputs.length);
      const endNs = this.nowNs + costs.answerNs(inputs.length);
      this.nowNs = failedNs;
      const outputs = predict(inputs as readonly number[]);
      this.nowNs = endNs;
      this.answered += 1;
      return outputs;
    };
    const nowNs = (): number => this.nowNs;
    this.model = new PredictCalls(counted, (bytes) => bytes[0], nowNs, this.strays);
  }

  async ask(inputs: readonly number[], budgetNs = 60e9, isSuspect = false): Promise<readonly ItemResult[]> {
    const items = inputs.map((input, id) => ({ id, bytes: Uint8Array.of(input), budgetNs }));
    const { results } = await this.model.answer(items, () => false, isSuspect);
    return [...results].sort((a, b) => a.id - b.id);
  }
}

const MIXED = Array.from({ length: 32 }, (_, at) => (at % 5 === 3 ? 200 + at : at));
const wanted = MIXED.map((input, id) =>
  isBad(input) ? { id, ok: false, code: 'modelError' } : { id, ok: true, output: `${input}` },
);

function throwing(inputs: readonly number[]): readonly number[] {
  if (inputs.some(isBad)) throw new RangeError('bad input');
  return inputs;
}

describe('a batch that predict throws for', () => {
  it.each<[string, Predict]>([
    ['looks at its inputs in order', throwing],
    [
      'looks at them from the end',
      (inputs) =>
        throwing([...inputs].reverse())
          .slice()
          .reverse(),
    ],
    ['goes through them while it computes', (inputs) => inputs.map((one) => throwing([one])[0])],
    ['looks at none of them by place', (inputs) => throwing(structuredClone([...inputs]))],
    ['clones them', (inputs) => throwing(structuredClone(inputs))],
    ['rejects', async (inputs) => Promise.resolve(throwing(inputs))],
    [
      'throws what is no error',
      (inputs) => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- models do that
        if (inputs.some(isBad)) throw undefined;
        return inputs;
      },
    ],
    ['gives too few outputs', (inputs) => inputs.filter((one) => !isBad(one))],
    ['gives nothing', (inputs) => (inputs.some(isBad) ? undefined : inputs)],
    ['gives errors as outputs', (inputs) => inputs.map((one) => (isBad(one) ? new Error('bad') : one))],
    ['sorts what it got', (inputs) => throwing([...(inputs as number[]).sort((a, b) => a - b)]).map(() => 0)],
  ])('answers all good ones where the model %s', async (what, predict) => {
    const asked = new Asked(predict);
    for (let round = 0; round < 5; round++) {
      const results = await asked.ask(MIXED);
      if (what.startsWith('sorts')) expect(results.map(({ ok }) => ok)).toEqual(wanted.map(({ ok }) => ok));
      else expect(results).toMatchObject(wanted);
    }
  });

  it('is answered in one call once the bad ones are out, where the model tells them by its last look', async () => {
    const asked = new Asked(throwing);
    for (let round = 0; round < 10; round++) expect(await asked.ask(MIXED)).toMatchObject(wanted);
    expect(asked.answered).toBe(10);
  });

  it('asks again for the bytes that came, whatever the model has done to its inputs', async () => {
    const calls = new PredictCalls(
      (inputs) => {
        const arrays = inputs as readonly Uint8Array[];
        const sums = arrays.map((array) => array.reduce((sum, one) => sum + one, 0));
        for (const array of arrays) array.fill(9);
        if (sums.some((sum) => sum >= 200)) throw new Error('bad');
        return sums;
      },
      (bytes) => Uint8Array.from(bytes),
      () => 0,
      new StrayRejections(),
    );
    const items = [1, 2, 200, 3].map((input, id) => ({ id, bytes: Uint8Array.of(input), budgetNs: 60e9 }));
    const { results } = await calls.answer(items, () => false);
    const outputs = [...results].sort((a, b) => a.id - b.id).map((one) => (one.ok ? one.output : one.code));
    expect(outputs).toEqual(['1', '2', 'modelError', '3']);
  });

  it('is soon left undecided where the model fails whatever it gets', async () => {
    const asked = new Asked(() => {
      throw new Error('broken');
    });
    await asked.ask(MIXED);
    const { calls } = asked;
    const results = await asked.ask(MIXED);
    expect(asked.calls).toBe(calls + 1);
    const undecided = results.filter((result) => !result.ok && result.code === 'undecided');
    expect(undecided.length).toBeGreaterThanOrEqual(MIXED.length - 1);
  });

  it('asks others together, however many suspects were bad', async () => {
    const asked = new Asked(throwing);
    const good = MIXED.filter((input) => !isBad(input));
    await asked.ask(good);
    for (let round = 0; round < 20; round++) await asked.ask([201, 202, 203, 204], undefined, true);
    const { calls } = asked;
    const results = await asked.ask(good);
    expect(asked.calls).toBe(calls + 1);
    expect(results.every(({ ok }) => ok)).toBe(true);
  });

  it('asks nobody again whose time is over', async () => {
    const asked = new Asked(throwing);
    const results = await asked.ask(MIXED, 0);
    expect(asked.calls).toBe(1);
    expect(results.every((result) => !result.ok && result.code === 'cancelled')).toBe(true);
  });

  it('leaves the rest undecided when asking again takes long, with nobody failed who has not failed alone', async () => {
    const slow = (): number => 20e6;
    const asked = new Asked(throwing, { answerNs: slow, throwNs: slow });
    for (let round = 0; round < 3; round++) {
      const results = await asked.ask(MIXED);
      for (const result of results) {
        if (result.ok) expect(isBad(MIXED[result.id])).toBe(false);
        else if (result.code === 'modelError') expect(isBad(MIXED[result.id])).toBe(true);
        else expect(result.code).toBe('undecided');
      }
    }
    // Four times what the batch takes, and the call that was under way.
    expect(asked.nowNs).toBeLessThanOrEqual(3 * 6 * slow());
  });

  it.each([
    ['each input', { answerNs: (size: number) => size * 1e6, throwNs: (size: number) => (size * 1e6) / 2 }],
    ['a batch', { answerNs: () => 20e6, throwNs: () => 1e3 }],
    ['both', { answerNs: (size: number) => 2e6 + size * 0.2e6, throwNs: () => 1e3 }],
  ])('costs little where a call takes its time for %s, once that is known', async (_what, costs) => {
    {
      const asked = new Asked(throwing, costs);
      for (let size = 1; size <= 32; size++) await asked.ask(Array.from({ length: size }, () => 1));
      for (let round = 0; round < 10; round++) await asked.ask(MIXED);
      const beganNs = asked.nowNs;
      for (let round = 0; round < 10; round++) expect(await asked.ask(MIXED)).toMatchObject(wanted);
      expect((10 * costs.answerNs(32)) / (asked.nowNs - beganNs)).toBeGreaterThan(0.6);
    }
  });
});

describe('what a model gives for one input', () => {
  const trap = (): never => {
    throw new Error('trapped');
  };
  const trapped = new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;

  it.each<[string, unknown]>([
    ['a proxy whose traps throw', trapped],
    ['a proxy that was revoked', revoked.proxy],
    ['a cycle', cyclic],
    ['longer than an answer may be', 'x'.repeat(2 ** 24 + 1)],
    ['a BigInt', 1n],
    ['a function', trap],
    ['a symbol', Symbol('symbol')],
    ['nothing', undefined],
    ['what throws when it is written', { toJSON: trap }],
    ['scores that are no numbers', { output: 'x', scores: [1n] }],
    ['more scores than there can be', { output: 'x', scores: { length: 1e10 } }],
    [
      'a promise that is rejected',
      { then: (_: unknown, reject: (reason: Error) => void) => reject(new Error('no')) },
    ],
  ])('may be %s: that one fails', async (_what, output) => {
    const asked = new Asked((inputs) => inputs.map((input) => (isBad(input) ? output : input)));
    expect(await asked.ask(MIXED)).toMatchObject(wanted);
  });

  it('is waited for whoever has made the promise', async () => {
    const later = (input: number) => ({
      then: (resolve: (value: number) => void) => setTimeout(resolve, 1, input),
    });
    const asked = new Asked((inputs) => inputs.map(later));
    expect(await asked.ask([1, 2, 3])).toMatchObject([{ output: '1' }, { output: '2' }, { output: '3' }]);
  });

  it('may throw when it is looked at', async () => {
    const asked = new Asked((inputs) => {
      const outputs: unknown[] = [...inputs];
      for (const [at, input] of inputs.entries()) {
        if (isBad(input)) Object.defineProperty(outputs, at, { get: trap });
      }
      return outputs;
    });
    expect(await asked.ask(MIXED)).toMatchObject(wanted);
  });

  it('is one of as many as there were inputs, whatever becomes of their array', async () => {
    const asked = new Asked((inputs) => (inputs as number[]).splice(0));
    expect(await asked.ask([1, 2, 3])).toMatchObject([{ output: '1' }, { output: '2' }, { output: '3' }]);
  });
});

describe('a rejection that nobody waits for', () => {
  it('fails the call that is under way: its inputs are asked again, and one fails by itself', async () => {
    const asked = new Asked((inputs) => {
      if (!inputs.some(isBad)) return inputs;
      setImmediate(() => asked.strays.onRejection(new Error('stray')));
      return new Promise(() => undefined);
    });
    expect(await asked.ask(MIXED)).toMatchObject(wanted);
  });

  it('leaves those undecided whose promises are not settled, and nobody else', async () => {
    const asked = new Asked((inputs) =>
      inputs.map((input) => {
        if (!isBad(input)) return Promise.resolve(input);
        setImmediate(() => asked.strays.onRejection(new Error('stray')));
        return new Promise(() => undefined);
      }),
    );
    const results = await asked.ask([1, 200, 2]);
    expect(results).toMatchObject([{ output: '1' }, { code: 'undecided' }, { output: '2' }]);
    expect(await asked.ask([200])).toMatchObject([{ code: 'modelError', message: 'Error: stray' }]);
  });
});
