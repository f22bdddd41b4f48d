import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ItemResult, PredictFrame } from '../../containers/protocol/index.js';
import { elementOf, Serving, type TestContainer } from './tests/serving.js';

const MS = 1e6;
const PATIENT_US = 60e6;
const isPoison = (element: number): boolean => element === 666;

/** Replicas that are started again, 50 ms after each loss, and how many were lost. */
class Fleet {
  lost = 0;
  readonly containers: TestContainer[] = [];

  constructor(
    readonly serving: Serving,
    size: number,
    private readonly kills: (element: number) => boolean,
    private readonly credits = 1,
  ) {
    serving.clock.attach('fleet', { onEvent: () => this.add() });
    for (let at = 0; at < size; at++) this.add();
  }

  private add(): void {
    const replica = `r${this.containers.length}`;
    const onClosed = (): void => {
      this.lost += 1;
      this.serving.clock.schedule('fleet', this.serving.clock.nowNs() + 50 * MS, 'start');
    };
    const { kills, credits } = this;
    this.containers.push(this.serving.container({ replica, kills, credits, onClosed, serviceNs: () => MS }));
  }
}

function fixed(maxBatchSize: number, objectiveUs = PATIENT_US): Serving {
  return new Serving().simple({ strategy: 'fixed', maxBatchSize }, objectiveUs);
}

