import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of each connection, the responses to pipelined requests that wait for those before them. */
const waiting = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Node tells a response that its connection is gone once it is its turn. One that still waits then would never close,
 * and what was asked for it would go on for nobody: it is closed here.
 */
export function watchWaiting(socket: Socket, response: ServerResponse): void {
  // It is its turn at once, as nearly always.
  if (response.socket !== null) return;
  const responses = waiting.get(socket) ?? watched(socket);
  responses.add(response);
  response.once('socket', () => responses.delete(response));
}

function watched(socket: Socket): Set<ServerResponse> {
  const responses = new Set<ServerResponse>();
  waiting.set(socket, responses);
  socket.once('close', () => {
    for (const response of responses) response.destroy().emit('close');
  });
  return responses;
}
