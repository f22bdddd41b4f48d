import { describe, expect, it } from 'vitest';
import { Serving, type TestContainer } from './tests/serving.js';

const MS = 1e6;
const SECOND_US = 1e6;

/** Three queries that the only replica took with it after 1 ms. */
function stranded(objectiveUs: number): { serving: Serving; ids: string[]; lost: TestContainer } {
  const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 2 }, objectiveUs);
  const lost = serving.container({ manual: true, replica: 'lost' });
  const ids = [1, 2, 3].map((element) => serving.predict(element));
  serving.run(1);
  lost.die('signal SIGKILL');
  return { serving, ids, lost };
}

describe('what the only replica had when it was lost', () => {
  it('waits for the next one and is answered by it, within its deadline', () => {
    const { serving, ids } = stranded(SECOND_US);
    serving.run(400);
    expect(serving.answers).toEqual([]);
    serving.container({ replica: 'next' });
    serving.run(450);
    expect(ids.map((id) => serving.answer(id).output)).toEqual(['1', '2', '3']);
  });

  it('is not waited with where less time is left than any restart takes', () => {
    const { serving, ids } = stranded(200_000);
    for (const id of ids)
      expect(serving.answer(id)).toMatchObject({ defaultReason: 'no_replica', latencyNs: MS });
  });

  it('gets the default at its deadline where none comes, and nothing is left of it', () => {
    const { serving, ids } = stranded(SECOND_US);
    serving.run();
    for (const id of ids) {
      expect(serving.answer(id)).toMatchObject({ defaultReason: 'deadline', latencyNs: 1000 * MS });
    }
    expect(serving.engine.cacheStats().pending).toBe(0);
    const next = serving.container({ replica: 'next' });
    serving.run();
    expect(next.frames).toEqual([]);
  });

  it('is joined by who asks for the same, for as long as that one waits; others are told at once', () => {
    const { serving, ids } = stranded(SECOND_US);
    serving.run(800);
    const joined = serving.predict(1);
    expect(serving.answer(serving.predict(4)).defaultReason).toBe('no_replica');
    serving.run(1200);
    expect(ids.map((id) => serving.answer(id).defaultReason)).toEqual(['deadline', 'deadline', 'deadline']);
    const next = serving.container({ replica: 'next' });
    serving.run(1300);
    expect(serving.answer(joined).output).toBe('1');
    expect(next.items).toBe(1);
  });

  it('never reaches a model when its client went away', () => {
    const { serving, ids } = stranded(SECOND_US);
    expect(serving.engine.cancel(ids[1])).toBe(true);
    const next = serving.container({ replica: 'next' });
    serving.run();
    expect(next.items).toBe(2);
    expect(serving.answers).toHaveLength(2);
  });

  it('is told at once when its model is deleted or the engine closes', () => {
    const deleted = stranded(SECOND_US);
    deleted.serving.registry.removeModel('m', '1');
    for (const id of deleted.ids) {
      expect(deleted.serving.answer(id)).toMatchObject({ defaultReason: 'no_replica', latencyNs: MS });
    }
    const closed = stranded(SECOND_US);
    closed.serving.engine.close();
    expect(closed.serving.answers).toHaveLength(3);
    expect(closed.serving.clock.nextEventNs()).toBeUndefined();
  });
});
