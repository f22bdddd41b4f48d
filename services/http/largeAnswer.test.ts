import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { sendBytes, sendJson } from './answer.js';
import { JsonServer } from './jsonServer.js';
import { pendingBytes } from './largeAnswer.js';

let server: JsonServer | undefined;
afterEach(() => server?.close(0));

async function listen(listener: (response: ServerResponse) => void): Promise<number> {
  server = new JsonServer((_request, response) => listener(response));
  return (await server.listen({ host: '127.0.0.1', port: 0 })).port;
}

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

/** Cut anywhere, half of the pieces would end within a character. */
const TEXT = JSON.stringify(`a${'é😀'.repeat(400_000)}`);

it.each([
  ['text', (response: ServerResponse) => sendJson(response, 200, TEXT)],
  ['bytes', (response: ServerResponse) => sendBytes(response, 200, 'application/json', Buffer.from(TEXT))],
  [
    'parts',
    (response: ServerResponse) => {
      const bytes = Buffer.from(TEXT);
      sendBytes(response, 200, 'application/json', [bytes.subarray(0, 9), bytes.subarray(9)]);
    },
  ],
])('comes whole, also compressed: %s', async (_what, answer) => {
  const port = await listen(answer);
  for (const encoding of ['identity', 'gzip']) {
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': encoding } });
    expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
    expect(await response.text()).toBe(TEXT);
  }
});

it('is handed to the system as its client reads, and no memory is taken for what waits', async () => {
  const content = 'a'.repeat(32 * 1024 * 1024);
  let socket: Socket | undefined;
  const port = await listen((response) => {
    socket = response.req.socket;
    sendJson(response, 200, content);
  });
  const client = connect(port, '127.0.0.1');
  client.pause();
  client.write(GET);
  while (socket === undefined || !socket.writableNeedDrain) await new Promise(setImmediate);
  expect(socket.writableLength).toBeLessThan(256 * 1024);
  const waits = pendingBytes(socket);
  expect(waits).toBeGreaterThan(content.length / 2);
  let bytes = 0;
  for (client.resume(); bytes < content.length;)
    bytes += ((await once(client, 'data')) as [Buffer])[0].length;
  expect(pendingBytes(socket)).toBe(0);
  // A client that leaves leaves nothing behind.
  client.pause();
  client.write(GET);
  while (pendingBytes(socket) === 0) await new Promise(setImmediate);
  client.destroy();
  while (!socket.closed) await new Promise(setImmediate);
  expect(pendingBytes(socket)).toBe(0);
});

it('is written in slices, between which others are served', async () => {
  const content = 'a'.repeat(16 * 1024 * 1024);
  const port = await listen((response) => sendJson(response, 200, content));
  const clients = Array.from({ length: 4 }, () => connect(port, '127.0.0.1'));
  await Promise.all(clients.map((client) => once(client, 'connect')));
  let turns = 0;
  const done = Promise.all(
    clients.map(async (client) => {
      client.write(GET);
      for (let bytes = 0; bytes < content.length;)
        bytes += ((await once(client, 'data')) as [Buffer])[0].length;
    }),
  );
  let isDone = false;
  void done.then(() => (isDone = true));
  for (; !isDone; turns++) await new Promise(setImmediate);
  expect(turns).toBeGreaterThan(100);
  for (const client of clients) client.destroy();
});
