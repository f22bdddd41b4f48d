import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WindjammerClient } from '../client/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { RunningCommand } from './runningCommand.js';
import { ServedProcess } from './servedProcess.js';

const MODULE = "export default { inputType: 'doubles', predictOne: ([x]) => x };";

let folder: string;
let file: string;
let redis: RedisServer;
const running: RunningCommand[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-backup-'));
  file = join(folder, 'backup');
  redis = await RedisServer.start();
  writeFileSync(join(folder, 'model.mjs'), MODULE);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function serve(...args: string[]): Promise<ServedProcess> {
  const server = await ServedProcess.start(['--no-defaults', ...args]);
  running.push(server);
  return server;
}

async function windjammer(...words: string[]): Promise<[exit: unknown, output: string, errors: string]> {
  const command = new RunningCommand(words);
  return [await command.ended(), command.output, command.errors];
}

async function done(...words: string[]): Promise<void> {
  const [exit, , errors] = await windjammer(...words);
  expect([exit, errors]).toEqual([0, '']);
}

/** What survives, as far as clients see it. */
async function everything({ management }: WindjammerClient): Promise<unknown> {
  const models = await management.models();
  return {
    applications: await management.applications(),
    models: models.map(({ one_input_micros: _, replicas_up: __, ...model }) => model),
    state: await management.exportState('app'),
    context: await management.exportState('app', 'ada'),
    keys: await management.keys(),
    events: (await management.events()).events,
  };
}

/** A server that has learned something, with a key. */
async function taught(...args: string[]): Promise<ServedProcess> {
  const server = await serve(...args);
  const client = server.client();
  const { management } = client;
  await management.addApplication({
    name: 'app',
    input_type: 'doubles',
    default_output: 'none ☃',
    latency_slo_micros: 2_000_000,
    policy: { name: 'exp3' },
  });
  for (const output of ['1', '2']) {
    await management.addModel({
      model_name: `m${output}`,
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output,
    });
  }
  await management.addModel({
    model_name: 'user',
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/process',
    model_data_path: join(folder, 'model.mjs'),
    num_replicas: 0,
  });
  await management.addLinks('app', ['m1', 'm2']);
  await management.addKey({ name: 'ops', scopes: ['admin'] });
  for (let at = 0; at < 40; at++) {
    const context = at % 2 === 0 ? {} : { context: 'ada' };
    const { queryId } = await client.predict('app', [at], context);
    await client.feedback('app', { queryId, label: 2, ...context });
  }
  expect((await management.exportState('app')).version).toBeGreaterThan(1);
  return server;
}

describe('backup', () => {
  it('of a running server is restored into a data directory and into a Redis, with all that it had', async () => {
    const server = await taught('--data-dir', join(folder, 'first'));
    const before = await everything(server.client());
    const [exit, output] = await windjammer('backup', file, '--management-url', server.management);
    expect(exit).toBe(0);
    expect(output).toContain(`not included, keep it yourself: ${join(folder, 'model.mjs')}`);
    await done('restore', file, '--data-dir', join(folder, 'second'));
    const second = await serve('--data-dir', join(folder, 'second'));
    expect(await everything(second.client())).toEqual(before);
    await done('restore', file, '--store', redis.url, '--redis-prefix', 'r');
    const third = await serve(
      '--store',
      redis.url,
      '--redis-prefix',
      'r',
      '--data-dir',
      join(folder, 'third'),
    );
    expect(await everything(third.client())).toEqual(before);
    // It goes on from there, and a backup of it has the same again.
    await third.client().management.setApplication({ name: 'app', strict: true });
    const again = join(folder, 'again');
    await done('backup', again, '--management-url', third.management);
    await done('restore', again, '--data-dir', join(folder, 'fourth'));
    const fourth = await serve('--data-dir', join(folder, 'fourth'));
    expect(await everything(fourth.client())).toEqual(await everything(third.client()));
  });

  it('of a cluster has the files of its models', async () => {
    const server = await serve(
      '--store',
      redis.url,
      '--redis-prefix',
      'a',
      '--only-nodes',
      '--data-dir',
      join(folder, 'a'),
    );
    await server.client().management.addModel({
      model_name: 'user',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/process',
      model_data_path: join(folder, 'model.mjs'),
    });
    const [exit, output] = await windjammer('backup', file, '--management-url', server.management);
    expect([exit, output.includes('not included')]).toEqual([0, false]);
    expect(output).toContain('the files of 1 models');
    await done('restore', file, '--store', redis.url, '--redis-prefix', 'b');
    const connection = new Redis(redis.url);
    try {
      const pieces = (await connection.keys('{b}:bundle:*:0')).map((key) => connection.get(key));
      expect(await Promise.all(pieces)).toEqual([expect.stringContaining('predictOne')]);
    } finally {
      connection.disconnect();
    }
  });

  it('is refused where something is, where it is damaged, cut short or newer, and changes nothing then', async () => {
    const server = await taught('--data-dir', join(folder, 'first'));
    await done('backup', file, '--management-url', server.management);
    const text = readFileSync(file, 'utf8');
    const bad = async (content: string, ...to: string[]): Promise<string> => {
      writeFileSync(join(folder, 'bad'), content);
      const [exit, output, errors] = await windjammer('restore', join(folder, 'bad'), ...to);
      expect([exit, output]).toEqual([1, '']);
      return errors;
    };
    const empty = ['--data-dir', join(folder, 'empty')] as const;
    expect(await bad(text.replace('"none ☃"', '"none ☂"'), ...empty)).toMatch(/damaged: its checksum/);
    expect(await bad(text.slice(0, text.length / 2), ...empty)).toMatch(/is damaged/);
    expect(await bad(text.slice(0, text.lastIndexOf('{"sha256"')), ...empty)).toMatch(/it ends early/);
    expect(await bad(text + text, ...empty)).toMatch(/something follows its end/);
    expect(await bad(text.replace('"version":2', '"version":3'), ...empty)).toMatch(
      /format 3 .* use the version/,
    );
    expect(await bad('{"a":1}\n', ...empty)).toMatch(/no backup of Windjammer/);
    expect(await bad('', ...empty)).toMatch(/no backup of Windjammer/);
    expect(await bad(text)).toMatch(/say where to/);
    expect(await bad(text, '--store', redis.url, ...empty)).toMatch(/say where to/);
    expect(existsSync(join(folder, 'empty'))).toBe(false);
    expect(await bad(text, '--data-dir', join(folder, 'first'))).toMatch(
      /is not empty \(lock|is not empty \(jobs/,
    );
    mkdirSync(join(folder, 'empty'));
    await done('restore', file, ...empty);
    expect(await bad(text, ...empty)).toMatch(/is not empty \(store\)/);
    const connection = new Redis(redis.url);
    try {
      await connection.set('{windjammer}:store:x', '1');
      expect(await bad(text, '--store', redis.url)).toMatch(
        /has keys under the prefix \({windjammer}:store:x\)/,
      );
      expect(await connection.keys('*')).toEqual(['{windjammer}:store:x']);
    } finally {
      connection.disconnect();
    }
    expect((await windjammer('restore', join(folder, 'nothing'), ...empty))[2]).toMatch(/ENOENT/);
  });

  it('that breaks off leaves no file, and what had the name before', async () => {
    writeFileSync(file, 'before');
    const half = createServer((socket) => {
      socket.once('data', () => {
        socket.end(
          'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"format":"windjammer-backup","version":1,"schema":1,"made_at":"2030-01-01T00:00:00Z","entries":1,"bundles":0,"not_included":[]}\n',
        );
      });
    }).listen(0, '127.0.0.1');
    await once(half, 'listening');
    const { port } = half.address() as AddressInfo;
    const [exit] = await windjammer('backup', file, '--management-url', `http://127.0.0.1:${port}`);
    half.close();
    expect([exit, readFileSync(file, 'utf8')]).toEqual([1, 'before']);
    expect(readdirSync(folder).sort()).toEqual(['backup', 'model.mjs']);
  });

  it('needs a key that may administer, where keys are asked for', async () => {
    const data = join(folder, 'keyed');
    const add = async (scope: string) =>
      (await windjammer('key', 'add', scope, '--scope', scope, '--data-dir', data))[1].trim();
    const [admin, metrics] = [await add('admin'), await add('metrics')];
    const { management } = await serve('--data-dir', data, '--require-keys');
    const ask = (key?: string) =>
      windjammer(
        'backup',
        file,
        '--management-url',
        management,
        ...(key === undefined ? [] : ['--api-key', key]),
      );
    expect((await ask())[2]).toMatch(/401 key_required/);
    expect((await ask(metrics))[2]).toMatch(/403 missing_scope/);
    expect(existsSync(file)).toBe(false);
    expect((await ask(admin))[0]).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain(admin.slice(-64));
  });
});
