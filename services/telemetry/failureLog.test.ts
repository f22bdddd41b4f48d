import { describe, expect, it } from 'vitest';
import type { BatchRecord } from '../batching/index.js';
import { FailureLog } from './failureLog.js';

const record = (version: string, failed: number) =>
  ({ model: 'm', version, replica: '0', failed }) as BatchRecord;

describe('FailureLog', () => {
  it('names the first failure at once, and the others in one line an interval', () => {
    const told: unknown[] = [];
    let nowMs = 5;
    const log = new FailureLog(
      (message, details) => told.push([message, details]),
      () => nowMs,
    );
    log.note(record('1', 2), 'kernelFault: illegalAddress at line 7');
    for (let i = 0; i < 1000; i++) log.note(record('1', 1), 'more');
    log.note(record('2', 1), 'another version');
    nowMs += 10_000;
    log.note(record('1', 3), 'later');
    const line = (version: string, reason: string, inputs: number) => [
      'a model failed on inputs',
      { model: 'm', version, replica: '0', reason, inputs },
    ];
    expect(told).toEqual([
      line('1', 'kernelFault: illegalAddress at line 7', 2),
      line('2', 'another version', 1),
      line('1', 'later', 1003),
    ]);
  });
});
