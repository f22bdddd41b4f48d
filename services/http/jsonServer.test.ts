import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonServer, sendJson } from './index.js';

let server: JsonServer;
let port: number;
/** Answered by the test, when it wants. */
let held: ServerResponse[];

beforeEach(async () => {
  held = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    if (request.url === '/held') held.push(response);
    else sendJson(response, 200, JSON.stringify(request.url));
  };
  server = new JsonServer(listener, { concurrency: () => 2 });
  ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
});

afterEach(() => server.close(0));

/** Sends bytes and resolves with all that came when the server has closed the connection. */
function exchange(bytes: string, onSent?: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, onSent));
    let text = '';
    socket.on('data', (part) => (text += part.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

function statuses(answers: string): number[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
}

const GET = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

describe('JsonServer', () => {
  it.each([
    ['http://x/noop/predict?a=b', '/noop/predict?a=b'],
    ['HTTPS://x:80/a', '/a'],
    ['http://x', '/'],
    ['http://x?a', '/?a'],
    ['//x/a', '//x/a'],
    ['/http://x/a', '/http://x/a'],
  ])('takes the target %s as %s', async (target, path) => {
    expect(await exchange(GET(target))).toContain(`\r\n\r\n${JSON.stringify(path)}`);
  });

  it('refuses HTTP/1.1 without Host with an error of the catalogue, and takes HTTP/1.0', async () => {
    const refused = await exchange('GET / HTTP/1.1\r\n\r\n');
    expect(statuses(refused)).toEqual([400]);
    expect(refused).toContain('"code":"malformed_http"');
    expect(statuses(await exchange('GET / HTTP/1.0\r\n\r\n'))).toEqual([200]);
  });

  it('ignores expectations that it does not know', async () => {
    expect(statuses(await exchange(GET('/').replace('Host', 'Expect: more\r\nHost')))).toEqual([200]);
  });

  it('answers CONNECT with an error', async () => {
    const answer = await exchange('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n');
    expect(statuses(answer)).toEqual([405]);
    expect(answer).toContain('"code":"method_not_allowed"');
  });

  it('answers what was pipelined before bad bytes, and refuses those after it', async () => {
    const get = 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n';
    const answers = exchange(`${get}${get}garbage\r\n\r\n`);
    while (held.length < 2) await new Promise(setImmediate);
    for (const response of held) sendJson(response, 200, '"held"');
    expect(statuses(await answers)).toEqual([200, 200, 400]);
  });

  it('refuses a body that breaks off into bad bytes behind the answers before it', async () => {
    const post = 'POST /held HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
    const answers = exchange(`GET /held HTTP/1.1\r\nHost: x\r\n\r\n${post}`);
    while (held.length < 2) await new Promise(setImmediate);
    const [first] = held;
    if (first !== undefined) sendJson(first, 200, '"held"');
    expect(statuses(await answers)).toEqual([200, 400]);
  });
});
