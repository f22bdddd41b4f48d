import { describe, expect, it } from 'vitest';
import type { ServeOptions } from './serveCommand.js';
import { sharedStore } from './storeOption.js';

const asked = (options: Partial<ServeOptions>, env: NodeJS.ProcessEnv = {}) =>
  sharedStore(options as ServeOptions, env, () => undefined);

describe('--store', () => {
  it.each<[Partial<ServeOptions>, RegExp]>([
    [{ store: 'redis://a', ephemeral: true }, /--ephemeral keeps nothing, and --store/],
    [{ redisPrefix: 'x' }, /give --store/],
    [{ feedbackSpoolMib: 1 }, /--feedback-spool-mib is for feedback while Redis is away: give --store/],
    [{ store: 'http://localhost' }, /no address of a Redis/],
    [{ store: 'redis://a', redisPrefix: 'a b' }, /a prefix is/],
  ])('refuses %j', async (options, reason) => {
    await expect(asked(options)).rejects.toThrow(reason);
  });

  it('says where state is kept, without the password', async () => {
    expect(await asked({})).toBeUndefined();
    expect((await asked({ store: 'redis://me:secret@a/2' }))?.where).toBe('redis://a:6379/2');
  });
});
