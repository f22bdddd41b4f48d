import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContentCheck } from '../content/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { builtInModelPath } from '../models/index.js';
import { loadRegistered, sourceContent } from './sourceContent.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-content-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const written = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const ofModule = (path: string) => sourceContent({ kind: 'process', path })?.hash;

describe('sourceContent', () => {
  it('is of a module and of what it imports by relative paths, near or far', () => {
    const path = written('model.mjs', "import { f } from './one.mjs'; export default { predictOne: f };");
    written('one.mjs', "export { f } from './two.mjs'; import './model.mjs'; import 'node:fs';");
    written('two.mjs', 'export const f = () => import("./three.mjs");');
    written('three.mjs', 'export default 1;');
    written('other.mjs', 'export default 1;');
    const hashes = [ofModule(path)];
    const changed = (name: string, text: string) => {
      written(name, text);
      hashes.push(ofModule(path));
    };
    changed('two.mjs', 'export const f = () => import("./three.mjs"); // changed');
    changed('three.mjs', 'export default 2;');
    changed('model.mjs', "import { f } from './one.mjs'; export default { predict: f };");
    expect(new Set(hashes).size).toBe(4);
    changed('other.mjs', 'export default 2;');
    utimesSync(path, 1, 1);
    expect(ofModule(path)).toBe(hashes.at(-1));
    changed('model.mjs', "import { f } from './one.mjs'; export default { predictOne: f };");
    changed('two.mjs', 'export const f = () => import("./three.mjs");');
    changed('three.mjs', 'export default 1;');
    expect(hashes.at(-1)).toBe(hashes[0]);
  });

  it('is the same wherever the files lie, and follows CommonJS', () => {
    const path = written('model.cjs', "module.exports = require('./part');");
    written('part.js', 'module.exports = 1;');
    const before = ofModule(path);
    const copy = mkdtempSync(join(tmpdir(), 'windjammer-content-'));
    cpSync(folder, copy, { recursive: true });
    expect(ofModule(join(copy, 'model.cjs'))).toBe(before);
    rmSync(copy, { recursive: true });
    written('part.js', 'module.exports = 2;');
    expect(ofModule(path)).not.toBe(before);
  });

  it('is of manifest, code, weights and golden inputs of a kernel model', () => {
    cpSync(join(packageRoot(), builtInModelPath('digits-linear-svm')), folder, { recursive: true });
    const hash = () => sourceContent({ kind: 'kernelModel', path: folder })?.hash;
    const before = hash();
    written('README.md', 'of no account');
    expect(hash()).toBe(before);
    written('golden.json', '{}');
    expect(hash()).not.toBe(before);
  });

  const MODEL = "export default { inputType: 'doubles', predictOne: () => v };";
  const PART = 'export const v = 1;';
  it.each<[way: string, files: Readonly<Record<string, string>>, changed: string]>([
    [
      'an escaped name',
      { 'm.mjs': `import { v } from './a%20b%0A.mjs'; ${MODEL}`, 'a b\n.mjs': PART },
      'a b\n.mjs',
    ],
    [
      'a name with #',
      { 'm.cjs': "const v = require('./a#1.js');", 'a#1.js': 'module.exports = 1;' },
      'a#1.js',
    ],
    ['a path from the root', { 'm.mjs': "import { v } from '/FOLDER/p.mjs';", 'p.mjs': PART }, 'p.mjs'],
    ['a URL', { 'm.mjs': "import { v } from 'file:///FOLDER/p.mjs';", 'p.mjs': PART }, 'p.mjs'],
    [
      'a name of the package',
      {
        'package.json': '{"imports":{"#p/*":{"node":"./lib/*.mjs"}}}',
        'm.mjs': "import '#p/q';",
        'lib/q.mjs': PART,
      },
      'lib/q.mjs',
    ],
    [
      'the main file of a folder',
      { 'm.cjs': "require('./lib')", 'lib/package.json': '{"main":"a"}', 'lib/a.js': '1', 'lib/b.js': '2' },
      'lib/package.json',
    ],
    [
      'a require by another name',
      { 'm.mjs': 'const r = createRequire(u); r(`./p.cjs`);', 'p.cjs': '1' },
      'p.cjs',
    ],
    ['its own folder', { 'm.cjs': "require(__dirname + '/sub/p.js')", 'sub/p.js': '1' }, 'sub/p.js'],
    [
      'weights by a URL',
      { 'm.mjs': "readFileSync(new URL('w.bin', import.meta.url))", 'w.bin': '1' },
      'w.bin',
    ],
    ['weights in folders', { 'm.cjs': "join(__dirname, 'a', 'w.bin')", 'a/w.bin': '1' }, 'a/w.bin'],
  ])('is of what a module names by %s', (_way, files, changed) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      written(name, text.replace('/FOLDER', folder));
    }
    const path = join(folder, 'm.mjs' in files ? 'm.mjs' : 'm.cjs');
    const before = ofModule(path);
    written(changed, changed.endsWith('package.json') ? '{"main":"b"}' : '2');
    expect(ofModule(path)).not.toBe(before);
  });

  it('follows links as they are now, and tells nothing of a link to the same', () => {
    for (const release of ['one', 'two', 'three']) {
      mkdirSync(join(folder, release));
      written(`${release}/m.mjs`, "import './p.mjs';");
      written(`${release}/p.mjs`, release === 'three' ? 'export const v = 3;' : PART);
    }
    const link = (target: string, name: string) => {
      rmSync(join(folder, name), { force: true });
      symlinkSync(target, join(folder, name));
    };
    const hashes = ['one', 'two', 'three'].map((release) => {
      link(release, 'current');
      link(`${release}/m.mjs`, 'm.mjs');
      return [ofModule(join(folder, 'current/m.mjs')), ofModule(join(folder, 'm.mjs'))];
    });
    expect(new Set(hashes.map(([first]) => first)).size).toBe(2);
    expect(hashes.map(([first]) => first)).toEqual(hashes.map(([, second]) => second));
    link('../three/p.mjs', 'two/p.mjs');
    expect(ofModule(join(folder, 'two/m.mjs'))).toBe(hashes[2][0]);
  });

  it('is not of what a module writes, of packages, or of what lies beside it', () => {
    written('log.json', '1');
    const path = written(
      'm.mjs',
      "import 'z'; const file = './log.json'; writeFileSync(file, '2'); import('./p.mjs');",
    );
    written('p.mjs', PART);
    const before = ofModule(path);
    written('log.json', '2');
    written('beside.mjs', '2');
    expect(ofModule(path)).toBe(before);
    written('p.mjs', '2');
    expect(ofModule(path)).not.toBe(before);
  });

  it('refuses pipes and devices, which may never end', () => {
    symlinkSync('/dev/zero', join(folder, 'p.mjs'));
    const path = written('m.mjs', "import './p.mjs';");
    expect(() => ofModule(path)).toThrow('p.mjs: not a file');
  });

  it('keeps a kernel model from loading with other files than were registered', () => {
    cpSync(join(packageRoot(), builtInModelPath('digits-linear-svm')), folder, { recursive: true });
    const registered = sourceContent({ kind: 'kernelModel', path: folder })?.hash ?? '';
    const load = () => loadRegistered({ path: folder, contentHash: registered });
    expect(load().manifest.name).toBe('digits-linear-svm');
    written('golden.json', '{}');
    expect(load).toThrow('the files have changed since this version was registered');
    rmSync(join(folder, 'golden.json'));
    expect(load().manifest.name).toBe('digits-linear-svm');
    rmSync(join(folder, 'weights.bin'));
    symlinkSync('/dev/zero', join(folder, 'weights.bin'));
    expect(load).toThrow('weights.bin: not a file');
  });

  it('brings the first golden inputs of a kernel model, or what is wrong with them', () => {
    cpSync(join(packageRoot(), builtInModelPath('digits-linear-svm')), folder, { recursive: true });
    const input = Array.from({ length: 784 }, () => 0);
    const golden = () => loadRegistered({ path: folder }).golden;
    expect(golden()).toBeUndefined();
    written(
      'golden.json',
      JSON.stringify({ cases: Array.from({ length: 20 }, () => ({ input, label: '1' })) }),
    );
    expect(golden()).toEqual({
      tolerance: 1e-5,
      cases: Array.from({ length: 8 }, () => ({ input, label: '1' })),
    });
    written('golden.json', '{"cases":[]}');
    expect(golden()).toEqual({ problem: expect.stringContaining('golden.json: cases') as string });
  });

  it('tells files that were others in between', () => {
    const path = written('m.mjs', PART);
    const present = () => {
      const content = sourceContent({ kind: 'process', path });
      if (content === undefined) throw new Error('no files');
      return content;
    };
    const check = new ContentCheck(present().hash, present);
    expect(check.change()).toBeUndefined();
    for (const text of ['export const v = 2;', PART]) {
      written('other', text);
      renameSync(join(folder, 'other'), path);
    }
    expect(check.change()).toBe('the files change while they are read');
  });
});
