import { WebSocketClient } from '../../services/client/index.js';
import { ECHO, SCALE, type SeenAnswer } from './expectations.js';
import type { Exchange } from './goodLanes.js';
import type { HttpCall, HttpPeer } from './httpPeer.js';
import type { Lane } from './lanes.js';
import type { ViolationSink } from './violations.js';

interface BadCall extends HttpCall {
  readonly statuses: readonly number[];
}

const predict = `/${ECHO}/predict`;
const infer = `/v2/models/${ECHO}/infer`;
const json = (value: unknown): string => JSON.stringify(value);

/** Requests that are HTTP and no good, with the status that each has to get. */
const BAD_CALLS: readonly BadCall[] = [
  { path: predict, body: '{', statuses: [400] },
  { path: predict, body: '[]', statuses: [400] },
  { path: predict, body: '', statuses: [400] },
  { path: predict, body: Buffer.from([0xff, 0xfe, 0x7b]), statuses: [400] },
  { path: predict, body: json({}), statuses: [400] },
  { path: predict, body: json({ input: [] }), statuses: [400] },
  { path: predict, body: json({ input: 'text' }), statuses: [400] },
  { path: predict, body: json({ input: [1, null] }), statuses: [400] },
  { path: predict, body: '{"input":[1e999]}', statuses: [400] },
  { path: predict, body: json({ input: [1], input_batch: [[1]] }), statuses: [400] },
  { path: predict, body: json({ input_batch: [] }), statuses: [400] },
  { path: predict, body: json({ input_batch: new Array(5000).fill([1]) }), statuses: [413] },
  { path: predict, body: json({ input: [1], version: 'none' }), statuses: [400, 404] },
  { path: predict, body: json({ input: [1], uid: 'u'.repeat(500) }), statuses: [400] },
  { path: predict, body: json({ input: [1], latency_slo_micros: -1 }), statuses: [400] },
  { path: predict, body: json({ input: [1] }), contentType: 'text/csv', statuses: [415] },
  { path: `/${SCALE}/predict`, body: json({ input: [1, 2, 3] }), statuses: [400] },
  { path: '/nobody/predict', body: json({ input: [1] }), statuses: [404] },
  { path: '/%zz/predict', body: json({ input: [1] }), statuses: [400] },
  { path: predict, method: 'GET', statuses: [405] },
  { path: '/nowhere', method: 'GET', statuses: [404] },
  { path: `/${ECHO}/update`, body: json({ query_id: 'none', label: 1 }), statuses: [400, 404, 409] },
  { path: infer, body: json({ inputs: [] }), statuses: [400] },
  {
    path: infer,
    body: json({ inputs: [{ name: 'input', datatype: 'FP64', shape: [2, 2], data: [1, 2, 3] }] }),
    statuses: [400],
  },
  { path: '/v2/models/nobody/infer', body: json({ inputs: [] }), statuses: [404] },
];

export function badInputLane({ http, random, expect }: Exchange): Lane {
  return {
    name: 'bad input',
    queries: 1,
    share: 0.02,
    most: 4,
    async run() {
      const { statuses, ...call } = random.of(BAD_CALLS);
      const { status, text } = await http.call(call);
      const shown = `${call.method ?? 'POST'} ${call.path} ${String(call.body).slice(0, 80)}`;
      expect.refusal(`bad input ${shown}`, status, statuses, text.slice(0, 200));
    },
  };
}

/** Good inputs around a bad one, which alone fails. */
export function mixedBatchLane({ http, tokens, expect }: Exchange, violations: ViolationSink): Lane {
  return {
    name: 'mixed batch',
    queries: 3,
    share: 0.01,
    most: 2,
    async run() {
      const [first, last] = [tokens.take(), tokens.take()];
      const { status, text } = await http.call({
        path: predict,
        body: json({ input_batch: [[first], ['x'], [last]] }),
      });
      if (status !== 200) {
        expect.refusal('mixed batch', status, [], text);
        return;
      }
      const { batch_predictions: answers } = JSON.parse(text) as {
        batch_predictions: [SeenAnswer, { error?: object }, SeenAnswer];
      };
      expect.prediction('mixed batch', ECHO, first, answers[0]);
      expect.prediction('mixed batch', ECHO, last, answers[2]);
      if (answers[1].error === undefined) violations.add('a bad input was answered', text.slice(0, 300));
    },
  };
}

