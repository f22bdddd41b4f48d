import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { collectBundles, FolderBundles } from './index.js';
import { bundleConformance } from './tests/bundleConformance.js';

let folder = '';
const open = () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-shared-'));
  return Promise.resolve(new FolderBundles(folder));
};
const cleanUp = () => Promise.resolve(rmSync(folder, { recursive: true }));

bundleConformance('FolderBundles', open, cleanUp);

it('collects what no version names, once it is old', async () => {
  const store = await open();
  const hashes = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
  for (const hash of hashes) {
    await store.put(
      hash,
      { files: [{ name: 'x', size: 1 }] },
      (async function* () {
        await Promise.resolve();
        yield Buffer.from('x');
      })(),
    );
  }
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (const hash of hashes.slice(0, 2)) utimesSync(join(folder, `${hash}.json`), old, old);
  expect(await collectBundles(store, (hash) => hash === hashes[0])).toBe(1);
  expect((await store.list()).map(({ hash }) => hash).sort()).toEqual([hashes[0], hashes[2]]);
  await cleanUp();
});

it('says that its folder cannot be used', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'windjammer-shared-')), 'file');
  writeFileSync(file, '');
  expect(() => new FolderBundles(join(file, 'below'))).toThrow(/folder of bundles .* cannot be used: /);
  rmSync(join(file, '..'), { recursive: true });
});
