import { expect, it } from 'vitest';
import { readFrontendRecord, shortLoads } from './frontendRecord.js';

it('reads what a frontend of an earlier version says, and nothing that is no record', () => {
  const record = { query: 'http://a:1', management: 'http://a:2', placing: true };
  expect(readFrontendRecord(record)).toEqual({ ...record, loads: [] });
  expect(readFrontendRecord({ ...record, placing: 'yes' })).toBeUndefined();
  expect(readFrontendRecord(null)).toBeUndefined();
});

it('says what there is to do in few words: nothing of what is idle, three digits, and no more versions than a few hundred', () => {
  const busy = { model: 'm', version: '1', replicas: { '0': 0.123456, '7': 0.00001 }, backlog: 2.00049 };
  const idle = { model: 'n', version: '1', replicas: { '0': 0 }, backlog: 0 };
  expect(shortLoads([idle, busy])).toEqual([
    { model: 'm', version: '1', replicas: { '0': 0.123 }, backlog: 2 },
  ]);
  expect(shortLoads(new Array(1000).fill(busy))).toHaveLength(256);
});
