import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';

/*
 * What a hostile client sends, in a process of its own: `node hostileBodies.js INTERFACE QUERY MANAGEMENT`. It says GO once
 * its bodies are made, and ends when all are answered. With `none` for the interface it takes as much of a processor for
 * a while and sends nothing: what others wait beside it is the machine's doing, not the server's.
 */

const BRACKETS = 4_000_000;
const BODIES: readonly string[] = [
  `{"input":[1],"x":${'['.repeat(BRACKETS)}${']'.repeat(BRACKETS)}}`,
  `{"input":[1],"x":[${'{},'.repeat(2_000_000)}{}]}`,
  `{"input":[${'0,'.repeat(4_500_000)}0]}`,
  `{"input":[1],${Array.from({ length: 700_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
];
const COUNT = 20;
const BUSY_MS = 3000;

function post(url: string, text: string, isZipped: boolean): Promise<void> {
  const body = isZipped ? gzipSync(text, { level: 1 }) : Buffer.from(text);
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    };
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      response.resume().on('close', resolve);
    });
    sent.on('error', () => resolve());
    sent.end(body);
  });
}

function message(url: string, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    socket.on('open', () => socket.send(`{"type":"predict","id":1,"application":"noop",${text.slice(1)}`));
    socket.on('message', () => socket.close());
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
  });
}

function beBusy(): void {
  const endMs = performance.now() + BUSY_MS;
  while (performance.now() < endMs);
}

const [, , kind, query, management] = process.argv;
process.stdout.write('GO\n');
if (kind === 'none') beBusy();
else {
  const all = Array.from({ length: COUNT }, (_, at) => {
    const text = BODIES[at % BODIES.length];
    if (kind === 'websocket') return message(query, text.slice(0, at % 2 === 0 ? text.length : 3_900_000));
    if (kind === 'v2') return post(`${query}/v2/models/noop/infer`, text, false);
    if (kind === 'management') return post(`${management}/admin/add_app`, text, false);
    return post(`${query}/noop/predict`, text, kind === 'gzip');
  });
  await Promise.all(all);
}
