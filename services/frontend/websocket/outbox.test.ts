import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Outgoing } from './flights.js';
import { FrameWriter } from './frameWriter.js';
import { Outbox, WRITE_BYTES } from './outbox.js';

function box(readyState: number = WebSocket.OPEN) {
  const writes: number[] = [];
  let flushes = 0;
  const socket = { write: (piece: Buffer) => writes.push(piece.length) } as unknown as Socket;
  const webSocket = { readyState } as WebSocket;
  const outbox = new Outbox(webSocket, socket, new FrameWriter(), () => (flushes += 1));
  return { outbox, writes, flushes: () => flushes };
}

const text = (bytes: number): Outgoing => ({ writeTo: (frames) => frames.text('x'.repeat(bytes)) });

it('writes what comes together at once, and asks once for it', () => {
  const { outbox, writes, flushes } = box();
  for (let at = 0; at < 3; at++) outbox.send(text(10));
  expect([flushes(), writes]).toEqual([1, []]);
  outbox.flush();
  expect(writes).toEqual([36]);
  outbox.flushSoon();
  expect(flushes()).toBe(2);
  outbox.flush();
  expect(writes).toEqual([36]);
});

it('lays no more beside a piece that is large', () => {
  const { outbox, writes } = box();
  for (const bytes of [5, WRITE_BYTES, 6]) outbox.send(text(bytes));
  outbox.flush();
  expect(writes).toEqual([7 + WRITE_BYTES + 10, 8]);
});

it('says nothing to a peer that is gone', () => {
  const { outbox, writes } = box(WebSocket.CLOSING);
  outbox.send(text(1));
  outbox.flush();
  expect(writes).toEqual([]);
});
