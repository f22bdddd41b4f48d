import { describe, expect, it } from 'vitest';
import { Serving, type TestContainer } from './tests/serving.js';

const MS = 1e6;
const OBJECTIVE_US = 1_000_000;
/** From its start to its hello. */
const START_NS = 150 * MS;
const kills = (element: number): boolean => element < 0;

/** A model whose replicas are started again, with one more apart from the others once it is asked for. */
class Fleet {
  readonly serving: Serving;
  lost = 0;
  lostApart = 0;
  /** The one that was started last of those that serve everybody. */
  main!: TestContainer;
  /** Asked for, and given back. */
  readonly requests: boolean[] = [];
  private isApartWanted = false;
  private started = 0;

  constructor(
    size = 1,
    private readonly hangs = false,
    objectiveUs = OBJECTIVE_US,
  ) {
    this.serving = new Serving({
      requestApart: (_name, _version, isWanted) => {
        this.requests.push(isWanted);
        this.isApartWanted = isWanted;
        if (isWanted) this.startLater('apart');
        return true;
      },
    }).simple({ strategy: 'fixed', maxBatchSize: 32 }, objectiveUs);
    this.serving.clock.attach('fleet', {
      onEvent: (kind) => {
        if (kind === 'main') this.start(false);
        else if (this.isApartWanted) this.start(true);
      },
    });
    for (let at = 0; at < size; at++) this.start(false);
  }

  private startLater(kind: string): void {
    this.serving.clock.schedule('fleet', this.serving.clock.nowNs() + START_NS, kind);
  }

  private start(isApart: boolean): void {
    const replica = `${isApart ? 'apart' : 'r'}${this.started++}`;
    const container = this.serving.container(
      {
        replica,
        credits: 2,
        serviceNs: (items) => MS + 0.05 * MS * items,
        calls: () => 1,
        ...(this.hangs ? { hangs: kills } : { kills }),
        onClosed: () => {
          if (isApart) {
            this.lostApart += 1;
            if (!this.isApartWanted) return;
          } else this.lost += 1;
          this.startLater(isApart ? 'apart' : 'main');
        },
      },
      isApart,
    );
    if (!isApart) this.main = container;
  }
}

interface Traffic {
  /** Of a query; a new one each time, or the same. */
  readonly source: () => object;
  readonly everyMs: number;
  /** One in so many takes the replica down; 1: each. */
  readonly badEvery: number;
}

let next = 1;
/** @returns the share of the first traffic's good queries that were answered in `lengthMs`. */
function goodShare(fleet: Fleet, lengthMs: number, ...traffics: readonly Traffic[]): number {
  const { serving } = fleet;
  const beganNs = serving.clock.nowNs();
  const dueMs = traffics.map(() => 0);
  const asked = traffics.map(() => 0);
  const good: string[] = [];
  for (let ms = 0; ms < lengthMs; ms += 0.25) {
    serving.clock.run(beganNs + ms * MS);
    for (const [at, { source, everyMs, badEvery }] of traffics.entries()) {
      while (dueMs[at] <= ms) {
        dueMs[at] += everyMs;
        asked[at] += 1;
        const isBad = badEvery !== Infinity && asked[at] % badEvery === 0;
        const value = next++;
        const id = serving.predict(isBad ? -value : value, { source: source() });
        if (!isBad && at === 0) good.push(id);
      }
    }
  }
  serving.clock.run(serving.clock.nowNs() + 2000 * MS);
  return good.filter((id) => !serving.answer(id).isDefault).length / good.length;
}

const one = (): (() => object) => {
  const source = {};
  return () => source;
};
const anew = (): object => ({});

const ALONE = { everyMs: 2, badEvery: Infinity };
const KILLING = { everyMs: 8, badEvery: 1 };

describe.each([
  ['die', false],
  ['hang', true],
])('inputs that make their replica %s', (_name, hangs) => {
  it.each([
    ['one connection', one],
    ['a new connection each time', () => anew],
  ])('are tried apart from the first loss on, sent by %s: others do not notice them', (_from, attacker) => {
    const fleet = new Fleet(1, hangs);
    const [good, bad] = [one(), attacker()];
    expect(goodShare(fleet, 500, { ...ALONE, source: good })).toBe(1);
    expect(goodShare(fleet, 2500, { ...ALONE, source: good }, { ...KILLING, source: bad })).toBeGreaterThan(
      hangs ? 0.6 : 0.9,
    );
    expect(fleet.lost).toBe(1);
    expect(goodShare(fleet, 1500, { ...ALONE, source: good }, { ...KILLING, source: bad })).toBe(1);
    expect(fleet.lost).toBe(1);
    // Nor does who comes only now.
    expect(goodShare(fleet, 2500, { ...ALONE, source: one() }, { ...KILLING, source: bad })).toBeGreaterThan(
      hangs ? 0.3 : 0.9,
    );
    expect(fleet.lost).toBe(1);
  });
});

describe('a source of which every fifth input takes its replica down', () => {
  it.each([
    ['one connection', one],
    ['a new connection each time', () => anew],
  ])('has its other inputs answered as fast as replicas are started, by %s', (_name, sources) => {
    const fleet = new Fleet();
    const source = sources();
    goodShare(fleet, 1000, { everyMs: 60, badEvery: 5, source });
    expect(goodShare(fleet, 6000, { everyMs: 60, badEvery: 5, source })).toBeGreaterThan(0.95);
    expect(fleet.lost).toBe(1);
  });
});

describe('the replica that tries suspects', () => {
  it('is asked for when one was lost with work in hand, and given back after five minutes without', () => {
    const fleet = new Fleet();
    const { serving } = fleet;
    const good = one();
    goodShare(fleet, 100, { ...ALONE, source: good });
    const killing = serving.predict(-1, { source: {} });
    serving.run(serving.clock.nowNs() / MS + 2000);
    expect(serving.answer(killing).defaultReason).toBe('model_error');
    expect([fleet.lost, fleet.lostApart, fleet.requests]).toEqual([1, 1, [true]]);
    serving.run(serving.clock.nowNs() / MS + 301_000);
    expect(fleet.requests).toEqual([true, false]);
    // And again.
    serving.predict(-2, { source: {} });
    serving.run(serving.clock.nowNs() / MS + 2000);
    expect([fleet.lost, fleet.requests]).toEqual([2, [true, false, true]]);
  });

  it('answers for the others until they are back', () => {
    const fleet = new Fleet();
    const { serving } = fleet;
    serving.predict(-1, { source: {} });
    serving.run(1500);
    expect(fleet.main.closed).toBe(false);
    fleet.main.die('killed by somebody');
    const meanwhile = serving.predict(7);
    serving.run(serving.clock.nowNs() / MS + 50);
    expect(serving.answer(meanwhile).output).toBe('7');
  });

  it('tries nobody who is good and proven, whatever happens to be lost beside', () => {
    const fleet = new Fleet(1, false);
    const { serving } = fleet;
    const good = one();
    goodShare(fleet, 500, { ...ALONE, source: good });
    for (let at = 1; at < 4; at++) {
      fleet.main.die('killed by somebody');
      serving.run(serving.clock.nowNs() / MS + 400);
      expect(goodShare(fleet, 300, { ...ALONE, source: good })).toBe(1);
    }
    expect(fleet.lostApart).toBe(0);
  });
});
