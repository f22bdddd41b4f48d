import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { programContent, programParts } from './programParts.js';
import { pythonContent, pythonParts } from './pythonParts.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-parts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text = ''): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe('the parts of a Python module', () => {
  const namesOf = (text: string): string[] => pythonParts(write('model.py', text)).map(({ name }) => name);

  it.each<[string, string, string[]]>([
    ['import', 'import words, os as o, sys', ['words.py']],
    ['import of what is in a package', 'import kit.deep.leaf', ['kit/__init__.py', 'kit/deep/leaf.py']],
    ['from', 'from words import COUNT', ['words.py']],
    ['from a package', 'from kit import helper', ['kit/__init__.py', 'kit/helper.py', 'words.py']],
    [
      'from, in brackets',
      'from kit import (\n  helper,  # one\n  other as o,\n)',
      ['kit/__init__.py', 'kit/helper.py', 'kit/other.py', 'words.py'],
    ],
    ['import inside a function', 'def predict(batch):\n    import words\n', ['words.py']],
    ['what looks like one in a comment', '# import words', []],
    ['a file by its name', 'joblib.load("data/model.joblib")', ['data/model.joblib']],
    [
      'a file beside the module',
      "open(os.path.join(os.path.dirname(__file__), 'data', 'w.npy'), 'rb')",
      ['data/w.npy'],
    ],
    ['a file by pathlib', 'Path(__file__).parent / "data" / "w.npy"', ['data/w.npy']],
    ['all files of a folder', 'load("data/")', ['data/model.joblib', 'data/w.npy']],
    ['no files of a folder without its slash', 'x = "data"', []],
    ['nothing outside by an absolute path', 'open("/etc/hostname")', []],
    ['no data where files are written', 'open("data/w.npy", "wb")\nimport words', ['words.py']],
    ['data where a text is replaced', 'open("data/w.npy", "rb").read().replace(b"a", b"b")', ['data/w.npy']],
    ['nothing for what is no name of a file', `x = "\\0", "${'y'.repeat(5000)}", "", ".", "..", "/"`, []],
  ])('are those of %s', (_what, text, names) => {
    write('words.py');
    write('kit/__init__.py');
    write('kit/helper.py', 'from ..words import x\n');
    write('kit/other.py');
    write('kit/deep/leaf.py');
    write('data/w.npy');
    write('data/model.joblib');
    expect(namesOf(text)).toEqual(['model.py', ...names]);
  });

  it('are those of its parts, too, each once', () => {
    write('a.py', 'import b');
    write('b.py', 'import a, model\nopen("c.txt")');
    write('c.txt');
    expect(namesOf('import a')).toEqual(['model.py', 'a.py', 'b.py', 'c.txt']);
  });

  it('change its hash, and what is none does not', () => {
    write('a.py', 'X = 1');
    write('other.py', 'X = 1');
    const path = write('model.py', 'import a');
    const { hash } = pythonContent(path);
    write('other.py', 'X = 2');
    expect(pythonContent(path).hash).toBe(hash);
    write('a.py', 'X = 2');
    expect(pythonContent(path).hash).not.toBe(hash);
  });

  it('are found in moments in a long list of texts', () => {
    const words = Array.from({ length: 100_000 }, (_, at) => `"word${at}"`).join(', ');
    expect(namesOf(`WORDS = [${words}]`)).toEqual(['model.py']);
  });

  it('are not there without the module', () => {
    expect(() => pythonParts(join(folder, 'none.py'))).toThrow('ENOENT');
  });
});

describe('the parts of a program', () => {
  const namesOf = (command: string): string[] => programParts(folder, command).map(({ name }) => name);

  it.each<[string, string[]]>([
    ['./model', ['model']],
    ['./model --weights=data/w.bin -v', ['data/w.bin', 'model']],
    ['exec "./my model" < data/w.bin', ['data/w.bin', 'my model']],
    ["awk -f 'script.awk' | ./model", ['model', 'script.awk']],
    ['python3 data', ['data/v.bin', 'data/w.bin']],
    ['./model . ..', ['model']],
    ['jq -c .', []],
    [`/bin/sh ${'x'.repeat(5000)}`, []],
  ])('are what %s names in its folder', (command, names) => {
    for (const name of ['model', 'my model', 'script.awk', 'data/w.bin', 'data/v.bin']) write(name);
    expect(namesOf(command)).toEqual(names);
  });

  it('change its hash', () => {
    write('model', '1');
    const { hash } = programContent(folder, './model');
    write('model', '2');
    expect(programContent(folder, './model').hash).not.toBe(hash);
  });
});
