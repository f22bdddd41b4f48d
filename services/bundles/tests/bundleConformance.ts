import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContentSum } from '../../../containers/content/index.js';
import { builtInModelPath } from '../../../containers/models/index.js';
import { sourceContent, type ContainerSource } from '../../../containers/runtime/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { BundleCache, uploadBundle, type BundleStore } from '../index.js';

const digits = { kind: 'kernelModel', path: builtInModelPath('digits-logistic') } as const;

function contentHashOf(name: string, text: string): string {
  const sum = new ContentSum();
  sum.file(name, text.length);
  sum.bytes(Buffer.from(text));
  return sum.hash();
}

/** What every place for bundles must do. `open` gives an empty one. */
export function bundleConformance(
  name: string,
  open: () => Promise<BundleStore>,
  cleanUp: () => Promise<void>,
): void {
  describe(`${name}: bundles`, () => {
    let store: BundleStore;
    let folder: string;
    beforeEach(async () => {
      store = await open();
      folder = mkdtempSync(join(tmpdir(), 'windjammer-bundles-'));
    });
    afterEach(async () => {
      await cleanUp();
      rmSync(folder, { recursive: true });
    });

    const cache = (place = 'cache', mostBytes = 2 ** 40) =>
      new BundleCache({ store, folder: join(folder, place), mostBytes });
    const hashOf = (source: ContainerSource): string => {
      const content = sourceContent(source);
      if (content === undefined) throw new Error('it has no files');
      return content.hash;
    };
    const moduleOf = (name: string, text: string, parts: Readonly<Record<string, string>> = {}) => {
      const path = join(folder, name, 'models', 'own', 'model.mjs');
      mkdirSync(join(folder, name, 'models', 'own'), { recursive: true });
      mkdirSync(join(folder, name, 'common'), { recursive: true });
      writeFileSync(path, text);
      for (const [part, content] of Object.entries(parts)) writeFileSync(join(folder, name, part), content);
      return { kind: 'process', path } as const;
    };

    it('brings a kernel model to where its files are not, whole', async () => {
      const hash = hashOf(digits);
      expect(await store.has(hash)).toBe(false);
      await uploadBundle(store, digits, hash);
      await uploadBundle(store, digits, hash);
      expect(await store.has(hash)).toBe(true);
      expect((await store.list()).map((one) => one.hash)).toEqual([hash]);
      const held = await cache().hold(hash);
      expect(hashOf({ kind: 'kernelModel', path: held.folder })).toBe(hash);
      expect(readFileSync(join(held.folder, 'manifest.json'))).toEqual(
        readFileSync(join(packageRoot(), digits.path, 'manifest.json')),
      );
    });

    it('brings a module with what it imports from beside and above', async () => {
      const source = moduleOf('a', "import x from '../../common/x.mjs'; export default x;", {
        'common/x.mjs': "export default 'x';",
      });
      const hash = hashOf(source);
      await uploadBundle(store, source, hash);
      rmSync(join(folder, 'a'), { recursive: true });
      const held = await cache().hold(hash);
      expect(held.entry).toBe('model.mjs');
      expect(hashOf({ kind: 'process', path: join(held.folder, held.entry) })).toBe(hash);
    });

    it('keeps pieces of many megabytes, and files of no bytes', async () => {
      const source = moduleOf(
        'big',
        "new URL('../../common/w.bin', import.meta.url); new URL('../../common/none', import.meta.url);",
        {
          'common/w.bin': 'x'.repeat(2.5 * 2 ** 20),
          'common/none': '',
        },
      );
      const hash = hashOf(source);
      await uploadBundle(store, source, hash);
      const held = await cache().hold(hash);
      expect(hashOf({ kind: 'process', path: join(held.folder, held.entry) })).toBe(hash);
    });

    it('refuses files that are no longer what was registered, and keeps nothing of them', async () => {
      const source = moduleOf('b', 'export default 1;');
      const hash = hashOf(source);
      writeFileSync(source.path, 'export default 2;');
      await expect(uploadBundle(store, source, hash)).rejects.toMatchObject({ code: 'changed' });
      expect(await store.has(hash)).toBe(false);
      writeFileSync(source.path, 'export default 1;');
      await uploadBundle(store, source, hash);
      await expect(cache().hold(hash)).resolves.toBeDefined();
    });

    it('says what is missing, what is no hash, and what is too large', async () => {
      await expect(cache().hold('0'.repeat(64))).rejects.toMatchObject({ code: 'missing' });
      await expect(cache().hold('../../etc')).rejects.toThrow(/is no hash of a content/);
      const held = await store.list();
      expect(held).toEqual([]);
    });

    it.each([
      ['another content', [{ name: 'a', size: 3 }], 'abd', /its content has another/],
      ['too few bytes', [{ name: 'a', size: 4 }], 'abc', /end too early/],
      ['too many bytes', [{ name: 'a', size: 2 }], 'abc', /more bytes than its files/],
      ['a place outside', [{ name: '../'.repeat(17) + 'a', size: 3 }], 'abc', /a file is called/],
    ])('refuses a bundle with %s, and leaves nothing of it', async (_what, files, bytes, reason) => {
      const hash = contentHashOf('a', 'abc');
      await store.put(
        hash,
        { files },
        (async function* () {
          await Promise.resolve();
          yield Buffer.from(bytes);
        })(),
      );
      await expect(cache().hold(hash)).rejects.toThrow(reason);
      await store.remove(hash);
      expect(await store.has(hash)).toBe(false);
      await store.put(
        hash,
        { files: [{ name: 'a', size: 3 }] },
        (async function* () {
          await Promise.resolve();
          yield Buffer.from('abc');
        })(),
      );
      await expect(cache().hold(hash)).resolves.toMatchObject({ entry: 'a' });
    });

    it('fetches once for many who ask, and makes room among those that nobody uses', async () => {
      const sources = ['1', '2', '3'].map((text) =>
        moduleOf(`m${text}`, `export default ${text};`.padEnd(1000)),
      );
      const hashes = sources.map(hashOf);
      for (const [at, source] of sources.entries()) await uploadBundle(store, source, hashes[at]);
      const small = cache('small', 1500);
      const [first, again] = await Promise.all([small.hold(hashes[0]), small.hold(hashes[0])]);
      (await small.hold(hashes[1])).release();
      await small.hold(hashes[2]);
      // The second was nobody's; the first is still held.
      expect(hashOf({ kind: 'process', path: join(first.folder, first.entry) })).toBe(hashes[0]);
      expect(readdirSync(join(folder, 'small')).sort()).toEqual([hashes[0], hashes[2]].sort());
      first.release();
      again.release();
    });
  });
}
