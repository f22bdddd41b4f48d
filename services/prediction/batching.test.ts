import { describe, expect, it } from 'vitest';
import { elementOf, inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

describe('deadlines in the queue', () => {
  it('answers a queued query at its deadline while the model is busy for seconds', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 1 }, 200_000);
    const container = serving.container({ serviceNs: () => 5000 * MS });
    const running = serving.predict(1);
    serving.run(1);
    const queued = serving.predict(2);
    serving.run(250);
    expect(serving.answer(queued)).toMatchObject({ defaultReason: 'deadline', latencyNs: 200 * MS });
    expect(serving.answer(running).latencyNs).toBe(200 * MS);
    expect(serving.engine.replicas()[0]).toMatchObject({ queued: 0, inFlightItems: 1 });
    serving.run();
    expect(container.items).toBe(1);
  });

  it('sends the earliest deadline first', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 2 });
    const container = serving.container({ serviceNs: () => MS });
    for (const [at, budget] of [9, 3, 7, 5].entries()) serving.predict(at, { budgetNs: budget * MS });
    serving.run();
    const order = container.frames.flatMap((frame) => frame.items.map((item) => elementOf(item.bytes)));
    expect(order).toEqual([1, 3, 2, 0]);
    expect(container.frames[1].items[0].budgetNs).toBe(6 * MS);
  });

  it('moves an evaluation up when an impatient query joins it, and keeps it for a patient one', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 1 });
    const container = serving.container({ serviceNs: () => 2 * MS });
    serving.predict(0);
    serving.run(0.5);
    serving.predict(1, { budgetNs: 15 * MS });
    serving.predict(2, { budgetNs: 19 * MS });
    const joined = serving.predict(2, { budgetNs: 5 * MS });
    serving.run();
    expect(container.frames.map((frame) => elementOf(frame.items[0].bytes))).toEqual([0, 2, 1]);
    expect(serving.answer(joined).output).toBe('2');

    const slow = new Serving().simple({ strategy: 'fixed', maxBatchSize: 1 });
    slow.container({ serviceNs: () => 8 * MS });
    slow.predict(0);
    slow.run(0.5);
    const impatient = slow.predict(1, { budgetNs: 2 * MS });
    const patient = slow.predict(1);
    slow.run();
    expect(slow.answer(impatient).defaultReason).toBe('deadline');
    expect(slow.answer(patient).output).toBe('1');
  });
});

describe('nobody waits any more', () => {
  it('never sends 50 queued queries whose clients went away', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
    const container = serving.container({ serviceNs: () => 5 * MS });
    const first = serving.predict(0);
    serving.run(1);
    const gone = Array.from({ length: 50 }, (_, at) => serving.predict(100 + at));
    for (const id of gone) expect(serving.engine.cancel(id)).toBe(true);
    expect(serving.engine.cancel(gone[0])).toBe(false);
    expect(serving.engine.cancel('nobody')).toBe(false);
    expect(serving.engine.replicas()[0].queued).toBe(0);
    expect(serving.engine.inFlight()).toBe(1);
    serving.run();
    expect(container.items).toBe(1);
    expect(serving.answers.map((answer) => answer.queryId)).toEqual([first]);
    expect(serving.engine.cacheStats().pending).toBe(0);
  });

  it('keeps an evaluation that somebody else shares, and tells the container of one that nobody does', () => {
    const serving = new Serving().simple();
    const container = serving.container({ manual: true });
    const one = serving.predict(1);
    const other = serving.predict(1);
    serving.run(0);
    serving.engine.cancel(one);
    expect(container.cancelled).toEqual([]);
    serving.engine.cancel(other);
    expect(container.cancelled).toEqual([0]);
    const again = serving.predict(1);
    container.give(container.frames[0], [{ id: 0, ok: false, code: 'cancelled', message: 'skipped' }]);
    serving.run(1);
    expect(container.frames).toHaveLength(2);
    container.give(container.frames[1], container.resultsOf(container.frames[1]));
    expect(serving.answer(again).output).toBe('1');
  });

  it('is in order again after a thousand cancellations at random times', () => {
    const serving = new Serving().simple();
    serving.container({ credits: 2, serviceNs: (items) => MS + items * 10_000 });
    let seed = 99;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let at = 0; at < 1000; at++) {
      const id = serving.predict(at);
      serving.clock.run(serving.clock.nowNs() + random() * 0.4 * MS);
      serving.engine.cancel(id);
    }
    serving.run();
    const before = serving.answers.length;
    for (let at = 0; at < 100; at++) {
      serving.predict(10_000 + at);
      serving.clock.run(serving.clock.nowNs() + MS);
    }
    serving.run();
    const after = serving.answers.slice(before);
    expect(after).toHaveLength(100);
    expect(after.every((answer) => !answer.isDefault)).toBe(true);
    expect(serving.engine.inFlight()).toBe(0);
    expect(serving.engine.replicas()[0]).toMatchObject({ queued: 0, inFlightItems: 0, inFlightBatches: 0 });
  });
});

