import { beforeEach, describe, expect, it } from 'vitest';
import type { BatchRecord } from '../batching/index.js';
import { FailureLog } from './failureLog.js';

const record = (version: string, failed: number) =>
  ({ model: 'm', version, replica: '0', failed }) as BatchRecord;

describe('FailureLog', () => {
  let told: unknown[];
  let nowMs: number;
  let log: FailureLog;
  beforeEach(() => {
    told = [];
    nowMs = 5;
    log = new FailureLog(
      (message, details) => told.push([message, details]),
      () => nowMs,
    );
  });
  const fail = (id: string) => log.noteQuery({ id, application: 'app' }, 'm', '1', 'modelError: no');

  it('has a line for each query that fails, and none more for their batch', () => {
    fail('q1');
    fail('q2');
    log.note(record('1', 2), 'modelError: no');
    const line = (request: string) => [
      'a model failed on a query',
      { request, application: 'app', model: 'm', version: '1', reason: 'modelError: no' },
    ];
    expect(told).toEqual([line('q1'), line('q2')]);
  });

  it('has a line for inputs that are of no query', () => {
    fail('q1');
    log.note(record('1', 4), 'kernelFault: illegalAddress at line 7');
    const reason = 'kernelFault: illegalAddress at line 7';
    expect(told[1]).toEqual([
      'a model failed on inputs',
      { model: 'm', version: '1', replica: '0', reason, inputs: 3 },
    ]);
  });

  it('tells ten in ten seconds of each version, and then how many there were beside', () => {
    for (let at = 0; at < 1000; at++) fail(`q${at}`);
    expect(told).toHaveLength(10);
    log.note(record('2', 1), 'another version');
    expect(told).toHaveLength(11);
    nowMs += 10_000;
    fail('later');
    fail('last');
    expect(told.slice(11)).toMatchObject([
      ['a model failed on a query', { request: 'later', untold: 990 }],
      ['a model failed on a query', { request: 'last' }],
    ]);
    expect(told[12]).not.toHaveProperty('1.untold');
  });
});
