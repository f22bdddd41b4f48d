import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from './tests/runCommand.js';

describe('windjammer app', () => {
  let server: Server;
  let url = '';
  let asked: unknown;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (part: string) => (body += part));
      request.on('end', () => {
        asked = { verb: request.url, ...(JSON.parse(body) as object) };
        response.setHeader('content-type', 'text/plain; charset=utf-8').end('Success! It is as asked.');
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function sent(...args: readonly string[]): Promise<unknown> {
    asked = undefined;
    expect(await runCommand(['app', ...args, '--management-url', url])).toEqual({
      status: 0,
      stdout: 'Success! It is as asked.\n',
      stderr: '',
    });
    return asked;
  }

  it.each([
    ['--max-in-flight', '8', { max_in_flight: 8 }],
    ['--max-in-flight', 'any', { max_in_flight: null }],
    ['--launch-class', 'critical', { launch_class: 'critical' }],
    ['--launch-class', 'models', { launch_class: null }],
    ['--context-ttl-days', '7', { context_ttl_days: 7 }],
    ['--context-ttl-days', 'usual', { context_ttl_days: null }],
    ['--loss-of-late', '0', { loss_of_late: 0 }],
    ['--loss-of-late', 'nothing', { loss_of_late: null }],
  ])('set %s %s sends that alone', async (option, value, fields) => {
    expect(await sent('set', 'shop', option, value)).toEqual({
      verb: '/admin/set_app',
      name: 'shop',
      ...fields,
    });
  });

  it('add sends for how long contexts are kept', async () => {
    const days = ['--context-ttl-days', '7'];
    expect(
      await sent('add', 'shop', '--input-type', 'doubles', '--default-output', '0', ...days),
    ).toMatchObject({ verb: '/admin/add_app', context_ttl_days: 7 });
  });
});
