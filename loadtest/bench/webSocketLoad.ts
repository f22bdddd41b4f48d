/**
 * A load generator for binary predictions over WebSockets, run as a process of its own:
 *
 *   node dist/loadtest/bench/webSocketLoad.js --url ws://127.0.0.1:1337/ws --seconds 6
 *
 * Every connection keeps `--in-flight` messages under way. Prints one JSON object; an answer that is neither a
 * prediction nor (from an echo) the request itself counts as an error.
 */
import { parseArgs } from 'node:util';
import { wholeNumberHistogram } from '../../simulator/statistics/index.js';
import { WebSocket } from 'ws';
import { encodePredict, FrameType, frameId, frameType } from '../../services/wire/index.js';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'ws://127.0.0.1:1337/ws' },
    application: { type: 'string', default: 'noop' },
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '16' },
    'in-flight': { type: 'string', default: '8' },
    'input-length': { type: 'string', default: '8' },
    salt: { type: 'string', default: '1' },
  },
});

const inFlight = Number(values['in-flight']);
const latencyUs = wholeNumberHistogram();
let unique = 0;
let answers = 0;
let errors = 0;
let isOver = false;

/** One connection; ids are the slots of its messages in flight. */
class Lane {
  private readonly sentMs = new Float64Array(inFlight);
  private readonly input = new Float64Array(Number(values['input-length'])).fill(Number(values.salt));

  constructor(private readonly webSocket: WebSocket) {
    webSocket.on('message', (data) => this.onAnswer(data as Buffer));
    webSocket.on('close', () => {
      if (!isOver) errors += 1;
    });
  }

  start(): void {
    for (let slot = 0; slot < inFlight; slot++) this.send(slot);
  }

  private send(slot: number): void {
    // No cache can have it.
    this.input[0] = unique++ + 0.5;
    this.sentMs[slot] = performance.now();
    const { application } = values;
    const input = new Uint8Array(this.input.buffer);
    this.webSocket.send(encodePredict({ id: slot, application, inputType: 'doubles', input }));
  }

  private onAnswer(frame: Buffer): void {
    const slot = frameId(frame);
    const type = frameType(frame);
    latencyUs.recordValue(Math.max(1, Math.round((performance.now() - this.sentMs[slot]) * 1000)));
    answers += 1;
    const isDefault = type === FrameType.prediction && (frame[3] & 1) !== 0;
    if ((type !== FrameType.prediction && type !== FrameType.predict) || isDefault) errors += 1;
    if (!isOver) this.send(slot);
  }
}

const sockets = await Promise.all(
  Array.from({ length: Number(values.connections) }, async () => {
    const webSocket = new WebSocket(values.url, { perMessageDeflate: false });
    await new Promise((resolve, reject) => webSocket.once('open', resolve).once('error', reject));
    return webSocket;
  }),
);
const startMs = performance.now();
for (const lane of sockets.map((webSocket) => new Lane(webSocket))) lane.start();
await new Promise((resolve) => setTimeout(resolve, Number(values.seconds) * 1000));
const seconds = (performance.now() - startMs) / 1000;
const result = {
  requests: answers,
  requestsPerSecond: answers / seconds,
  p50Ms: latencyUs.getValueAtPercentile(50) / 1000,
  p99Ms: latencyUs.getValueAtPercentile(99) / 1000,
  errors,
};
isOver = true;
for (const webSocket of sockets) webSocket.terminate();
process.stdout.write(`${JSON.stringify(result)}\n`);
