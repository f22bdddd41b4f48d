import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServeOptions } from './serveCommand.js';
import { sharedStore } from './storeOption.js';

const asked = (options: Partial<ServeOptions>, env: NodeJS.ProcessEnv = {}) =>
  sharedStore(options as ServeOptions, env, () => undefined);

describe('--store', () => {
  it.each<[Partial<ServeOptions>, RegExp]>([
    [{ store: 'redis://a', ephemeral: true }, /--ephemeral keeps nothing, and --store/],
    [{ redisPrefix: 'x' }, /give --store/],
    [{ redisPasswordFile: 'x' }, /--redis-password-file is for a Redis: give --store/],
    [{ store: 'redis://a', redisPasswordFile: '/nowhere' }, /--redis-password-file: ENOENT/],
    [
      { store: 'redis://a', redisPasswordFile: '/dev/null' },
      /--redis-password-file: \/dev\/null is a device/,
    ],
    [{ feedbackSpoolMib: 1 }, /--feedback-spool-mib is for feedback while Redis is away: give --store/],
    [{ store: 'http://localhost' }, /no address of a Redis/],
    [{ store: 'redis://a', redisPrefix: 'a b' }, /a prefix is/],
  ])('refuses %j', async (options, reason) => {
    await expect(asked(options)).rejects.toThrow(reason);
  });

  it('takes the password from a file before that of the environment', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'windjammer-password-')), 'password');
    writeFileSync(file, 'of the file\n');
    const env = { WINDJAMMER_REDIS_PASSWORD: 'of the environment' };
    expect((await asked({ store: 'redis://a' }, env))?.address.password).toBe('of the environment');
    const options = { store: 'redis://a', redisPasswordFile: file };
    expect((await asked(options, env))?.address.password).toBe('of the file');
    rmSync(dirname(file), { recursive: true });
  });

  it('says where state is kept, without the password', async () => {
    expect(await asked({})).toBeUndefined();
    expect((await asked({ store: 'redis://me:secret@a/2' }))?.where).toBe('redis://a:6379/2');
  });
});
