import { describe, expect, it } from 'vitest';
import type { ItemResult } from '../../containers/protocol/index.js';
import { MS, ReplicaParts, type TestEvaluation } from './tests/replicaParts.js';

const ok = (id: number): ItemResult => ({ id, ok: true, output: `out ${id}` });
const failed = (id: number, code: 'modelError' | 'undecided' = 'modelError'): ItemResult => ({
  id,
  ok: false,
  code,
  message: 'raised',
});

/** A replica of which two batches, of four and of one, are in flight, and one evaluation waits. */
function asked(): { parts: ReplicaParts; sent: TestEvaluation[] } {
  const parts = new ReplicaParts();
  const sent = Array.from({ length: 5 }, () => parts.take(99 * MS));
  parts.clock.run(0);
  parts.take(99 * MS);
  parts.told.length = 0;
  return { parts, sent };
}

describe('answers of one container', () => {
  it('reach those who asked, after the container has got more to do', () => {
    const { parts, sent } = asked();
    parts.clock.advanceTo(3 * MS);
    parts.answer(1, [0, 1, 2, 3].map(ok));
    expect(sent.map(({ outcomes }) => outcomes)).toEqual([['out 0'], ['out 1'], ['out 2'], ['out 3'], []]);
    expect(parts.told).toEqual(['more', 'record']);
    expect(parts.predictions.at(-1)).toMatchObject({ batchId: 3, items: { length: 1 } });
    expect(parts.records).toMatchObject([
      { model: 'm', version: '1', replica: 'r0', size: 4, limit: 4, newLimit: 4, failed: 0, serviceNs: MS },
    ]);
    expect(parts.records[0].roundTripNs).toBe(3 * MS);
    expect(parts.served).toMatchObject({ batches: 1, items: 4, itemNs: MS / 4 });
  });

  it('of a batch that is not in flight are complained of, and nothing else', () => {
    const { parts } = asked();
    parts.answer(77, [ok(0)]);
    expect(parts.told).toEqual(['complaint: answered batch 77, which is not in flight']);
    expect(parts.inFlight.size).toBe(2);
  });

  it('that nobody can tell apart take the replica out of use: no output goes to the wrong one', () => {
    const { parts, sent } = asked();
    parts.answer(1, [ok(0), ok(0), ok(1), ok(2)]);
    const message = 'answered batch 1 of 4 items with two results for item 0';
    expect(parts.told).toEqual([`complaint: ${message}`, `lost: ${message}`, `closed: ${message}`]);
    expect(sent.flatMap(({ outcomes }) => outcomes)).toEqual([]);
    expect(parts.inFlight.size).toBe(2);
  });

  it('that fail for all in one way are asked again in smaller groups, and teach nothing of times', () => {
    const { parts, sent } = asked();
    parts.answer(
      1,
      [0, 1, 2, 3].map((id) => failed(id)),
    );
    expect(parts.again).toEqual(sent.slice(0, 4));
    expect(sent.map(({ mostTogether }) => mostTogether)).toEqual([2, 2, 2, 2, Infinity]);
    expect(sent.flatMap(({ outcomes }) => outcomes)).toEqual([]);
    expect(parts.served).toMatchObject({ batches: 1, items: 4, itemNs: undefined });
    expect(parts.records).toMatchObject([{ failed: 4, failure: 'modelError: raised' }]);
  });

  it('are final where the replica is gone by then: nobody can ask it again', () => {
    const { parts, sent } = asked();
    parts.broken = new Error('no wire');
    parts.answer(
      1,
      [0, 1, 2, 3].map((id) => failed(id)),
    );
    expect(parts.again).toEqual([]);
    expect(sent.slice(0, 4).map(({ outcomes }) => outcomes)).toEqual(
      Array.from({ length: 4 }, () => ['model_error: modelError: raised']),
    );
  });

  it('of a container that asks in parts are asked again only where they are undecided', () => {
    const { parts, sent } = asked();
    parts.answer(1, [ok(0), failed(1), failed(2, 'undecided'), failed(3, 'undecided')], 3);
    expect(parts.again).toEqual([sent[2], sent[3]]);
    expect(sent[1].outcomes).toEqual(['model_error: modelError: raised']);
    expect(parts.suspects.arePartedInside).toBe(true);
  });

  it('of one that was accused decide what is sent next', () => {
    const { parts, sent } = asked();
    sent[4].losses = 1;
    parts.answer(2, [ok(0)]);
    expect(parts.told).toEqual(['more', 'record']);
    expect(sent[4].outcomes).toEqual(['out 0']);
  });
});
