import { connect } from 'node:net';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { JsonServer } from './jsonServer.js';

let server: JsonServer | undefined;
afterEach(() => server?.close(0));

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

async function listen(
  listener: (path: string, response: ServerResponse) => void,
  concurrency?: () => number,
): Promise<number> {
  server = new JsonServer(({ url = '' }, response) => listener(url, response), { concurrency });
  return (await server.listen({ host: '127.0.0.1', port: 0 })).port;
}

it('makes no more answers for a client than it reads', async () => {
  let made = 0;
  const port = await listen(
    (_path, response) => {
      made += 1;
      response.end(Buffer.alloc(1024 * 1024));
    },
    () => 64,
  );
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.write(request('/').repeat(500));
  const other = connect(port, '127.0.0.1');
  for (let at = 0; at < 20; at++) {
    other.write(request('/other'));
    for (let bytes = 0; bytes < 1024 * 1024;) bytes += ((await once(other, 'data')) as [Buffer])[0].length;
  }
  // What the system takes of the first ones is none of the server's memory.
  expect(made - 20).toBeLessThan(30);
  socket.destroy();
  other.destroy();
});

it('answers all that is pipelined, in its order, also what comes after much else', async () => {
  const port = await listen((path, response) => setImmediate(() => response.end(path)));
  const socket = connect(port, '127.0.0.1');
  const paths = Array.from({ length: 3000 }, (_, at) => `/${at}`);
  socket.write(paths.map(request).join(''));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (chunk.includes('/2999')) socket.end();
  });
  await once(socket, 'close');
  const text = String(Buffer.concat(chunks));
  expect([...text.matchAll(/^(\/\d+)(?=HTTP|$)/gm)].map(([path]) => path)).toEqual(paths);
});

it('begins what others ask between the pipelined requests of one', async () => {
  const begun: string[] = [];
  const port = await listen((path, response) => {
    begun.push(path);
    response.end(path);
  });
  const flood = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
  const other = connect(port, '127.0.0.1');
  await Promise.all([...flood, other].map((socket) => once(socket, 'connect')));
  for (const socket of flood) socket.write(request('/flood').repeat(500));
  for (const socket of flood) socket.resume();
  other.write(request('/other'));
  await once(other, 'data');
  expect(begun.length).toBeLessThan(5000);
  for (const socket of [...flood, other]) socket.destroy();
});
