import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { UnreadAnswers } from './unreadAnswers.js';

const MIB = 1024 * 1024;

it('ends connections whose clients have stopped reading when all answers take too much, the largest first', async () => {
  const unread = new UnreadAnswers(40 * MIB, 10);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    unread.watch(socket);
    sockets.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients: Socket[] = [];
  for (let at = 0; at < 3; at++) {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined).pause();
    clients.push(client);
    while (sockets.length === at) await new Promise(setImmediate);
  }
  const [large, small, reader] = sockets;
  small.write(Buffer.alloc(20 * MIB));
  reader.write(Buffer.alloc(8 * MIB));
  large.write(Buffer.alloc(60 * MIB));
  clients[2].resume();
  await once(large, 'close');
  expect([small.destroyed, reader.destroyed]).toEqual([false, false]);
  unread.close();
  for (const socket of [...clients, ...sockets]) socket.destroy();
  server.close();
});