describe('bounds', () => {
  it('refuses beyond the queue length at once, and holds no more', () => {
    const serving = new Serving({ maxQueued: 10 }).simple({ strategy: 'fixed', maxBatchSize: 1 });
    const container = serving.container({ serviceNs: () => 3 * MS });
    for (let at = 0; at < 100; at++) serving.predict(at);
    const refused = serving.answers.filter((answer) => answer.defaultReason === 'overload');
    expect(refused).toHaveLength(90);
    expect(refused.every((answer) => answer.latencyNs === 0)).toBe(true);
    expect(refused.every(({ retryAfterNs }) => retryAfterNs !== undefined)).toBe(true);
    serving.run();
    expect(serving.answers).toHaveLength(100);
    expect(container.items).toBeLessThanOrEqual(10);
    expect(serving.engine.cacheStats().pending).toBe(0);
  });

  it('keeps as many batches in flight as the container gave credits', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 2 });
    const container = serving.container({ manual: true, credits: 2 });
    for (let at = 0; at < 10; at++) serving.predict(at);
    serving.run(0);
    expect(container.sizes).toEqual([2, 2]);
    container.give(container.frames[1], container.resultsOf(container.frames[1]));
    expect(container.sizes).toEqual([2, 2, 2]);
    container.emit({ kind: 'credit', credits: 1 });
    serving.run(1);
    expect(container.sizes).toEqual([2, 2, 2, 2]);
  });

  it('never sends more than the container takes, and never pads', () => {
    const serving = new Serving().simple();
    const container = serving.container({ maxBatchSize: 4, serviceNs: () => 1000 });
    for (let at = 0; at < 200; at++) serving.predict(at);
    serving.run();
    serving.predict(1000);
    serving.run();
    expect(Math.max(...container.sizes)).toBe(4);
    expect(container.sizes.at(-1)).toBe(1);
    expect(container.items).toBe(201);
  });

  it('leaves an instant model at one client as fast as a fixed size does', () => {
    const latencies = (strategy: 'aimd' | 'fixed') => {
      const serving = new Serving().simple(
        strategy === 'aimd' ? { strategy } : { strategy, maxBatchSize: 64 },
      );
      const container = serving.container();
      for (let at = 0; at < 200; at++) {
        serving.predict(at);
        serving.run();
      }
      expect(Math.max(...container.sizes)).toBe(1);
      return serving.answers.map((answer) => answer.latencyNs);
    };
    expect(latencies('aimd')).toEqual(latencies('fixed'));
  });
});

