import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryStore, type StoreOutcome } from '../store/index.js';
import { EventLog, MOST_EVENTS, type EventQuery } from './index.js';

/** A store whose next writes fail, or find that somebody was faster. */
class TroubledStore extends MemoryStore {
  readonly troubles: ((key: string) => StoreOutcome)[] = [];

  override set(...[key, value, expected, done]: Parameters<MemoryStore['set']>): void {
    const trouble = this.troubles.shift();
    if (trouble === undefined) super.set(key, value, expected, done);
    else {
      const outcome = trouble(key);
      queueMicrotask(() => done?.(outcome));
    }
  }
}

const ops = { name: 'ops', key: 'k1' };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('events', () => {
  let store: TroubledStore;
  let lines: string[];
  let nowMs = 0;
  const open = (): EventLog =>
    new EventLog({
      store,
      server: 'here',
      announce: (message) => lines.push(message),
      complain: (message) => lines.push(message),
      nowMs: () => nowMs,
    });
  beforeEach(() => {
    store = new TroubledStore();
    lines = [];
    nowMs = Date.UTC(2030, 0, 31);
  });

  it('are kept in the store, in order, with who, what, before and after', async () => {
    const log = open();
    log.note(ops, { verb: 'set_app', about: { application: 'a' }, before: { x: 1 }, after: { x: 2 } });
    log.noteAutomatic('autoscaler', { verb: 'scale', about: { model: 'm', version: '1' } });
    await settled();
    const first = { seq: 1, time: '2030-01-31T00:00:00.000Z', server: 'here', by: ops, verb: 'set_app' };
    expect(log.recent()).toEqual([
      { ...first, about: { application: 'a' }, before: { x: 1 }, after: { x: 2 } },
      expect.objectContaining({ seq: 2, by: { name: 'autoscaler' }, automatic: true }) as unknown,
    ]);
    expect(lines).toEqual(['change: set_app', 'change: scale']);
    log.close();
    const later = open();
    later.note(ops, { verb: 'delete_app', about: {} });
    await settled();
    expect(later.recent().map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(later.recent(1).map(({ verb }) => verb)).toEqual(['delete_app']);
  });

  it('are found by number, time, application and model', async () => {
    const log = open();
    for (let at = 0; at < 10; at++) {
      nowMs += 1000;
      log.note(ops, { verb: 'x', about: at % 2 === 0 ? { application: 'a' } : { models: ['m', 'n'] } });
    }
    await settled();
    const find = (query: Partial<EventQuery>) => {
      const { events, more } = log.find({ limit: 100, ...query });
      return [events.map(({ seq }) => seq), more];
    };
    expect(find({ limit: 3 })).toEqual([[8, 9, 10], true]);
    expect(find({ before: 8, limit: 3 })).toEqual([[5, 6, 7], true]);
    expect(find({ before: 3 })).toEqual([[1, 2], false]);
    expect(find({ after: 4, limit: 3 })).toEqual([[5, 6, 7], true]);
    expect(find({ after: 10 })).toEqual([[], false]);
    expect(find({ sinceMs: nowMs - 2000 })).toEqual([[8, 9, 10], false]);
    expect(find({ application: 'a', after: 0, limit: 2 })).toEqual([[1, 3], true]);
    expect(find({ model: 'n', sinceMs: nowMs - 2000 })).toEqual([[8, 10], false]);
  });

  it('take another number when somebody else has taken theirs', async () => {
    const [one, two] = [open(), open()];
    one.note(ops, { verb: 'a', about: {} });
    await settled();
    store.troubles.push((key) => {
      store.set(key, { time: '', server: 'there', by: ops, verb: 'b', about: {} }, 0);
      return { ok: false, reason: 'conflict', current: undefined };
    });
    two.note(ops, { verb: 'c', about: {} });
    await settled();
    expect(one.recent().map(({ seq, verb }) => [seq, verb])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(two.recent()).toEqual(one.recent());
  });

  it('stay few: those that happened by themselves drive out none that somebody made', async () => {
    const log = open();
    log.note(ops, { verb: 'deploy', about: {} });
    for (let replica = 0; replica < MOST_EVENTS + 20; replica++)
      log.noteAutomatic('server', { verb: 'lost', about: { replica } });
    await settled();
    const { events } = log.find({ limit: 5000 });
    expect(events).toHaveLength(MOST_EVENTS + 1);
    expect(events[0].verb).toBe('deploy');
    expect(events.at(-1)?.seq).toBe(MOST_EVENTS + 21);
    for (let at = 0; at < MOST_EVENTS + 20; at++) {
      log.noteAutomatic('alertmanager', { verb: 'alert_firing', about: { alert: `A${at}` } });
    }
    await settled();
    const verbs = log.find({ limit: 5000 }).events.map(({ verb }) => verb);
    const count = (verb: string) => verbs.filter((each) => each === verb).length;
    expect(['deploy', 'lost', 'alert_firing'].map(count)).toEqual([1, MOST_EVENTS, MOST_EVENTS]);
  });

  it('that happen again soon are one, with a count, and are heard of each time', async () => {
    const log = open();
    const lose = async (model: string): Promise<void> => {
      log.noteAutomatic('server', { verb: 'lost', about: { model }, after: { reason: `at ${nowMs}` } });
      await settled();
    };
    await lose('m');
    const first = new Date(nowMs).toISOString();
    await lose('n');
    let heard = log.last;
    for (let at = 0; at < 3000; at++) {
      nowMs += 30_000;
      await lose('m');
      const { events } = log.find({ after: heard, limit: 10 });
      expect(events.map(({ count }) => count)).toEqual([at + 2]);
      heard = log.last;
    }
    const reason = `at ${nowMs}`;
    expect(log.recent()).toMatchObject([
      { about: { model: 'n' } },
      { about: { model: 'm' }, count: 3001, since: first, after: { reason } },
    ]);
    expect(store.list('events/')).toHaveLength(2);
    nowMs += 11 * 60_000;
    await lose('m');
    expect(log.recent()).toHaveLength(3);
    expect(log.recent().at(-1)).not.toHaveProperty('count');
  });

  it('of one that keeps changing drive out no others', async () => {
    const log = open();
    const scale = (model: string, at: number): void =>
      log.noteAutomatic('autoscaler', { verb: 'scale', about: { model }, before: at, after: at + 1 });
    scale('quiet', 0);
    for (let at = 0; at < 2 * MOST_EVENTS; at++) scale('m', at);
    await settled();
    const { events } = log.find({ limit: 5000 });
    expect(events).toHaveLength(MOST_EVENTS);
    expect(events[0].about).toEqual({ model: 'quiet' });
    expect(events.at(-1)).toMatchObject({ after: 2 * MOST_EVENTS });
    const before = store.list('events/').length;
    expect(before).toBe(MOST_EVENTS);
  });

  it('stay small: long texts and lists are cut, and the oldest go', async () => {
    const log = open();
    const long = { output: '\u{1f600}'.repeat(100_000), labels: Array.from({ length: 65_536 }, String) };
    log.note(ops, { verb: 'x', about: {}, after: long });
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`field${at}`, at]));
    log.note(ops, { verb: 'x', about: {}, after: wide });
    await settled();
    const [cut, left] = log.recent();
    expect(JSON.stringify(cut).length).toBeLessThan(1000);
    expect(cut.after).toMatchObject({ output: expect.stringMatching(/… \(200000 characters\)$/) as unknown });
    expect(left.after).toEqual({ left_out: expect.stringContaining('bytes') as unknown });
    const big = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [at, 'x'.repeat(250)]));
    for (let at = 0; at < 600; at++) log.note(ops, { verb: 'x', about: {}, after: big });
    await settled();
    expect(JSON.stringify(store.list('events/')).length).toBeLessThan(1.2 * 1024 * 1024);
    expect(log.last).toBe(602);
  });

  it('that cannot be kept are in the log, and nobody waits for them', async () => {
    const log = open();
    store.troubles.push(() => ({ ok: false, reason: 'failed', cause: 'diskFull', message: 'full' }));
    log.note(ops, { verb: 'x', about: {} });
    expect(lines).toEqual(['change: x']);
    await settled();
    expect(lines[1]).toMatch(/could not be kept/);
    expect(log.recent()).toEqual([]);
    log.note(ops, { verb: 'y', about: {} });
    await settled();
    expect(log.recent()).toMatchObject([{ seq: 1, verb: 'y' }]);
  });
});
