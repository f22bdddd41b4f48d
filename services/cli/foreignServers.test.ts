import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';
import { runCommand } from './tests/runCommand.js';

describe('a server that is none of ours', () => {
  let server: Server;
  let url = '';
  let folder = '';
  let answer: { readonly type: string; readonly text: string } = { type: 'text/plain', text: '' };
  const answered = (response: ServerResponse): unknown =>
    response.setHeader('content-type', answer.type).end(answer.text);
  let respond = answered;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'foreign-'));
    server = createServer((_request, response) => {
      respond(response);
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

  it.each([
    ['text/html', '<html>'],
    ['application/json', 'null'],
    ['application/json', '{"events":[],"more":true,"last":0}'],
    ['application/json', '{"events":[null],"more":false,"last":0}'],
    ['application/json', '{"events":{},"more":false,"last":0}'],
  ])('that answers %s %s has changed nothing, and has no events, backup or arrivals', async (type, text) => {
    answer = { type, text };
    const file = join(folder, 'none');
    for (const words of [
      ['app', 'set', 'digits', '--strict'],
      ['events'],
      ['events', '--follow'],
      ['backup', file],
      ['record', file],
    ]) {
      const { status, stdout, stderr } = await runCommand([...words, '--management-url', url]);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^what answers .* is no .*Windjammer; is the address right\?$/);
    }
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    ['backup', 'application/x-ndjson', undefined],
    ['backup', 'application/x-ndjson', '{"format":'],
    ['record', 'application/jsonl', undefined],
  ])('that goes silent is given up by %s', async (command, type, start) => {
    respond = (response) => {
      if (start !== undefined) response.setHeader('content-type', type).write(start);
    };
    const file = join(folder, 'none');
    const { stderr } = await runCommand([command, file, '--timeout-ms', '50', '--management-url', url]);
    respond = answered;
    expect(stderr).toMatch(/said nothing for \d+ ms$/);
    expect(existsSync(file)).toBe(false);
  });

  it('breaks a recording off: what came is kept, and it is told', async () => {
    answer = { type: 'application/jsonl', text: '{"time_us":1,"application":"a","input_hash":"0"}\n{"ti' };
    const file = join(folder, 'part.jsonl');
    const { status, stderr } = await runCommand(['record', file, '--management-url', url]);
    expect([status, stderr]).toEqual([
      1,
      'the server broke the recording off: 1 arrivals were written until then',
    ]);
    expect(existsSync(file)).toBe(true);
  });

  it.each(['<html>', 'null', 'up 1\n'])('is asked no load: %s', async (text) => {
    answer = { type: 'application/json', text };
    const { stderr } = await runCommand(['loadtest', '--app', 'a', '--duration', '1', '--url', url]);
    expect(stderr).toMatch(
      /is no query interface of Windjammer; is the address right\?$|is JSON and is none$/,
    );
  });

  it('leaves what has the name', async () => {
    answer = { type: 'text/html', text: '<html>' };
    const trace = join(folder, 'old.json');
    writeFileSync(trace, 'old');
    expect(await runGpuCommand('record', trace, '--management-url', url)).toMatch(/^FAILED/);
    expect(existsSync(trace)).toBe(true);
  });
});
