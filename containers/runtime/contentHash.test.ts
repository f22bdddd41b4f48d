import { cpSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { builtInModelPath, packageRoot } from '../models/index.js';
import type { ContainerFrame } from '../protocol/index.js';
import { ContainerRuntime } from './containerRuntime.js';
import { contentHash } from './contentHash.js';

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
const ofModule = (path: string) => contentHash({ kind: 'process', path });

describe('contentHash', () => {
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
    const hash = () => contentHash({ kind: 'kernelModel', path: folder });
    const before = hash();
    written('README.md', 'of no account');
    expect(hash()).toBe(before);
    written('golden.json', '{}');
    expect(hash()).not.toBe(before);
  });

  it('keeps a replica from starting with other files than were registered, by name', () => {
    const path = written('model.mjs', 'export default { predictOne: () => 1 };');
    const registered = ofModule(path);
    written('model.mjs', 'export default { predictOne: () => 2 };');
    const clock = new VirtualClock();
    const frames: ContainerFrame[] = [];
    const runtime = new ContainerRuntime({ clock, nodes: [] });
    runtime
      .start({
        model: 'm',
        version: '1',
        replica: '0',
        inputType: 'doubles',
        container: { kind: 'process', path },
        ...(registered === undefined ? {} : { contentHash: registered }),
      })
      .open({ onFrame: (frame) => frames.push(frame) });
    clock.run();
    expect(frames).toEqual([
      {
        kind: 'down',
        reason: expect.stringContaining('the files have changed since this version was registered') as string,
      },
    ]);
  });
});
