import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';

describe('a server that is none of ours', () => {
  let server: Server;
  let url = '';
  let folder = '';
  let answer: { readonly type: string; readonly text: string } = { type: 'text/plain', text: '' };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'foreign-'));
    server = createServer((_request, response) => {
      response.setHeader('content-type', answer.type).end(answer.text);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['text/html', '<html>'],
    ['application/json', '{}'],
    ['application/json', 'null'],
    ['application/json', '[{}]'],
    ['application/json', '[null]'],
    ['application/json', '"text"'],
    ['application/json', '{'],
  ])('that answers %s %s is told, and no file is made', async (type, text) => {
    answer = { type, text };
    const trace = join(folder, 'trace.json');
    const message =
      text === '{'
        ? /says that it is JSON and is none$/
        : /no management interface of Windjammer; is the address right\?$/;
    expect(await runGpuCommand('top', '--once', '--management-url', url)).toMatch(message);
    const recorded = await runGpuCommand('record', trace, '--seconds', '0.01', '--management-url', url);
    expect(recorded).toMatch(message);
    expect(existsSync(trace)).toBe(false);
  });

  it('leaves what has the name', async () => {
    answer = { type: 'text/html', text: '<html>' };
    const trace = join(folder, 'old.json');
    writeFileSync(trace, 'old');
    expect(await runGpuCommand('record', trace, '--management-url', url)).toMatch(/^FAILED/);
    expect(existsSync(trace)).toBe(true);
  });
});
