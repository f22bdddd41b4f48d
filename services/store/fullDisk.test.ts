import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { open } from 'lmdb';
import { EmbeddedStore, SCHEMA_VERSION, type StoreFault } from './index.js';
import { StoreFiles } from './thread/storeFiles.js';
import { setOnce, setValue } from './tests/conformance.js';

const mount = (...args: readonly string[]) => spawnSync('mount', args).status === 0;

/** Whether this user may mount a small disk. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-mount-'));
  const can = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder);
  if (can) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return can;
}

/** Takes all the room that is left. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

const close = (store: EmbeddedStore) => new Promise<void>((resolve) => store.close(resolve));
const nextFault = (store: EmbeddedStore) =>
  new Promise<StoreFault | undefined>((resolve) => {
    const unwatch = store.watchFault((fault) => {
      unwatch();
      resolve(fault);
    });
  });

describe.runIf(canMount())('EmbeddedStore on a disk that fails', () => {
  let disk: string;
  const data = () => join(disk, 'data');
  const hog = () => join(disk, 'hog');
  beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), 'windjammer-disk-'));
    mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk);
  });
  afterEach(() => {
    spawnSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true });
  });

  it('refuses and undoes what a full disk does not take, keeps what was acknowledged, and heals', async () => {
    let store = new EmbeddedStore(data());
    await setValue(store, 'kept', 'before');
    fill(hog());
    const changes: unknown[] = [];
    store.watch('big', ({ value }) => changes.push(value?.value === undefined ? 'gone' : 'there'));
    const told = nextFault(store);
    const big = setValue(store, 'big', 'x'.repeat(200_000));
    const overwritten = setValue(store, 'kept', 'after');
    expect(store.get('kept')?.value).toBe('after');
    expect(await big).toMatchObject({ ok: false, reason: 'failed', cause: 'diskFull' });
    expect(await overwritten).toMatchObject({ ok: false, cause: 'diskFull' });
    expect(await told).toMatchObject({ cause: 'diskFull' });
    expect(changes).toEqual(['there', 'gone']);
    expect(store.get('big')).toBeUndefined();
    expect(store.get('kept')).toEqual({ value: 'before', version: 1 });
    // At once, without another try.
    expect(await setValue(store, 'small', 1)).toMatchObject({ ok: false, cause: 'diskFull' });
    expect(store.get('small')).toBeUndefined();
    await close(store);

    store = new EmbeddedStore(data());
    expect(store.get('kept')?.value).toBe('before');
    expect(await setValue(store, 'big', 'x'.repeat(200_000))).toMatchObject({ cause: 'diskFull' });
    const healed = nextFault(store);
    rmSync(hog());
    expect(await healed).toBeUndefined();
    expect(await setValue(store, 'big', 'x'.repeat(200_000))).toMatchObject({ ok: true });
    await close(store);
    store = new EmbeddedStore(data());
    expect(store.list('').map(({ key }) => key)).toEqual(['big', 'kept']);
    await close(store);
  });

  it('says why it cannot begin where there is no room at all', () => {
    fill(hog());
    expect(() => new EmbeddedStore(data())).toThrow(/cannot be (opened|used)/);
  });

  it('opens on a read-only file system, refuses writes, and takes them once it may write', async () => {
    let store = new EmbeddedStore(data());
    await setValue(store, 'kept', 1);
    await close(store);
    mount('-o', 'remount,ro', disk);
    store = new EmbeddedStore(data());
    expect(store.get('kept')?.value).toBe(1);
    expect(store.fault()).toMatchObject({ cause: 'readOnly' });
    expect(await setValue(store, 'more', 1)).toMatchObject({ ok: false, cause: 'readOnly' });
    const healed = nextFault(store);
    mount('-o', 'remount,rw', disk);
    expect(await healed).toBeUndefined();
    expect(await setValue(store, 'more', 1)).toMatchObject({ ok: true });
    expect(() => new EmbeddedStore(data())).toThrow(/in use/);
    await close(store);
  });

  it('opens files of a program that knew no marks, on a file system that is read-only at first', async () => {
    const root = open({ path: join(data(), 'store'), maxDbs: 8, encoding: 'json' });
    root.openDB({ name: 'meta', encoding: 'json' }).putSync('schema', SCHEMA_VERSION);
    root.openDB({ name: 'state', encoding: 'json' }).putSync('kept', { value: 1, version: 4 });
    await root.close();
    mount('-o', 'remount,ro', disk);
    const store = new EmbeddedStore(data());
    expect(store.get('kept')).toEqual({ value: 1, version: 4 });
    const healed = nextFault(store);
    mount('-o', 'remount,rw', disk);
    expect(await healed).toBeUndefined();
    expect(await setOnce(store, 'kept', 2, 4, ['m'])).toEqual({ ok: true, version: 5 });
    expect(await setOnce(store, 'kept', 3, 5, ['m'])).toMatchObject({ reason: 'marked' });
    await close(store);
  });

  it('acknowledges nothing in files that were removed or moved, and heals when they are back', async () => {
    const store = new EmbeddedStore(data());
    await setValue(store, 'kept', 1);
    const away = join(disk, 'away');
    renameSync(data(), away);
    expect(await setValue(store, 'lost', 1)).toMatchObject({ ok: false, cause: 'displaced' });
    mkdirSync(data());
    expect(await setValue(store, 'lost', 1)).toMatchObject({ ok: false, cause: 'displaced' });
    const healed = nextFault(store);
    rmSync(data(), { recursive: true });
    renameSync(away, data());
    expect(await healed).toBeUndefined();
    expect(await setValue(store, 'kept', 2)).toMatchObject({ ok: true });
    rmSync(join(data(), 'lock'));
    // It keeps nobody out any more.
    const other = new EmbeddedStore(data());
    expect(await setValue(store, 'kept', 3)).toMatchObject({ ok: false, cause: 'displaced' });
    expect(await setValue(other, 'kept', 4)).toMatchObject({ ok: true });
    await Promise.all([close(store), close(other)]);
  });

  /** @returns undefined where only root mounts, or this kernel makes no mounted file system fail on demand */
  function failingExt4() {
    const image = join(disk, '../', `windjammer-${process.pid}.img`);
    const folder = join(disk, 'ext4');
    mkdirSync(folder);
    const run = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: 'utf8' });
    writeFileSync(image, '');
    truncateSync(image, 8 * 1024 * 1024);
    run('mkfs.ext4', '-q', '-e', 'remount-ro', image);
    const device = run('losetup', '--find', '--show', image).stdout.trim();
    const isMounted = mount(device, folder);
    const trigger = `/sys/fs/ext4/${basename(device)}/trigger_fs_error`;
    const remove = () => {
      run('umount', '--lazy', folder);
      run('losetup', '--detach', device);
      rmSync(image, { force: true });
    };
    if (!isMounted || !existsSync(trigger)) {
      remove();
      return undefined;
    }
    return {
      data: join(folder, 'data'),
      fail: () => {
        run('sync', '-f', folder);
        writeFileSync(trigger, '1');
      },
      mountAnew: () => {
        run('umount', folder);
        run('mount', device, folder);
      },
      remove,
    };
  }

  it('outlives an ext4 that goes read-only after an error', async (context) => {
    const ext4 = failingExt4();
    if (ext4 === undefined) {
      context.skip();
      return;
    }
    try {
      const store = new EmbeddedStore(ext4.data);
      await setValue(store, 'kept', 1);
      ext4.fail();
      expect(await setValue(store, 'kept', 2)).toMatchObject({ ok: false, cause: 'readOnly' });
      expect(store.get('kept')?.value).toBe(1);
      await close(store);
    } finally {
      ext4.remove();
    }
  });

  it('opens its files once they can be opened, however often they could not', async (context) => {
    const ext4 = failingExt4();
    if (ext4 === undefined) {
      context.skip();
      return;
    }
    mkdirSync(ext4.data);
    writeFileSync(join(ext4.data, 'lock'), '');
    const files = new StoreFiles(ext4.data, false);
    const put = (value: number) =>
      files.commit([['kept', { value, version: value }]], { made: [], generation: 0, oldest: 0 });
    try {
      await put(1);
      ext4.fail();
      for (let time = 0; time < 3; time++) await expect(put(2)).rejects.toThrow(/read-only/i);
      expect(() => files.read(['kept'])).toThrow();
      ext4.mountAnew();
      await put(3);
      expect(files.content().entries).toEqual([['kept', { value: 3, version: 3 }]]);
      await files.close();
    } finally {
      ext4.remove();
    }
  });
});
