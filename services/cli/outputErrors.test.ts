import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { watchOutput } from './outputErrors.js';

class Stream extends EventEmitter {
  readonly written: string[] = [];
  write(text: string): void {
    this.written.push(text);
  }
}

function failed(code: string): Error {
  return Object.assign(new Error(`${code}: what the system says`), { code });
}

describe('output that cannot be written', () => {
  afterEach(() => {
    process.exitCode = undefined;
  });

  it('is no failure when the reader has gone', () => {
    const [output, errors] = [new Stream(), new Stream()];
    watchOutput(output, errors);
    output.emit('error', failed('EPIPE'));
    errors.emit('error', failed('EPIPE'));
    expect(process.exitCode).toBeUndefined();
    expect(errors.written).toEqual([]);
  });

  it('is one line and exit code 1 for any other reason', () => {
    const [output, errors] = [new Stream(), new Stream()];
    watchOutput(output, errors);
    output.emit('error', failed('ENOSPC'));
    expect(process.exitCode).toBe(1);
    expect(errors.written).toEqual(['windjammer: standard output: ENOSPC: what the system says\n']);
  });
});