describe('an input that takes its container down', () => {
  it('is isolated in log2(n) further losses, and only it fails', () => {
    const serving = fixed(64);
    const fleet = new Fleet(serving, 8, isPoison);
    const ids = Array.from({ length: 64 }, (_, at) => serving.predict(at === 41 ? 666 : at));
    serving.run();
    for (const [at, id] of ids.entries()) {
      expect(serving.answer(id)).toMatchObject(
        at === 41 ? { defaultReason: 'model_error' } : { output: `${at}` },
      );
    }
    expect(fleet.lost).toBeLessThanOrEqual(1 + Math.log2(64));
  });

  it('costs a bounded number of replicas, wherever it is and however many there are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 80 }),
        fc.uniqueArray(fc.nat(79), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        (queries, at, replicas, credits) => {
          const serving = fixed(32);
          const poisons = new Set(at.map((place) => place % queries));
          const fleet = new Fleet(serving, replicas, (element) => poisons.has(element), credits);
          const ids = Array.from({ length: queries }, (_, element) => serving.predict(element));
          serving.run();
          for (const [element, id] of ids.entries()) {
            const { defaultReason, output } = serving.answer(id);
            if (poisons.has(element)) expect(defaultReason).toBe('model_error');
            else expect(output).toBe(`${element}`);
          }
          expect(fleet.lost).toBeLessThanOrEqual(poisons.size * (1 + Math.log2(32)));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('costs no innocent its answer where it takes down the only replica, again and again', () => {
    const serving = fixed(64, 10_000_000);
    const fleet = new Fleet(serving, 1, isPoison, 2);
    const ids = Array.from({ length: 64 }, (_, at) => serving.predict(at === 41 ? 666 : at));
    serving.run();
    for (const [at, id] of ids.entries()) {
      expect(serving.answer(id)).toMatchObject(
        at === 41 ? { defaultReason: 'model_error' } : { output: `${at}` },
      );
    }
    expect(fleet.lost).toBeLessThanOrEqual(1 + Math.log2(64));
  });

  it('is two inputs that kill in company only: both are answered', () => {
    const serving = fixed(64, 10_000_000);
    const containers: TestContainer[] = [];
    const given = new Set<PredictFrame>();
    const add = (): void => {
      const onClosed = (): void => {
        serving.clock.schedule('restarts', serving.clock.nowNs() + 50 * MS, 'start');
      };
      containers.push(serving.container({ replica: `r${containers.length}`, manual: true, onClosed }));
    };
    serving.clock.attach('restarts', { onEvent: add });
    add();
    add();
    const ids = Array.from({ length: 64 }, (_, at) => serving.predict(at));
    for (let ms = 1; ms < 2000; ms++) {
      serving.run(ms);
      for (const container of [...containers]) {
        for (const frame of container.closed ? [] : container.frames) {
          if (given.has(frame) || container.closed) continue;
          given.add(frame);
          const elements = frame.items.map(({ bytes }) => elementOf(bytes));
          if (elements.includes(7) && elements.includes(8)) container.die('signal SIGSEGV');
          else container.give(frame, container.resultsOf(frame));
        }
      }
    }
    for (const [at, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${at}`);
    expect(containers.length - 2).toBeLessThanOrEqual(1 + Math.log2(64));
  });

  it('fails at once when it comes back, and takes nothing down for minutes', () => {
    const serving = fixed(8, 500_000);
    const fleet = new Fleet(serving, 5, isPoison);
    for (let at = 0; at < 7; at++) serving.predict(at);
    serving.predict(666);
    serving.run();
    const { lost } = fleet;
    expect(lost).toBeGreaterThan(1);
    for (let at = 0; at < 50; at++) {
      const again = serving.predict(666);
      const innocent = serving.predict(1000 + at);
      serving.run();
      expect(serving.answer(again)).toMatchObject({ defaultReason: 'model_error', latencyNs: 0 });
      expect(serving.answer(innocent).output).toBe(`${1000 + at}`);
    }
    expect(fleet.lost).toBe(lost);
    serving.run(serving.clock.nowNs() / MS + 301_000);
    serving.predict(666);
    serving.run();
    expect(fleet.lost).toBeGreaterThan(lost);
  });

  it('is tried again by everybody where nothing shows that the model answers anything', () => {
    const serving = fixed(8, 500_000);
    let broken = true;
    const fleet = new Fleet(serving, 3, () => broken);
    const id = serving.predict(1);
    serving.run();
    expect(serving.answer(id).defaultReason).toBe('model_error');
    expect(fleet.lost).toBe(2);
    broken = false;
    const again = serving.predict(1);
    serving.run();
    expect(serving.answer(again).output).toBe('1');
  });

  it('is closed in on over several tries where each expires with its replica', () => {
    const serving = fixed(16, 40_000);
    const fleet = new Fleet(serving, 1, isPoison);
    const answered = new Set<number>();
    for (let attempt = 0; attempt < 40; attempt++) {
      const ids = Array.from({ length: 16 }, (_, at) =>
        serving.predict(at === 3 ? 666 : 1000 * attempt + at),
      );
      serving.run(serving.clock.nowNs() / MS + 60);
      serving.run();
      for (const [at, id] of ids.entries())
        if (!serving.answer(id).isDefault) answered.add(1000 * attempt + at);
    }
    expect(fleet.lost).toBeLessThanOrEqual(1 + Math.log2(16));
    expect(answered.size).toBeGreaterThanOrEqual(15 * 35);
  });

  it('takes no innocent down with it: suspects travel alone, and those who waited behind them are no suspects', () => {
    const serving = fixed(8);
    const fleet = new Fleet(serving, 3, isPoison, 2);
    const suspects = new Set(Array.from({ length: 8 }, (_, at) => (at === 2 ? 666 : at)));
    for (const element of suspects) serving.predict(element);
    serving.run(0.5);
    const later = Array.from({ length: 200 }, (_, at) => {
      serving.run(serving.clock.nowNs() / MS + 0.1);
      return serving.predict(100 + at);
    });
    serving.run();
    for (const id of later) expect(serving.answer(id).isDefault).toBe(false);
    const elements = ({ items }: PredictFrame): number[] => items.map(({ bytes }) => elementOf(bytes));
    const deadly = fleet.containers
      .flatMap(({ frames }) => frames)
      .filter((frame) => elements(frame).includes(666));
    expect(deadly.length).toBeGreaterThan(1);
    for (const frame of deadly.slice(1)) {
      expect(elements(frame).every((element) => suspects.has(element))).toBe(true);
    }
  });

  it('is tried with nothing else in flight beside it: it waits for what is there, and the others for it', () => {
    const serving = fixed(8);
    const first = serving.container({ replica: 'first', manual: true, credits: 2 });
    serving.predict(666);
    serving.run(1);
    const second = serving.container({ replica: 'second', manual: true, credits: 2 });
    serving.predict(1);
    serving.run(2);
    first.die();
    serving.run(3);
    const given = (): number[] =>
      second.frames.flatMap(({ items }) => items.map(({ bytes }) => elementOf(bytes)));
    const answer = (batch: number): void =>
      second.give(second.frames[batch], second.resultsOf(second.frames[batch]));
    expect(given()).toEqual([1]);
    answer(0);
    serving.run(4);
    expect(given()).toEqual([1, 666]);
    serving.predict(2);
    serving.run(5);
    expect(given()).toEqual([1, 666]);
    answer(1);
    serving.run(6);
    expect(given()).toEqual([1, 666, 2]);
  });
});

describe('a container that is killed', () => {
  it('under load is no fault of its queries: every one is answered, kill after kill', () => {
    const serving = fixed(8);
    const fleet = new Fleet(serving, 3, () => false, 2);
    const ids = Array.from({ length: 2000 }, (_, at) => {
      serving.run(serving.clock.nowNs() / MS + 0.3);
      if (at % 150 === 149) fleet.containers.find(({ closed }) => !closed)?.die('signal SIGKILL');
      return serving.predict(at);
    });
    serving.run();
    expect(fleet.lost).toBe(13);
    for (const [at, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${at}`);
  });

  it('fails nobody who was in two lost batches by chance', () => {
    const serving = fixed(8);
    const containers = [0, 1].map((at) => serving.container({ replica: `r${at}`, manual: true }));
    const ids = Array.from({ length: 8 }, (_, element) => serving.predict(element));
    for (let kill = 0; kill < 2; kill++) {
      serving.run(kill + 1);
      if (kill === 1) serving.container({ replica: 'last', serviceNs: () => MS });
      containers.find(({ frames, closed }) => frames.length > 0 && !closed)?.die('signal SIGKILL');
    }
    serving.run();
    expect(containers.every(({ closed }) => closed)).toBe(true);
    for (const [element, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${element}`);
  });
});

describe('a container that is lost by what is sent while it answers', () => {
  it('leaves what it could not decide to the next one', () => {
    const serving = fixed(2);
    const first = serving.container({ replica: 'first', manual: true, calls: () => 2 });
    const ids = [1, 2, 3].map((element) => serving.predict(element));
    serving.run(1);
    const [frame] = first.frames;
    first.send = () => {
      throw new Error('no wire');
    };
    const undecided = { id: 1, ok: false, code: 'undecided', message: 'raised' } as const;
    first.give(frame, [{ id: 0, ok: true, output: '1' }, undecided]);
    expect(serving.observer.events).toEqual(['down first: sending failed: no wire']);
    const next = serving.container({ replica: 'next' });
    serving.run();
    expect(ids.map((id) => serving.answer(id).output)).toEqual(['1', '2', '3']);
    expect(next.items).toBe(2);
  });
});

describe('a model that raises for a whole batch because of one input', () => {
  const raises =
    (wrong: (element: number) => boolean) =>
    (frame: PredictFrame): ItemResult[] => {
      const failing = frame.items.some(({ bytes }) => wrong(elementOf(bytes)));
      return frame.items.map(({ id, bytes }) =>
        failing
          ? { id, ok: false, code: 'modelError', message: 'ValueError: bad value' }
          : { id, ok: true, output: `${elementOf(bytes)}` },
      );
    };

  /** Who has spoilt a batch is found out inside the container. */
  const parting = (
    wrong: (element: number) => boolean,
  ): { answer: (frame: PredictFrame) => ItemResult[]; calls: (frame: PredictFrame) => number } => ({
    answer: (frame) =>
      frame.items.map(({ id, bytes }) =>
        wrong(elementOf(bytes))
          ? { id, ok: false, code: 'modelError', message: 'ValueError: bad value' }
          : { id, ok: true, output: `${elementOf(bytes)}` },
      ),
    calls: ({ items }) => 1 + items.filter(({ bytes }) => wrong(elementOf(bytes))).length * 2,
  });

  it('fails that one, and answers its 15 neighbours', () => {
    const serving = fixed(16, 50_000);
    const container = serving.container({ answer: raises(isPoison), serviceNs: () => MS });
    const ids = Array.from({ length: 16 }, (_, at) => serving.predict(at === 7 ? 666 : at));
    serving.run();
    for (const [at, id] of ids.entries()) {
      expect(serving.answer(id)).toMatchObject(
        at === 7 ? { defaultReason: 'model_error' } : { output: `${at}` },
      );
    }
    expect(container.sizes[0]).toBe(16);
    expect(container.frames.length).toBeLessThanOrEqual(1 + 2 * Math.log2(16));
    expect(serving.engine.replicas()).toHaveLength(1);
  });

  it('fails the bad ones alone where every fourth is bad, whatever the size of batches', () => {
    for (const size of [8, 32, 64]) {
      const serving = fixed(size, 500_000);
      const isBad = (element: number): boolean => element % 4 === 3;
      const container = serving.container({ answer: raises(isBad), serviceNs: () => MS, credits: 2 });
      const ids = Array.from({ length: 64 }, (_, at) => serving.predict(at));
      serving.run();
      expect(ids.map((id) => serving.answer(id).defaultReason)).toEqual(
        ids.map((_, at) => (isBad(at) ? 'model_error' : undefined)),
      );
      expect(container.items).toBeLessThanOrEqual(4 * 64);
    }
  });

  it('costs a client that sends some with its own, and not the others', () => {
    // 20 ms of load for each 20 ms: good ones alone, then with a quarter as many that are bad, from one client of its own.
    const answered = (badClient: (() => object) | undefined, parts = false): number => {
      const serving = fixed(32, 100_000);
      const isBad = (element: number): boolean => element < 0;
      const serviceNs = (n: number): number => 2 * MS + n * 0.2 * MS;
      serving.container({ ...(parts ? parting(isBad) : { answer: raises(isBad) }), serviceNs, credits: 2 });
      const [first, second] = [{}, {}];
      const good: string[] = [];
      for (let at = 0; at < 4000; at++) {
        good.push(serving.predict(at, { source: at % 2 === 0 ? first : second }));
        if (at % 4 === 0 && badClient !== undefined) serving.predict(-1 - at, { source: badClient() });
        serving.clock.run((at + 1) * 0.35 * MS);
      }
      serving.run();
      return good.filter((id) => !serving.answer(id).isDefault).length;
    };
    const alone = answered(undefined);
    expect(alone).toBeGreaterThan(3900);
    const one = {};
    expect(answered(() => one) / alone).toBeGreaterThan(0.9);
    expect(answered(() => one, true) / alone).toBeGreaterThan(0.95);
    // One that comes as another each time gains nothing.
    expect(answered(() => ({})) / alone).toBeGreaterThan(0.7);
    expect(answered(() => ({}), true) / alone).toBeGreaterThan(0.95);
  });

  it('spoils nobody else’s batch when it is asked again, and is tried each time', () => {
    const serving = fixed(16, 50_000);
    let failing = true;
    const container = serving.container({ answer: raises((element) => failing && isPoison(element)) });
    const round = (from: number): string => {
      for (let at = 0; at < 15; at++) serving.predict(from + at);
      const id = serving.predict(666);
      serving.run();
      return id;
    };
    round(0);
    const before = container.frames.length;
    expect(serving.answer(round(100)).defaultReason).toBe('model_error');
    expect(container.sizes.slice(before)).toEqual([1, 15]);
    failing = false;
    expect(serving.answer(round(200)).output).toBe('666');
    expect(serving.answers.filter(({ isDefault }) => isDefault)).toHaveLength(2);
  });

  it('answers its neighbours again once the model has answered, however often it had failed before', () => {
    const serving = fixed(16, 50_000);
    let broken = true;
    serving.container({ answer: raises((element) => broken || isPoison(element)) });
    for (let round = 0; round < 5; round++) {
      for (let at = 0; at < 16; at++) serving.predict(1000 * round + at);
      serving.run();
    }
    broken = false;
    serving.predict(50_000);
    serving.run();
    const ids = Array.from({ length: 16 }, (_, at) => serving.predict(at === 7 ? 666 : 60_000 + at));
    serving.run();
    expect(ids.map((id) => serving.answer(id).isDefault)).toEqual(ids.map((_, at) => at === 7));
  });

  it('is not asked again and again when it fails whatever it gets, and serves once it can', () => {
    const serving = fixed(16, 50_000);
    let failing = true;
    const container = serving.container({ answer: raises(() => failing), serviceNs: () => MS });
    const ids: string[] = [];
    for (let round = 0; round < 20; round++) {
      for (let at = 0; at < 16; at++) ids.push(serving.predict(1000 * round + at));
      serving.run();
    }
    expect(ids.every((id) => serving.answer(id).defaultReason === 'model_error')).toBe(true);
    expect(container.frames.length).toBeLessThan(20 + 2 * 32);
    failing = false;
    const back = Array.from({ length: 16 }, (_, at) => serving.predict(50_000 + at));
    serving.run();
    for (const id of back) expect(serving.answer(id).isDefault).toBe(false);
  });
});