describe('results that do not fit', () => {
  const fixed = { strategy: 'fixed', maxBatchSize: 8 } as const;

  it('fails only what a container left out, and the replica stays usable', () => {
    const serving = new Serving().simple(fixed);
    let bad = true;
    serving.container({
      answer: (frame) => {
        const results = frame.items.map((item) => ({ id: item.id, ok: true as const, output: 'y' }));
        return bad ? results.slice(0, -1) : results;
      },
    });
    const ids = Array.from({ length: 4 }, (_, at) => serving.predict(at));
    serving.run();
    expect(ids.map((id) => serving.answer(id).defaultReason)).toEqual([
      undefined,
      undefined,
      undefined,
      'model_error',
    ]);
    expect(serving.observer.events).toEqual(['protocol r0: answered 3 of 4 items of batch 1']);
    bad = false;
    const retry = serving.predict(3);
    serving.run();
    expect(serving.answer(retry).output).toBe('y');
  });

  it('ignores results for batches that are not in flight', () => {
    const serving = new Serving().simple(fixed);
    const container = serving.container({ manual: true });
    const id = serving.predict(1);
    serving.run(0);
    const frame = container.frames[0];
    container.give(frame, [{ id: 0, ok: true, output: 'first' }]);
    container.give(frame, [{ id: 0, ok: true, output: 'again' }]);
    expect(serving.answer(id).output).toBe('first');
    expect(serving.observer.events).toEqual(['protocol r0: answered batch 1, which is not in flight']);
    serving.predict(2);
    serving.run(1);
    expect(container.frames).toHaveLength(2);
  });

  it.each([
    ['an item answered twice', [0, 1, 1, 3], 'two results for item 1'],
    ['an item answered twice beside all others', [0, 1, 2, 3, 0], 'two results for item 0'],
    ['items counted from one', [1, 2, 3, 4], 'a result for item 4, and none for another'],
    ['an id that is no number', [0, 1, 2, NaN], 'a result for item NaN, and none for another'],
  ])('takes nothing of a batch with %s: another replica answers it', (_what, order, confusion) => {
    const serving = new Serving().simple(fixed);
    const bad = serving.container({ manual: true });
    const ids = [0, 1, 2, 3].map((at) => serving.predict(at));
    serving.run(1);
    const good = serving.container({ replica: 'r1' });
    bad.give(
      bad.frames[0],
      order.map((id, at) => ({ id, ok: true, output: `wrong ${at}` })),
    );
    serving.run();
    expect(ids.map((id) => serving.answer(id).output)).toEqual(['0', '1', '2', '3']);
    expect(bad.closed).toBe(true);
    expect(good.items).toBe(4);
    const reason = `answered batch 1 of 4 items with ${confusion}`;
    expect(serving.observer.events).toEqual([`protocol r0: ${reason}`, `down r0: ${reason}`]);
  });

  it('fails one item of a batch by itself: its 15 neighbours are answered', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 16 });
    const container = serving.container({
      answer: (frame) =>
        frame.items.map((item) =>
          elementOf(item.bytes) === 7
            ? { id: item.id, ok: false, code: 'modelError', message: 'seven' }
            : { id: item.id, ok: true, output: `${elementOf(item.bytes)}` },
        ),
    });
    const ids = Array.from({ length: 16 }, (_, at) => serving.predict(at));
    serving.run();
    expect(container.sizes).toEqual([16]);
    for (const [at, id] of ids.entries()) {
      expect(serving.answer(id)).toMatchObject(
        at === 7 ? { defaultReason: 'model_error' } : { output: `${at}`, isDefault: false },
      );
    }
  });

  it('serves on after twenty failures in a row', () => {
    const serving = new Serving().simple(fixed);
    let failures = 20;
    serving.container({
      answer: (frame) =>
        frame.items.map(({ id }) =>
          failures-- > 0
            ? { id, ok: false, code: 'modelError', message: 'boom' }
            : { id, ok: true, output: 'y' },
        ),
    });
    for (let at = 0; at < 21; at++) {
      serving.predict(at);
      serving.run();
    }
    expect(serving.answers.map((answer) => answer.isDefault)).toEqual([
      ...Array.from({ length: 20 }, () => true),
      false,
    ]);
    expect(serving.engine.replicas()).toHaveLength(1);
  });

  it.each([NaN, -1, 0, 0.5, Infinity])('takes no %d credits', (credits) => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 1 });
    const container = serving.container({ manual: true });
    container.emit({ kind: 'credit', credits });
    for (let at = 0; at < 3; at++) serving.predict(at);
    serving.run(1);
    expect(container.sizes).toEqual([1]);
    expect(serving.observer.events).toEqual([
      `protocol r0: granted ${credits} credits: a whole number above 0 is expected`,
    ]);
  });

  it('does not believe an impossible service time or an output that is no string', () => {
    const serving = new Serving().simple(fixed);
    const container = serving.container({ manual: true });
    const id = serving.predict(1);
    serving.run(0);
    container.give(container.frames[0], [{ id: 0, ok: true, output: 3 as unknown as string }], NaN);
    expect(serving.answer(id).defaultReason).toBe('model_error');
    expect(serving.engine.replicas()[0].itemNs).toBe(0);
  });

  it.each([
    [{ protocolVersion: 99 }, /protocolVersion must be 1 to 2, not 99/],
    [{ inputType: 'strings' as const }, /inputType must be doubles, not strings/],
    [{ maxBatchSize: 0 }, /maxBatchSize must be a whole number above 0, not 0/],
    [{ credits: NaN }, /credits must be a whole number above 0, not NaN/],
    [{ model: 'other' }, /model 'other' version '1' is not registered/],
  ])('does not take a replica that says %j', (hello, why) => {
    const serving = new Serving().simple();
    const container = serving.container({ hello });
    expect(container.closed).toBe(true);
    expect(serving.observer.events[0]).toMatch(why);
    expect(serving.engine.ready('m', '1')).toBe(false);
  });
});

