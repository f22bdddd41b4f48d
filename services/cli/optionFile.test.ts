import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerCertificates } from '../http/index.js';
import { certificateFile } from '../http/tests/servers.js';
import { redisAddress } from '../redis/index.js';
import { connectionOf } from './clientOptions.js';
import { readConfigurationFile } from './configuration/index.js';
import { clusterKey, dialledNodes } from './dialledNodes.js';
import { redisPassword } from './redisPassword.js';
import { accessSettings } from './serveSecurity.js';

const LIMITS = { maxConnections: 1, maxWebsockets: 1 };
const PLAIN = { cert: certificateFile('server'), key: certificateFile('server-key') };
const servedWith = (query: object, management?: object): void =>
  new ServerCertificates(
    { query: { ...PLAIN, ...query }, ...(management && { management: { ...PLAIN, ...management } }) },
    () => undefined,
  ).close();
const nodesWith = (tls: object): unknown => dialledNodes({ node: ['tls://a:1'], ...tls });

/** Every option that names a file which is read at the start, and the reading. */
const OPTIONS: readonly (readonly [string, (path: string) => unknown])[] = [
  ['--tls-cert', (cert) => servedWith({ cert })],
  ['--tls-key', (key) => servedWith({ key })],
  ['--tls-ca', (ca) => servedWith({ ca })],
  ['--management-tls-cert', (cert) => servedWith({}, { cert })],
  ['--management-tls-key', (key) => servedWith({}, { key })],
  ['--management-tls-ca', (ca) => servedWith({}, { ca })],
  ['--admin-key-file', (adminKeyFile) => accessSettings({ ...LIMITS, adminKeyFile }, {})],
  ['--redis-password-file', (file) => redisPassword(file, {})],
  ['--cluster-key-file', (file) => clusterKey(file)],
  ['--node-tls-ca', (nodeTlsCa) => nodesWith({ nodeTlsCa })],
  ['--node-tls-cert', (nodeTlsCert) => nodesWith({ nodeTlsCert, nodeTlsKey: PLAIN.key })],
  ['--node-tls-key', (nodeTlsKey) => nodesWith({ nodeTlsKey, nodeTlsCert: PLAIN.cert })],
  ['--ca', (ca) => connectionOf({ ca })],
  ['--client-key', (clientKey) => connectionOf({ clientKey, clientCert: PLAIN.cert })],
  ["'ca'", (file) => redisAddress(`rediss://a?ca=${file}`)],
  ['/', (file) => readConfigurationFile(file)],
];

describe('a file that is read at the start', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'option-files-'));
    execFileSync('mkfifo', [at('pipe')]);
    writeFileSync(at('large'), Buffer.alloc(2 * 1024 * 1024, 'x'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  describe.each(OPTIONS)('%s', (option, read) => {
    it.each([
      ['pipe', 'is a pipe, and a regular file is needed: write its content to one, and name that'],
      ['/dev/zero', 'is a device, and a regular file is needed'],
      ['large', 'is larger than 1 MiB'],
    ])('is refused as %s, with its name and the option', (name, reason) => {
      const path = name.startsWith('/') ? name : at(name);
      expect(() => read(path)).toThrow(reason);
      expect(() => read(path)).toThrow(path);
      expect(() => read(path)).toThrow(option);
    });
  });

  it('may begin with a byte order mark, which is no part of it', () => {
    const marked = (text: string): string => {
      writeFileSync(at('marked'), `\uFEFF${text}`);
      return at('marked');
    };
    expect(redisPassword(marked('secret\r\n'), {})).toBe('secret');
    const access = accessSettings({ ...LIMITS, adminKeyFile: marked('admin\n') }, {});
    expect(access.adminKey).toBe('admin');
    expect(clusterKey(marked('k'.repeat(40)))?.toString()).toBe('k'.repeat(40));
    expect(readConfigurationFile(marked('serve:\n  port: 1\n')).get('serve')?.entries).toMatchObject([
      { key: 'port', datum: 1, place: `${at('marked')}:2` },
    ]);
    servedWith({ cert: marked(readFileSync(PLAIN.cert, 'utf8')) });
    servedWith({ key: marked(readFileSync(PLAIN.key, 'utf8')) });
  });

  it('is not in an encoding that none is in', () => {
    writeFileSync(at('wide'), Buffer.from('\uFEFFsecret', 'utf16le'));
    expect(() => redisPassword(at('wide'), {})).toThrow(
      `--redis-password-file: ${at('wide')}: it is text in UTF-16LE; save it as UTF-8`,
    );
  });
});
