import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from './index.js';

describe('a directory', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'directories-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made with those above it, and may be there already', () => {
    const path = join(folder, 'a', 'b', 'c');
    makeDirectory(path);
    makeDirectory(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it('is not made below a file', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeDirectory(join(folder, 'file', 'below'))).toThrow('ENOTDIR');
  });

  it.runIf(existsSync('/proc/self'))('is given up where none can be made', () => {
    expect(() => makeDirectory('/proc/windjammer/data')).toThrow();
  });
});
