import { connect } from 'node:net';
import { WebSocket } from 'ws';

/*
 * What a client that reads nothing asks for, in a process of its own: `node hostileReaders.js KIND QUERY`. It says GO, and
 * ends after a while with all its connections. With `none` it takes as much of a processor and asks for nothing.
 */

const CLIENTS = 20;
/** As many as a server takes in a batch. */
const ROWS = 4_096;
const TIME_MS = 2000;

function post(port: number, path: string, body: string, times: number): void {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write((head + body).repeat(times));
}

const rows = (count: number) => `[${'[1],'.repeat(count - 1)}[1]]`;

const KINDS: Readonly<Record<string, (query: URL, port: number) => void>> = {
  batches: (_query, port) => post(port, '/noop/predict', `{"input_batch":${rows(ROWS)}}`, 5),
  v2: (_query, port) => {
    const input = `{"name":"input","datatype":"FP64","shape":[${ROWS},1],"data":[${'1,'.repeat(ROWS - 1)}1]}`;
    post(port, '/v2/models/noop/infer', `{"inputs":[${input}]}`, 12);
  },
  websocket: ({ host }) => {
    const socket = new WebSocket(`ws://${host}/ws`);
    socket.on('error', () => undefined);
    socket.on('open', () => {
      socket.pause();
      for (let id = 0; id < 5_000; id++)
        socket.send(`{"type":"predict","id":${id},"application":"noop","input":[${id}]}`);
    });
  },
  aborted: (_query, port) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST /noop/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 16000000\r\n\r\n{"input":"',
    );
    socket.write('a'.repeat(8_000_000), () => socket.destroy());
  },
};

const [, , kind, query] = process.argv;
const url = new URL(query);
process.stdout.write('GO\n');
const endMs = performance.now() + TIME_MS;
if (kind === 'none') while (performance.now() < endMs);
else {
  for (let at = 0; at < CLIENTS; at++) KINDS[kind](url, Number(url.port));
  setTimeout(() => process.exit(), TIME_MS);
}
