import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJsonFile, readTextFile } from './index.js';

describe('a text file', () => {
  let folder: string;
  const file = (contents: string | Uint8Array): string => {
    const path = join(folder, 'file');
    writeFileSync(path, contents);
    return path;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'texts-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read without its byte order mark', () => {
    expect(readTextFile(file('\uFEFFa µs\r\n'))).toBe('a µs\r\n');
    expect(readJsonFile(file('\uFEFF{"a": 1}'))).toEqual({ a: 1 });
  });

  it.each([
    [
      'UTF-16 of little ends',
      Buffer.from('\uFEFFname', 'utf16le'),
      /^it is text in UTF-16LE; save it as UTF-8$/,
    ],
    ['UTF-16 of big ends', Buffer.from('\uFEFFname', 'utf16le').swap16(), /^it is text in UTF-16BE/],
    ['UTF-16 without a mark', Buffer.from('name', 'utf16le'), /^it is no text: byte 1 is 0$/],
    ['a program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]), /^it is no text: byte 4 is 0$/],
    [
      'Latin-1',
      Buffer.from('one, two \xb5s', 'latin1'),
      /^it is no text in UTF-8: byte 9 is part of no character$/,
    ],
    ['a character cut off', Buffer.from('µ').subarray(0, 1), /^it is no text in UTF-8: byte 0/],
  ])('is refused where it is %s', (_name, contents, message) => {
    expect(() => readTextFile(file(contents))).toThrow(message);
  });

  it('that cannot be read says why', () => {
    expect(() => readTextFile(join(folder, 'none'))).toThrow(/ENOENT.*none/);
    expect(() => readTextFile(folder)).toThrow('EISDIR');
  });

  it('of JSON that is empty says so', () => {
    expect(() => readJsonFile(file(' \n'))).toThrow('the file is empty; expected JSON');
    expect(() => readJsonFile(file('{x}'))).toThrow(/^it is no JSON: /);
  });

  it.each(['{', '{"a": [1, 2', '{"a": "b', '{"a": 1,\n', '{"a"'])(
    'of JSON that is cut says so: %s',
    (text) => {
      expect(() => readJsonFile(file(text))).toThrow(
        `it is no whole JSON: it ends early, after ${text.length} characters`,
      );
    },
  );
});
