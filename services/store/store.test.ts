import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { open } from 'lmdb';
import { EmbeddedStore, MemoryStore, SCHEMA_VERSION, storeKey, storeKeyParts } from './index.js';
import { MarkImage } from './markImage.js';
import { StoreFiles } from './thread/storeFiles.js';
import { setOnce, setValue, storeConformance } from './tests/conformance.js';

const WRITER = fileURLToPath(new URL('../../dist/services/store/tests/crashingWriter.js', import.meta.url));

const crashingWriter = (directory: string) =>
  spawn(process.execPath, [WRITER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });

/** Namespaces need rights that not everybody has. */
const canUnshare = () => spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;

const folder = () => mkdtempSync(join(tmpdir(), 'windjammer-store-'));

storeConformance('MemoryStore', { open: () => new MemoryStore() });

let conformanceFolder = '';
const dataOf = (path: string) => join(path, 'data');
storeConformance('EmbeddedStore', {
  open: () => new EmbeddedStore(dataOf((conformanceFolder = folder()))),
  reopen: () => new EmbeddedStore(dataOf(conformanceFolder)),
  breakStore: () => renameSync(dataOf(conformanceFolder), join(conformanceFolder, 'away')),
  mendStore: () => renameSync(join(conformanceFolder, 'away'), dataOf(conformanceFolder)),
  cleanUp: () => rmSync(conformanceFolder, { recursive: true }),
});

const close = (store: EmbeddedStore) => new Promise<void>((resolve) => store.close(resolve));

describe('EmbeddedStore', () => {
  let directory: string;
  beforeEach(() => {
    directory = folder();
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('gives back keys, versions and logs when it is opened again', async () => {
    const store = new EmbeddedStore(directory);
    await setValue(store, 'a/b', { deep: [1.5, 'x'] });
    await setValue(store, 'a/b', { deep: [2.5, 'y'] });
    await setValue(store, 'gone', 1);
    await setValue(store, 'gone', undefined);
    store.set('unwaited', true, 'any');
    await close(store);

    const again = new EmbeddedStore(directory);
    expect(again.list('').map(({ key }) => key)).toEqual(['a/b', 'unwaited']);
    expect(again.get('a/b')).toEqual({ value: { deep: [2.5, 'y'] }, version: 2 });
    await close(again);
  });

  it('refuses a second process, and a newer schema, by name', async () => {
    const store = new EmbeddedStore(directory);
    expect(() => new EmbeddedStore(directory)).toThrow(/in use by process \d+/);
    await close(store);
    const root = open({ path: join(directory, 'store'), maxDbs: 8, encoding: 'json' });
    root.openDB({ name: 'meta', encoding: 'json' }).putSync('schema', SCHEMA_VERSION + 1);
    await root.close();
    expect(() => new EmbeddedStore(directory)).toThrow(/has schema 2, this program knows up to 1/);
    // The refusal leaves no lock behind.
    expect(() => new EmbeddedStore(directory)).toThrow(/has schema 2/);
  });

  it('lets marks go that are too old, few at a time', async () => {
    writeFileSync(join(directory, 'lock'), '');
    const files = new StoreFiles(directory, false);
    const old = Array.from({ length: 30 }, (_, i) => `old ${i}`);
    await files.commit([], { made: old, generation: 7, oldest: 5 });
    await files.commit([], { made: ['new'], generation: 10, oldest: 8 });
    expect(files.content().marks).toHaveLength(27);
    for (let i = 0; i < 8; i++) await files.commit([], { made: [`new ${i}`], generation: 10, oldest: 8 });
    expect(files.content().marks.every(([generation]) => generation === 10)).toBe(true);
    await files.close();
    // Nor does a store remember what was not let go yet.
    const store = new EmbeddedStore(directory);
    expect(await setOnce(store, 'a', 1, 'any', ['new'])).toMatchObject({ ok: true });
    await close(store);
  });

  it('takes over from a process that was killed, and from one that left a file of an older kind', async () => {
    writeFileSync(join(directory, 'lock'), JSON.stringify({ pid: process.pid, started: '1' }));
    const child = crashingWriter(directory);
    await once(child.stdout, 'data');
    expect(() => new EmbeddedStore(directory)).toThrow(`in use by process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const store = new EmbeddedStore(directory);
    expect(store.get('counter')).toBeDefined();
    await close(store);
  });

  it.runIf(canUnshare())('keeps out a process of another PID namespace', async () => {
    const store = new EmbeddedStore(directory);
    const { status, stderr } = spawnSync(
      'unshare',
      ['--pid', '--fork', '--mount-proc', process.execPath, WRITER, directory],
      { encoding: 'utf8' },
    );
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/is in use by process/);
    await close(store);
  });

  it('says what is wrong with a directory that cannot be used', () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    expect(() => new EmbeddedStore(join(file, 'below'))).toThrow(/cannot be used/);
  });

  // /proc says that an entry is absent where it means that none can be made.
  it.runIf(existsSync('/proc/self'))('gives up on a directory that can never be made', () => {
    expect(() => new EmbeddedStore('/proc/windjammer/data')).toThrow(/cannot be used/);
  });

  it('keeps every write that was confirmed before kill -9', async () => {
    const child = crashingWriter(directory);
    let confirmed = 0;
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', resolve);
      child.stdout.on('data', (text: Buffer) => {
        confirmed = Number(text.toString().trim().split('\n').at(-1));
        if (confirmed > 300) child.kill('SIGKILL');
      });
    });
    expect(child.signalCode).toBe('SIGKILL');
    const store = new EmbeddedStore(directory);
    const counter = store.get('counter')?.value as number;
    expect(counter).toBeGreaterThanOrEqual(confirmed);
    // One transaction holds both: neither can be there without the other.
    expect(store.list('entry/')).toHaveLength(counter);
    expect(store.get(`entry/${counter}`)?.value).toBe(counter);
    await close(store);
  });
});

describe('MarkImage', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;

  it('remembers a mark for a day, and not for two', () => {
    for (const start of [0, DAY_MS / 2 - 1, 12_345_678]) {
      let now = start;
      const marks = new MarkImage(() => now);
      marks.add(['m']);
      now = start + DAY_MS;
      marks.add(['n']);
      expect(marks.there(['m', 'n', 'o'])).toEqual(['m', 'n']);
      now = start + 2 * DAY_MS;
      marks.add(['o']);
      expect(marks.there(['m', 'n', 'o'])).toEqual(['n', 'o']);
    }
  });
});

describe('storeKey', () => {
  it('keeps parts apart whatever they hold', () => {
    const parts = ['a/b', 'ü %2F', '..', '__proto__'];
    expect(storeKey(...parts)).toBe('a%2Fb/%C3%BC%20%252F/../__proto__');
    expect(storeKeyParts(storeKey(...parts))).toEqual(parts);
  });

  it('refuses what no store could keep', () => {
    expect(() => storeKey('a', '')).toThrow(/empty/);
    expect(() => storeKey('\ud800')).toThrow(/surrogate/);
    expect(() => storeKey('x'.repeat(2000))).toThrow(/at most 1900 bytes/);
  });
});
