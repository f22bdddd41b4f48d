import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FrontendHarness } from './tests/harness.js';

let harness: FrontendHarness;
afterEach(() => harness.close());

const codeOf = (answer: { readonly json: unknown }) =>
  (answer.json as { error: { code: string } }).error.code;

/** Sends bytes, and after the first answer `more`; resolves with all that came until the connection closed. */
function exchange(bytes: string, more = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(harness.address.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (part) => {
      if (text === '' && more !== '') socket.write(more);
      text += part.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

const head = (path: string, length: number, connection = 'close') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n` +
  `Connection: ${connection}\r\nContent-Length: ${length}\r\n\r\n`;

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));

describe('limits of the query interface', () => {
  // Reported of other servers: a limit nobody knows, an option without effect, a connection reset.
  it.each([1024, 5000])('takes a body of exactly %i bytes and refuses one more with 413', async (limit) => {
    harness = await FrontendHarness.start({ maxBodyBytes: limit });
    const body = (bytes: number) => {
      const text = JSON.stringify({ input_batch: Array.from({ length: 100 }, () => [1]) });
      return text + ' '.repeat(bytes - text.length);
    };
    const framings: readonly Readonly<Record<string, string>>[] = [{}, { 'transfer-encoding': 'chunked' }];
    for (const headers of framings) {
      const fits = await harness.send('/doubles/predict', { body: body(limit), headers });
      expect(fits.status).toBe(200);
      const over = await harness.send('/doubles/predict', { body: body(limit + 1), headers });
      expect([over.status, codeOf(over)]).toEqual([413, 'body_too_large']);
      expect((over.json as { error: { message: string } }).error.message).toContain(String(limit));
      expect(over.localPort).toBe(fits.localPort);
    }
  });

  it('answers unknown applications and wrong verbs, and keeps the connection', async () => {
    harness = await FrontendHarness.start();
    const first = await harness.predict('doubles', { input: [1] });
    const unknown = await harness.predict('nobody', { input: [1] });
    const verb = await harness.send('/doubles/guess', { body: '{}' });
    const method = await harness.send('/doubles/predict', { method: 'GET' });
    const last = await harness.predict('doubles', { input: [1] });
    const answers = [first, unknown, verb, method, last];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 405, 200]);
    expect(method.headers.allow).toBe('POST');
    expect(new Set(answers.map(({ localPort }) => localPort)).size).toBe(1);
  });
});

describe('Expect: 100-continue', () => {
  it.each([
    ['a body over the limit', '/doubles/predict', 10_000_000_000, 413],
    ['an unknown application', '/nobody/predict', 20, 404],
    ['an unknown route', '/doubles/guess', 20, 404],
  ])('does not ask for %s, and ends the connection', async (_what, path, length, status) => {
    harness = await FrontendHarness.start({ maxBodyBytes: 1024 });
    expect(statuses(await exchange(head(path, length, 'keep-alive')))).toEqual([status]);
  });

  it('asks for a body that it wants, and keeps the connection for the next request', async () => {
    harness = await FrontendHarness.start();
    const body = '{"input":[1]}';
    const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const text = await exchange(head('/doubles/predict', body.length, 'keep-alive'), body + next);
    expect(statuses(text)).toEqual([100, 200, 200]);
    expect(text).toContain('"query_id"');
  });

  it('takes a body that comes unasked', async () => {
    harness = await FrontendHarness.start();
    const body = '{"input":[1]}';
    expect(statuses(await exchange(head('/doubles/predict', body.length) + body))).toEqual([100, 200]);
  });
});