/** An input on which the kernel traps: the default for it, and nothing for those beside it. */
export function faultLane({ http }: Exchange, violations: ViolationSink): Lane {
  return {
    name: 'kernel fault',
    queries: 1,
    share: 0.002,
    most: 1,
    async run() {
      const { status, text } = await http.call({ path: `/${SCALE}/predict`, body: json({ input: [13, 0] }) });
      if (status !== 200 || !(JSON.parse(text) as SeenAnswer).default) {
        violations.add('a kernel fault was answered', `${status} ${text}`);
      }
    },
  };
}

/** Clients that ask and go away. */
export function abortLane({ http, tokens, random }: Exchange): Lane {
  return {
    name: 'abort',
    queries: 1,
    share: 0.02,
    most: 4,
    run: () => http.abort({ path: predict, body: json({ input: [tokens.take()] }) }, random.whole(0, 20)),
  };
}

/** A WebSocket that is cut with queries under way, some of which were cancelled before. */
export function cutWebSocketLane({ tokens, random }: Exchange, origin: string): Lane {
  return {
    name: 'cut websocket',
    queries: 8,
    share: 0.01,
    most: 1,
    async run() {
      const client = await WebSocketClient.connect(origin, { format: random.of(['binary', 'json']) });
      const cancelled = new AbortController();
      const calls = Array.from({ length: 8 }, (_, at) =>
        client.predict(ECHO, [tokens.take()], at % 2 === 0 ? { signal: cancelled.signal } : {}),
      );
      const all = Promise.allSettled(calls);
      cancelled.abort();
      await new Promise((resolve) => setTimeout(resolve, random.whole(0, 10)));
      await client.close();
      await all;
    },
  };
}

/** Bytes that are no HTTP, or none to the end: answered 4xx or cut, and no worse. */
export function malformedLane({ http, random }: Exchange, violations: ViolationSink): Lane {
  const head = `POST ${predict} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  const texts = [
    'NONSENSE\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `${head}Content-Length: 20\r\n\r\n{"input"`,
    `${head}Content-Length: -5\r\n\r\n`,
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${head}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    'GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    '',
  ];
  return {
    name: 'malformed',
    queries: 1,
    share: 0.005,
    most: 2,
    async run() {
      const garbage = Buffer.from(Array.from({ length: random.whole(1, 200) }, () => random.whole(0, 255)));
      const bytes = random.share() < 0.3 ? garbage : Buffer.from(random.of(texts));
      const answer = await http.raw(bytes, random.share() < 0.5);
      if (answer !== '' && !/^HTTP\/1\.1 (4\d\d|505)/.test(answer)) {
        violations.add('malformed bytes were answered', answer.slice(0, 200));
      }
    },
  };
}

/** Bytes that are no ZeroMQ, or none to the end, where containers dial in: the others go on. */
export function dialledGarbageLane({ random }: Exchange, containers: HttpPeer): Lane {
  const opening = Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3]);
  const greeting = Buffer.concat([opening, Buffer.from('\0NULL'), Buffer.alloc(48)]);
  return {
    name: 'garbage for containers',
    queries: 1,
    share: 0.002,
    most: 2,
    async run() {
      const garbage = Buffer.from(Array.from({ length: random.whole(1, 200) }, () => random.whole(0, 255)));
      const head = random.of([Buffer.alloc(0), opening, greeting]);
      await containers.raw(Buffer.concat([head, garbage]), random.share() < 0.5);
    },
  };
}
