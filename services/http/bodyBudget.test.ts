import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { BodyBudget } from './bodyBudget.js';
import { JsonServer, readJsonBody, sendError, sendJson } from './index.js';
import { GrowingBody } from './growingBody.js';

const KIB = 1024;

describe('BodyBudget', () => {
  const holder = (heardMs: number) => ({
    heardMs,
    evictions: 0,
    onEvicted() {
      this.evictions += 1;
    },
  });

  it('counts what holders have, refuses what has no room, and forgets what is released', () => {
    const budget = new BodyBudget(100);
    const [one, other] = [holder(Infinity), holder(Infinity)];
    expect(budget.hold(one, 40)).toBe(true);
    expect(budget.hold(one, 60)).toBe(true);
    expect(budget.hold(other, 41)).toBe(false);
    expect(budget.hold(other, 40)).toBe(true);
    expect(budget.counts()).toEqual({ bytes: 100, limitBytes: 100, refused: 1, evicted: 0 });
    budget.release(one);
    budget.release(one);
    expect(budget.counts().bytes).toBe(40);
    expect(budget.hold(other, 100)).toBe(true);
  });

  it('ends what has stalled for what comes, and nothing else', () => {
    const budget = new BodyBudget(100);
    const stalled = holder(performance.now() - 60_000);
    const alive = holder(performance.now());
    budget.hold(stalled, 50);
    budget.hold(alive, 50);
    expect(budget.hold(holder(performance.now()), 40)).toBe(true);
    expect([stalled.evictions, alive.evictions]).toEqual([1, 0]);
    expect(budget.hold(holder(performance.now()), 40)).toBe(false);
    expect(budget.counts()).toMatchObject({ bytes: 90, evicted: 1, refused: 1 });
  });
});

it('keeps a body of one-byte chunks in one buffer of at most twice its size', () => {
  const budget = new BodyBudget(1024 * KIB);
  const body = new GrowingBody(budget, undefined, () => undefined);
  for (let at = 0; at < 300 * KIB; at++) expect(body.add(Buffer.of(at & 255))).toBe(true);
  const bytes = body.take();
  expect(bytes?.length).toBe(300 * KIB);
  expect(bytes?.every((byte, at) => byte === (at & 255))).toBe(true);
  expect(budget.counts().bytes).toBeLessThanOrEqual(600 * KIB);
  body.release();
  expect(budget.counts().bytes).toBe(0);
});

describe('a server whose bodies share a budget', () => {
  let server: JsonServer | undefined;
  afterEach(() => server?.close(0));

  it('reads a small body that comes in pieces, and holds nothing for one that never ends', async () => {
    const budget = new BodyBudget(64 * KIB);
    const bodies: unknown[] = [];
    server = new JsonServer((request, response) => {
      readJsonBody(
        request,
        { bytes: KIB, budget },
        {
          onBody: (body) => {
            bodies.push(body);
            sendJson(response, 200, '{}');
          },
          onBodyError: (error) => sendError(response, error.code, error.message),
        },
      );
    });
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const answered = once(socket, 'data');
    for (const piece of [`${head}11\r\n\r\n{"a":[`, '1,', '2]}']) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await answered;
    socket.write(`${head}7\r\n\r\n{"a":1}${head}9\r\n\r\n`);
    await once(socket, 'data');
    expect(bodies).toEqual([{ a: [1, 2] }, { a: 1 }]);
    expect(budget.counts().bytes).toBe(0);
    socket.destroy();
  });

  it('refuses what has no room with 503, and has it all back when clients leave', async () => {
    const budget = new BodyBudget(200 * KIB);
    server = new JsonServer((request, response) => {
      readJsonBody(
        request,
        { bytes: 1024 * KIB, budget },
        {
          onBody: () => sendJson(response, 200, '{}'),
          onBodyError: (error) => sendError(response, error.code, error.message),
        },
      );
    });
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    const head = (bytes: number) =>
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
    const holding = connect(port, '127.0.0.1');
    // What is built counts, also of a string that has not ended.
    holding.write(`${head(150 * KIB)}["${'a'.repeat(140 * KIB)}`);
    while (budget.counts().bytes < 120 * KIB) await new Promise((resolve) => setImmediate(resolve));
    const body = JSON.stringify(['a'.repeat(150 * KIB)]);
    const send = () =>
      fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    const refused = await send();
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain('too_much_buffered');
    const closed = once(holding, 'close');
    holding.destroy();
    await closed;
    while (budget.counts().bytes > 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await send()).status).toBe(200);
    expect(budget.counts().bytes).toBe(0);
  });
});
