import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { readBytes } from './bodyBytes.js';
import { BodyBudget, JsonServer, READING, sendJson } from './index.js';

let server: JsonServer | undefined;
afterEach(() => server?.close(0));

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\n';
const turns = async (count: number) => {
  for (let at = 0; at < count; at++) await new Promise(setImmediate);
};

/** A server that answers with how long bodies are, and its connections. */
async function listen(): Promise<{ readonly port: number; readonly sockets: Socket[] }> {
  const sockets: Socket[] = [];
  server = new JsonServer((request, response) => {
    if (!sockets.includes(request.socket)) sockets.push(request.socket);
    readBytes(
      request,
      { bytes: 1e8, budget: new BodyBudget() },
      {
        onBytes: (body, release) => {
          release();
          sendJson(response, 200, String(body.length));
        },
        onBodyError: (error) => sendJson(response, 400, error.code),
      },
    );
  });
  return { port: (await server.listen({ host: '127.0.0.1', port: 0 })).port, sockets };
}

it('reads nothing of a connection that is held, whatever resumes it, and goes on with all of it', async () => {
  const { port, sockets } = await listen();
  const client = connect(port, '127.0.0.1');
  client.write(`${HEAD}Content-Length: 4000000\r\n\r\n${'a'.repeat(1000)}`);
  while (sockets.length === 0) await turns(1);
  const [socket] = sockets;
  const connection = READING.of(socket);
  // Node has said that it reads on, and says so once more in this turn.
  socket.resume();
  connection.pause();
  client.write('a'.repeat(3_999_000));
  await turns(3);
  const { bytesRead } = socket;
  socket.resume();
  await turns(50);
  expect(socket.bytesRead).toBe(bytesRead);
  connection.resume();
  expect(String((await once(client, 'data'))[0])).toContain('4000000');
  client.destroy();
});

it('reads of no connection in a turn that is halted, and of all in the next', async () => {
  const { port, sockets } = await listen();
  const clients = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'));
  for (const client of clients) client.write(`${HEAD}Content-Length: 100000\r\n\r\n`);
  while (sockets.length < 5) await turns(1);
  READING.halt();
  expect(sockets.every((socket) => socket.isPaused())).toBe(true);
  const answers = clients.map((client) => once(client, 'data'));
  for (const client of clients) client.write('a'.repeat(100_000));
  for (const answer of answers) expect(String((await answer)[0])).toContain('100000');
  for (const client of clients) client.destroy();
});
