import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { open } from 'lmdb';
import { EmbeddedStore, MemoryStore, SCHEMA_VERSION, storeKey, storeKeyParts } from '../index.js';
import { appendValue, setValue, storeConformance } from './conformance.js';

const folder = () => mkdtempSync(join(tmpdir(), 'windjammer-store-'));

storeConformance('MemoryStore', () => new MemoryStore());

let conformanceFolder = '';
storeConformance(
  'EmbeddedStore',
  () => new EmbeddedStore((conformanceFolder = folder())),
  () => rmSync(conformanceFolder, { recursive: true }),
);

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
    await appendValue(store, 'log', 'first');
    store.set('unwaited', true, 'any');
    await close(store);

    const again = new EmbeddedStore(directory);
    expect(again.list('').map(({ key }) => key)).toEqual(['a/b', 'unwaited']);
    expect(again.get('a/b')).toEqual({ value: { deep: [2.5, 'y'] }, version: 2 });
    expect(await appendValue(again, 'log', 'second')).toEqual({ ok: true, version: 2 });
    expect(again.read('log', 0, 9).map(({ value }) => value)).toEqual(['first', 'second']);
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
    expect(existsSync(join(directory, 'lock'))).toBe(false);
  });

  it('takes over the lock of a process that is gone', async () => {
    writeFileSync(join(directory, 'lock'), JSON.stringify({ pid: process.pid, started: 'another time' }));
    const store = new EmbeddedStore(directory);
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
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('../../../dist/services/store/tests/crashingWriter.js', import.meta.url)),
        directory,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
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
    const entries = store.read('log', 0, 1e6);
    expect(counter).toBeGreaterThanOrEqual(confirmed);
    // One transaction holds both: neither can be there without the other.
    expect(entries.at(-1)).toEqual({ sequence: counter, value: counter });
    expect(entries).toHaveLength(counter);
    await close(store);
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
