import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputFile, checkApart } from './outputFile.js';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outputs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a file that a command writes', () => {
  it('has its name when all of it is there', () => {
    const file = new OutputFile(at('trace.json'), '--timeline');
    file.write('[1,');
    expect(readdirSync(folder)).toEqual([]);
    file.write('2]');
    file.close();
    expect(readdirSync(folder)).toEqual(['trace.json']);
    expect(readFileSync(at('trace.json'), 'utf8')).toBe('[1,2]');
  });

  it('replaces what has the name only then', () => {
    writeFileSync(at('trace.json'), 'old');
    const file = new OutputFile(at('trace.json'), '--timeline');
    file.write('new');
    expect(readFileSync(at('trace.json'), 'utf8')).toBe('old');
    file.close();
    file.close();
    expect(readFileSync(at('trace.json'), 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['trace.json']);
  });

  it('is none when nothing was written', () => {
    new OutputFile(at('trace.json'), '--timeline').close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('may be large', () => {
    const file = new OutputFile(at('trace.json'), '--timeline');
    for (let piece = 0; piece < 30; piece++) file.write('x'.repeat(100_000));
    file.close();
    expect(statSync(at('trace.json')).size).toBe(3_000_000);
  });

  it('goes where a link leads, and the link stays', () => {
    mkdirSync(at('far'));
    writeFileSync(at('far/trace.json'), 'old');
    symlinkSync(at('far/trace.json'), at('link.json'));
    const file = new OutputFile(at('link.json'), '--timeline');
    file.write('new');
    file.close();
    expect(readFileSync(at('far/trace.json'), 'utf8')).toBe('new');
    expect(readFileSync(at('link.json'), 'utf8')).toBe('new');
    expect(readdirSync(at('far'))).toEqual(['trace.json']);
  });

  it('may be no plain file', () => {
    const file = new OutputFile('/dev/null', '--timeline');
    file.write('gone');
    file.close();
    expect(() => statSync('/dev/null')).not.toThrow();
  });

  it('says with its option why it cannot be written', () => {
    mkdirSync(at('folder'));
    expect(() => new OutputFile(at('folder'), '--svg')).toThrow(/^--svg: .*folder is a folder$/);
    expect(() => new OutputFile(at('none/trace.json'), '--svg')).toThrow(/^--svg: ENOENT/);
    const full = new OutputFile('/dev/full', '--svg');
    expect(() => full.write('text')).toThrow(/^--svg: ENOSPC/);
    full.close();
  });
});

describe('files of one command', () => {
  it('may not be one that it reads, by whatever name', () => {
    writeFileSync(at('spec.json'), '{}');
    linkSync(at('spec.json'), at('other.json'));
    symlinkSync(at('spec.json'), at('link.json'));
    const inputs = [
      { what: 'the spec', path: at('spec.json') },
      { what: 'the costs', path: undefined },
    ];
    for (const name of ['spec.json', 'other.json', 'link.json', './spec.json']) {
      expect(() => checkApart([new OutputFile(at(name), '--timeline')], inputs)).toThrow(
        /^--timeline: .* is the spec too, and would be lost; name another file$/,
      );
    }
    expect(() => checkApart([new OutputFile(at('new.json'), '--timeline')], inputs)).not.toThrow();
  });

  it('may not be one another, but for devices', () => {
    const two = (path: string): OutputFile[] => [
      new OutputFile(path, '--svg'),
      new OutputFile(path, '--html'),
    ];
    expect(() => checkApart(two(at('page')), [])).toThrow(/^--html: .*page is the file of --svg too/);
    expect(() => checkApart(two('/dev/null'), [])).not.toThrow();
  });
});
