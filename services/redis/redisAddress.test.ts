import { describe, expect, it } from 'vitest';
import { certificateFile, pem } from '../http/tests/servers.js';
import { addressText, keyPrefix, redisAddress } from './index.js';

describe('redisAddress', () => {
  it.each([
    ['redis://localhost', { kind: 'single', tls: undefined, host: { host: 'localhost', port: 6379 }, db: 0 }],
    [
      'rediss://me:p%40ss@cache.example:7000/3',
      {
        kind: 'single',
        tls: {},
        username: 'me',
        password: 'p@ss',
        host: { host: 'cache.example', port: 7000 },
        db: 3,
      },
    ],
    [
      'redis://:secret@[::1]:7000/',
      { kind: 'single', password: 'secret', host: { host: '::1', port: 7000 } },
    ],
    [
      'redis+sentinel://a,b:7001/main/2',
      {
        kind: 'sentinel',
        master: 'main',
        db: 2,
        hosts: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
    [
      'rediss+cluster://a:1,b:2',
      {
        kind: 'cluster',
        tls: {},
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
  ])('reads %s', (text, expected) => {
    expect(redisAddress(text)).toMatchObject(expected);
  });

  it('reads the files of TLS', () => {
    const text = `rediss://a?ca=${certificateFile('authority')}&cert=${certificateFile('client')}&key=${certificateFile('client-key')}`;
    const tls = { ca: pem('authority'), cert: pem('client'), key: pem('client-key') };
    expect(redisAddress(text)).toMatchObject({ kind: 'single', host: { host: 'a', port: 6379 }, db: 0, tls });
    expect(addressText(redisAddress(text))).toBe('rediss://a:6379/0');
  });

  it.each([
    ['http://localhost', /redis:\/\/\[USER:PASSWORD@\]HOST/],
    ['localhost:6379', /the forms are/],
    ['redis://', /the forms are/],
    ['redis://a:99999', /a port is 1 to 65535/],
    ['redis://a:b', /'a:b' is no HOST/],
    ['redis://::1', /IPv6 address stands in brackets/],
    ['redis://a/first', /a database is a number/],
    ['redis://a/1/2', /number of a database/],
    ['redis://a,b', /several hosts are/],
    ['redis+sentinel://a', /name what the sentinels watch/],
    ['redis+cluster://a/1', /one database/],
    ['redis://u:%zz@a', /write % as %25/],
    ['redis://a?ca=x.pem', /'\?ca' belongs to TLS: write rediss:/],
    ['rediss://a?family=6', /'\?family' is none of \?ca, cert, key/],
    ['rediss://a?ca=/nowhere.pem', /'ca' cannot be read: ENOENT/],
    [`rediss://a?ca=${certificateFile('server-key')}`, /server-key.pem has no PEM of a certificate/],
    [`rediss://a?cert=${certificateFile('client')}`, /a certificate goes with its key/],
    [
      `rediss://a?cert=${certificateFile('client')}&key=${certificateFile('server-key')}`,
      /do not go together/,
    ],
  ])('refuses %s', (text, reason) => {
    expect(() => redisAddress(text)).toThrow(reason);
  });

  it('takes the password of the environment where the address has none, and tells neither', () => {
    expect(redisAddress('redis://me@a', 'env')).toMatchObject({ username: 'me', password: 'env' });
    expect(redisAddress('redis://me:own@a', 'env')).toMatchObject({ username: 'me', password: 'own' });
    expect(addressText(redisAddress('redis://me:own@[::1]:5/2'))).toBe('redis://[::1]:5/2');
  });
});

describe('keyPrefix', () => {
  it('keeps all keys of an installation in one slot, and refuses what would not', () => {
    expect(keyPrefix('team-1')).toBe('{team-1}');
    for (const bad of ['', '{a}', 'a b', 'x'.repeat(65)]) expect(() => keyPrefix(bad)).toThrow(/a prefix is/);
  });
});
