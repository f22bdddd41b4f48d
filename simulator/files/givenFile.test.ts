import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readGivenFile, readPemFile, readTextFile, requireRegularFile, START_FILE } from './index.js';

describe('a file that somebody has named', () => {
  let folder: string;
  const file = (contents: string | Uint8Array): string => {
    const path = join(folder, 'file');
    writeFileSync(path, contents);
    return path;
  };
  const pipe = (): string => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    return path;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'given-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read to its end, whatever size it says to have', () => {
    const bytes = Buffer.alloc(200_000, 'ab');
    expect(readGivenFile(file(bytes), START_FILE)).toEqual(bytes);
    expect(readGivenFile(file(''), START_FILE)).toHaveLength(0);
    if (existsSync('/proc/self/status')) {
      expect(readGivenFile('/proc/self/status', START_FILE).toString()).toMatch(/^Name:/);
    }
  });

  it('is not waited for where nobody writes it', () => {
    const path = pipe();
    const message = `${path} is a pipe, and a regular file is needed: write its content to one, and name that`;
    expect(() => readGivenFile(path, START_FILE)).toThrow(message);
    expect(() => readPemFile(path)).toThrow(message);
    expect(() => readTextFile(path, START_FILE)).toThrow(message);
    expect(() => requireRegularFile(path)).toThrow(message);
  });

  it('is refused where it has no end, or too many bytes', () => {
    expect(() => readGivenFile('/dev/zero', START_FILE)).toThrow('/dev/zero is a device');
    expect(() => readGivenFile('/dev/zero', { mostBytes: 1024 * 1024, takesPipes: true })).toThrow(
      '/dev/zero is larger than 1 MiB, the most that is read',
    );
    expect(() => readGivenFile(file(Buffer.alloc(1024 * 1024 + 1)), START_FILE)).toThrow('larger than 1 MiB');
    expect(readGivenFile(file(Buffer.alloc(1024 * 1024)), START_FILE)).toHaveLength(1024 * 1024);
  });

  it('may be a pipe where whoever gives it waits for it', () => {
    const path = pipe();
    spawn('sh', ['-c', 'printf x > "$0"', path], { stdio: 'ignore' });
    expect(readTextFile(path)).toBe('x');
  });

  it('of certificates is read without its byte order mark, and in any encoding', () => {
    expect(readPemFile(file(Buffer.from('\uFEFF-----BEGIN')))).toBe('-----BEGIN');
    expect(readPemFile(file(Buffer.from('# Autorité\n-----BEGIN', 'latin1')))).toBe('# Autorité\n-----BEGIN');
  });
});