describe('lost replicas', () => {
  it('re-queues what a lost replica had, within the deadlines', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
    const doomed = serving.container({ manual: true, replica: 'doomed' });
    const ids = Array.from({ length: 20 }, (_, at) => serving.predict(at));
    serving.run(5);
    const healthy = serving.container({ replica: 'healthy', serviceNs: () => MS });
    doomed.die();
    doomed.give(doomed.frames[0], doomed.resultsOf(doomed.frames[0]));
    serving.run();
    for (const [at, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${at}`);
    expect(healthy.items).toBe(20);
    expect(serving.observer.events).toEqual(['down doomed: killed']);
    expect(serving.engine.replicas().map((replica) => replica.replica)).toEqual(['healthy']);
  });

  it('answers everybody within the objective when one of two is killed under load, and asks it no more', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 }, 100_000);
    const [doomed, healthy] = ['doomed', 'healthy'].map((replica) =>
      serving.container({ replica, credits: 2, serviceNs: () => 10 * MS }),
    );
    const ids: string[] = [];
    for (let at = 0; at < 600; at++) {
      ids.push(serving.predict(at));
      serving.clock.run((at + 1) * 1.5 * MS);
      if (at === 300) doomed.die('signal SIGKILL');
    }
    const asked = doomed.frames.length;
    serving.run();
    expect(doomed.frames).toHaveLength(asked);
    expect(serving.engine.replicas().map(({ replica }) => replica)).toEqual(['healthy']);
    expect(healthy.items).toBeGreaterThan(300);
    for (const id of ids) {
      expect(serving.answer(id).isDefault).toBe(false);
      expect(serving.answer(id).latencyNs).toBeLessThanOrEqual(100 * MS);
    }
  });

  it('fails fast when there is no other, and serves again with a new one', () => {
    const serving = new Serving().simple();
    const only = serving.container({ manual: true });
    const id = serving.predict(1);
    serving.run(1);
    only.die();
    expect(serving.answer(id)).toMatchObject({ defaultReason: 'no_replica', latencyNs: MS });
    serving.container();
    const again = serving.predict(1);
    serving.run();
    expect(serving.answer(again).output).toBe('1');
  });

  it('gives up an input that has cost two replicas', () => {
    const serving = new Serving().simple();
    const containers = [0, 1, 2].map((at) => serving.container({ manual: true, replica: `r${at}` }));
    const id = serving.predict(666);
    for (let round = 0; round < 2; round++) {
      serving.run(round + 1);
      const holder = containers.find((container) => container.frames.length > 0 && !container.closed);
      holder?.die('segmentation fault');
    }
    expect(serving.answer(id)).toMatchObject({ defaultReason: 'model_error', latencyNs: 2 * MS });
    expect(serving.engine.replicas()).toHaveLength(1);
  });

  it('takes a channel that throws for a lost one', () => {
    const serving = new Serving().simple();
    const broken = serving.container({ replica: 'broken' });
    broken.send = () => {
      throw new Error('EPIPE');
    };
    const id = serving.predict(1);
    serving.run();
    expect(serving.answer(id).defaultReason).toBe('no_replica');
    expect(serving.observer.events).toEqual(['down broken: sending failed: EPIPE']);
  });

  it('spreads work over replicas by expected wait', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 1 }, 500_000);
    const fast = serving.container({ replica: 'fast', serviceNs: () => MS });
    const slow = serving.container({ replica: 'slow', serviceNs: () => 3 * MS });
    for (let at = 0; at < 300; at++) {
      serving.predict(at);
      serving.clock.run(serving.clock.nowNs() + 0.8 * MS);
    }
    serving.run();
    expect(serving.answers.every((answer) => !answer.isDefault)).toBe(true);
    expect(fast.items + slow.items).toBe(300);
    expect(fast.items / slow.items).toBeGreaterThan(2);
    expect(slow.items).toBeGreaterThan(30);
  });
});

describe('identical queries in flight', () => {
  it('cost one item; a failure goes to all, and is not kept', () => {
    const serving = new Serving().simple();
    let failing = true;
    const container = serving.container({
      answer: (frame) =>
        frame.items.map((item) =>
          failing
            ? { id: item.id, ok: false, code: 'modelError', message: 'boom' }
            : { id: item.id, ok: true, output: 'y' },
        ),
    });
    const ids = Array.from({ length: 20 }, () => serving.predict(inputOf(4, 2)));
    serving.run();
    expect(container.items).toBe(1);
    expect(ids.every((id) => serving.answer(id).defaultReason === 'model_error')).toBe(true);
    failing = false;
    const retry = serving.predict(inputOf(4, 2));
    serving.run();
    expect(serving.answer(retry).output).toBe('y');
    expect(serving.engine.cacheStats()).toMatchObject({ requests: 21, hits: 0, joins: 19, misses: 2 });
  });
});
