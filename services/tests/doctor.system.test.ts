import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory } from '../store/index.js';
import { certificateFile } from '../http/tests/servers.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { RunningCommand } from './runningCommand.js';

interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly fix?: string;
}

describe('doctor', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-doctor-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function examine(...words: string[]): Promise<[exit: unknown, findings: readonly Finding[]]> {
    const command = new RunningCommand(['doctor', '--json', ...words]);
    const exit = await command.ended();
    return [exit, JSON.parse(command.output) as Finding[]];
  }

  const flags = (...more: string[]) => [
    ...['--', '--port', '0', '--management-port', '0', '--max-connections', '10'],
    ...['--data-dir', join(folder, 'data'), ...more],
  ];
  const of = (findings: readonly Finding[], check: string) => findings.filter((one) => one.check === check);

  it('finds nothing where all is well, and makes nothing', async () => {
    const [exit, findings] = await examine(...flags());
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(exit).toBe(0);
    expect(of(findings, 'data directory')[0].found).toContain('will be made');
  });

  it('finds what serve would refuse: a folder as the log, a file as the data directory, an address of another machine', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const [exit, findings] = await examine(
      ...flags('--log-file', folder, '--data-dir', file, '--host', '192.0.2.1'),
    );
    expect(exit).toBe(1);
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([
      expect.objectContaining({ found: expect.stringContaining('EADDRNOTAVAIL') as unknown }),
      expect.objectContaining({ found: `${file} is a file, and no folder` }),
      expect.objectContaining({ found: expect.stringContaining('is a folder: name a file') as unknown }),
    ]);
  });

  it('finds a port that two options of one server name', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const same = String(port);
    const [exit, findings] = await examine(...flags('--port', same, '--clipper-port', same));
    expect(exit).toBe(1);
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([
      expect.objectContaining({
        check: `port ${port}`,
        found: `127.0.0.1:${port} is what --port takes, too`,
        fix: 'choose another with --clipper-port',
      }),
    ]);
  });

  it('looks at what node would be given', async () => {
    const node = (...more: string[]) =>
      examine('--for', 'node', '--', '--name', 'n1', '--listen', '127.0.0.1:0', ...more);
    const [exit, findings] = await node('--data-dir', join(folder, 'node'), '--gpus', 'none');
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect([exit, of(findings, 'data directory')[0].found]).toEqual([
      0,
      expect.stringContaining('will be made') as unknown,
    ]);
    const file = join(folder, 'file');
    writeFileSync(file, 'short');
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const bad = await node('--listen', `127.0.0.1:${port}`, '--data-dir', file, '--log-file', folder);
    holder.close();
    expect(bad[0]).toBe(1);
    expect(bad[1].filter(({ level }) => level === 'fail').map(({ check }) => check)).toEqual([
      `port ${port}`,
      'data directory',
      'log',
    ]);
    for (const [more, reason] of [
      [['--cluster-key-file', file], '--cluster-key-file: the cluster key'],
      [['--tls-cert', file], '--tls-cert and --tls-key go together'],
      [['--advertise', 'a:1'], '--advertise is for --join'],
    ] as const) {
      const [, [, ...rest]] = await node(...more);
      expect(rest.at(-1)).toMatchObject({
        check: 'options',
        found: expect.stringContaining(reason) as unknown,
      });
    }
    const away = await node('--join', 'redis://127.0.0.1:1');
    expect(away[1].at(-1)).toMatchObject({
      level: 'fail',
      found: expect.stringContaining('127.0.0.1:1') as unknown,
    });
  });

  it('names what holds a port and a data directory, bad certificates, nodes that are not there, each with its fix', async () => {
    const held = createServer().listen(0, '127.0.0.1');
    await once(held, 'listening');
    const { port } = held.address() as AddressInfo;
    const data = join(folder, 'data');
    const unlock = lockDirectory(data);
    const file = join(folder, 'windjammer.yaml');
    writeFileSync(
      file,
      `serve:\n  data-dir: ${data}\n  port: ${port}\n  management-port: 0\n  max-connections: 1000000\n` +
        `  log-file: ${join(folder, 'missing', 'x.log')}\n` +
        `  tls-cert: ${certificateFile('server')}\n  tls-key: ${certificateFile('server')}\n  node: [tcp://127.0.0.1:1]\n`,
    );
    const [exit, findings] = await examine('--config', file);
    unlock?.();
    held.close();
    expect(exit).toBe(1);
    const bad = findings.filter(({ level }) => level !== 'ok');
    expect(bad.map(({ check, level }) => [check, level])).toEqual([
      ['files', 'warn'],
      [`port ${port}`, 'fail'],
      ['data directory', 'fail'],
      ['log', 'fail'],
      ['certificate', 'fail'],
      ['node', 'fail'],
    ]);
    for (const { fix } of bad) expect(fix).not.toBe('');
    expect(bad[1].found).toContain(`in use by process ${process.pid} `);
    expect(bad[2].found).toContain(`in use by process ${process.pid}`);
  });

  it('looks at the Redis: persistence, what it throws away, rights, clock', async () => {
    const redis = await RedisServer.start({
      isDurable: false,
      words: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    const admin = new Redis(redis.url);
    try {
      await admin.call(
        'ACL',
        'SETUSER',
        'few',
        'on',
        '>secret',
        '~{few}:*',
        '+@read',
        '+@write',
        '+@connection',
        '+info',
        '+time',
        '-eval',
      );
      const [, all] = await examine(...flags('--store', redis.url));
      expect(all.slice(-5).map(({ check, level }) => [check, level])).toEqual([
        ['redis', 'ok'],
        ['redis persistence', 'warn'],
        ['redis memory', 'warn'],
        ['clock', 'ok'],
        ['redis rights', 'ok'],
      ]);
      const few = `redis://few:secret@127.0.0.1:${redis.port}`;
      const [exit, findings] = await examine(...flags('--store', few, '--redis-prefix', 'few'));
      expect(exit).toBe(1);
      expect(of(findings, 'redis rights')[0]).toMatchObject({
        level: 'fail',
        found: expect.stringMatching(/^eval: NOPERM/) as unknown,
      });
      const [, other] = await examine(...flags('--store', few));
      expect(of(other, 'redis rights')[0].found).toMatch(/^set, .*NOPERM/);
      expect(JSON.stringify([findings, other])).not.toContain('secret');
      expect(await admin.keys('*')).toEqual([]);
      const [, wrong] = await examine(...flags('--store', `redis://few:wrong@127.0.0.1:${redis.port}`));
      expect(of(wrong, 'redis')[0].found).toContain('refuses the user or the password');
    } finally {
      admin.disconnect();
      await redis.stop();
    }
  });

  it('says which options cannot be, and goes on with the machine', async () => {
    const [exit, findings] = await examine(...flags('--tls-cert', 'x.pem'));
    expect(exit).toBe(1);
    expect(of(findings, 'options')[0].found).toMatch(/--tls-cert and --tls-key go together/);
    expect(of(findings, 'native modules')).toHaveLength(3);
  });

  it('says where flags of serve go', async () => {
    const command = new RunningCommand(['doctor', '--port', '4337']);
    expect([await command.ended(), command.errors]).toEqual([
      1,
      expect.stringContaining('windjammer doctor -- --port'),
    ]);
  });
});
