import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_TIMEOUTS, JsonServer, type JsonServerOptions } from './index.js';
import { echo } from './tests/servers.js';

let server: JsonServer;
let port: number;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close(0);
});

async function start(options: JsonServerOptions): Promise<void> {
  server = new JsonServer(echo, options);
  ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
}

async function idle(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** What came until the server closed the connection. */
async function exchange(path: string): Promise<string> {
  const socket = await idle();
  let text = '';
  socket.on('data', (part: Buffer) => (text += part.toString()));
  const end = once(socket, 'close');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await end;
  return text;
}

/** As long as a crowded machine may take. */
const PATIENCE = { timeout: 20_000 };

const accepted = (count: number) => expect.poll(() => server.connections().open, PATIENCE).toBe(count);

describe('connections over the limit', () => {
  it('are told so and closed, and leave those within it alone', async () => {
    await start({ maxConnections: 2, isProbe: ({ url }) => url === '/healthz' });
    const first = await idle();
    await idle();
    await accepted(2);
    const answer = await exchange('/a');
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"code":"too_many_connections"');
    expect(answer).toMatch(/\r\nretry-after: 1\r\n/i);
    // Probes are answered: a full server is not a dead one.
    expect(await exchange('/healthz')).toMatch(/^HTTP\/1\.1 200 /);
    first.write('GET /mine HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String((await once(first, 'data'))[0])).toContain('"/mine"');
    expect(server.connections()).toEqual({ open: 2, refused: 2 });
    first.destroy();
    await accepted(1);
    expect(await exchange('/b')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('are dropped when they come in numbers: what a flood of idle sockets holds is bounded', async () => {
    await start({ maxConnections: 50 });
    await Promise.all(Array.from({ length: 1000 }, idle));
    // 50, and the reserve that is told 503.
    await expect
      .poll(() => server.connections().open + server.connections().refused, PATIENCE)
      .toBeGreaterThanOrEqual(1000);
    expect(server.connections().open).toBeLessThanOrEqual(66);
    // The reserve is let go when it asks for nothing.
    await expect.poll(() => server.connections().open, PATIENCE).toBe(50);
  });
});

describe('a slow client', () => {
  const timeouts = { ...DEFAULT_TIMEOUTS, headersMs: 60, requestMs: 60 };

  it.each([
    ['says nothing', [], ''],
    ['sends its headers byte by byte', [...'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: '], 'aaaaaaaaaaaa'],
    [
      'sends its body byte by byte',
      ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'],
      'bbbbbb',
    ],
  ])('that %s is answered 408 and cut', async (_what, first, rest) => {
    await start({ timeouts });
    const socket = await idle();
    let text = '';
    socket.on('data', (part: Buffer) => (text += part.toString()));
    for (const part of first) socket.write(part);
    const timer = setInterval(() => {
      if (rest !== '') socket.write(rest.slice(0, 1));
    }, 5);
    await once(socket, 'close');
    clearInterval(timer);
    // One whose request was answered before its body came is cut without another answer.
    if (!text.includes(' 200 ')) expect(text).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
    await accepted(0);
  });

  it('that sends what may take long is left to whoever reads it', async () => {
    let bytes = 0;
    server = new JsonServer(
      (request, response) => {
        request.on('data', (part: Buffer) => (bytes += part.length));
        request.on('end', () => response.end(`all ${bytes}`));
      },
      { timeouts, isLong: ({ url }) => url === '/long' },
    );
    ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
    const sending = async (path: string) => {
      const socket = await idle();
      let text = '';
      socket.on('data', (part: Buffer) => (text += part.toString()));
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na`);
      return { socket, text: () => text };
    };
    const [long, short] = [await sending('/long'), await sending('/short')];
    await once(short.socket, 'close');
    expect(short.text()).toContain('request_timeout');
    long.socket.write('b');
    await expect.poll(long.text, PATIENCE).toContain('all 3');
    // The next request of the same connection is one like any other.
    long.socket.write('POST /short HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na');
    await once(long.socket, 'close');
    expect(long.text()).toContain('request_timeout');
  });
});
