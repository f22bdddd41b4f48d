import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FrontendHarness } from './tests/harness.js';

const LIMIT_BYTES = 1024 * 1024;

describe('content codings of bodies and answers', () => {
  let harness: FrontendHarness;
  beforeAll(async () => {
    harness = await FrontendHarness.start({ maxBodyBytes: LIMIT_BYTES });
  });
  afterAll(() => harness.close());

  const send = (body: Buffer, coding: string, headers: Record<string, string> = {}) =>
    harness.send('/doubles/predict', { body, headers: { 'content-encoding': coding, ...headers } });
  const codeOf = (answer: { readonly json: unknown }) =>
    (answer.json as { error: { code: string } }).error.code;

  const text = Buffer.from(JSON.stringify({ input: [1, 2.5, -3] }));
  const codings = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (body: Buffer) => body],
  ] as const;

  it.each(codings)('takes %s as it takes the plain body', async (coding, encode) => {
    const plain = await harness.predict('doubles', { input: [1, 2.5, -3] });
    const answer = await send(encode(text), coding);
    expect(answer.status).toBe(200);
    expect((answer.json as { output: unknown }).output).toEqual((plain.json as { output: unknown }).output);
  });

  it('takes a gzip body of two members', async () => {
    const half = text.length >> 1;
    const members = [gzipSync(text.subarray(0, half)), gzipSync(text.subarray(half))];
    expect((await send(Buffer.concat(members), 'gzip')).status).toBe(200);
  });

  it('stops bombs at the limit, and keeps the connection', async () => {
    const bomb = Buffer.alloc(8 * LIMIT_BYTES, ' ');
    for (const [coding, encode] of codings.filter(([name]) => ['gzip', 'deflate', 'br'].includes(name))) {
      const encoded = encode(bomb);
      expect(encoded.length).toBeLessThan(LIMIT_BYTES);
      const answer = await send(encoded, coding);
      expect([answer.status, codeOf(answer)]).toEqual([413, 'body_too_large']);
      const next = await send(gzipSync(text), 'gzip');
      expect([next.status, next.localPort]).toEqual([200, answer.localPort]);
    }
  });

  it('holds the limit to the byte', async () => {
    const exact = Buffer.concat([text, Buffer.alloc(LIMIT_BYTES - text.length, ' ')]);
    expect((await send(gzipSync(exact), 'gzip')).status).toBe(200);
    expect((await send(gzipSync(Buffer.concat([exact, Buffer.from(' ')])), 'gzip')).status).toBe(413);
  });

  it('refuses damaged data by name', async () => {
    const gzipped = gzipSync(text);
    const flipped = Buffer.from(gzipped);
    flipped[flipped.length - 6] ^= 1;
    const bad: readonly (readonly [string, Buffer])[] = [
      ['gzip', gzipped.subarray(0, -3)],
      ['gzip', flipped],
      ['gzip', Buffer.concat([gzipped, Buffer.from('more')])],
      ['gzip', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['deflate', Buffer.concat([deflateSync(text), Buffer.from('more')])],
      ['br', Buffer.concat([brotliCompressSync(text), Buffer.from('more')])],
      ['br', brotliCompressSync(text).subarray(0, -2)],
      ['br', text],
    ];
    for (const [coding, body] of bad) {
      const answer = await send(body, coding);
      expect([answer.status, codeOf(answer)], `${coding} ${body.toString('hex')}`).toEqual([
        400,
        'malformed_encoding',
      ]);
    }
    expect(codeOf(await send(gzipSync(''), 'gzip'))).toBe('not_json');
    expect(codeOf(await send(Buffer.alloc(0), 'gzip'))).toBe('not_json');
  });

  it('compresses large answers for those who ask, and no small ones', async () => {
    const large = { input_batch: Array.from({ length: 400 }, (_, index) => [index]) };
    const plain = await harness.predict('doubles', large);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toBe('accept-encoding');
    for (const refusing of ['br', 'gzip;q=0', 'gzip; q=0.0, *', 'identity']) {
      const answer = await harness.predict('doubles', large, { 'accept-encoding': refusing });
      expect(answer.headers['content-encoding'], refusing).toBeUndefined();
    }
    for (const asking of ['gzip', 'br, GZIP;q=0.5', '*', 'deflate, x-gzip']) {
      const response = await fetch(`http://127.0.0.1:${harness.address.port}/doubles/predict`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'accept-encoding': asking },
        body: JSON.stringify(large),
      });
      expect(response.headers.get('content-encoding'), asking).toBe('gzip');
      const answer = (await response.json()) as { batch_predictions: unknown[] };
      expect(answer.batch_predictions).toHaveLength(400);
    }
    const small = await harness.predict('doubles', { input: [1] }, { 'accept-encoding': 'gzip' });
    expect(small.headers['content-encoding']).toBeUndefined();
    const head = await harness.send('/openapi.json', {
      method: 'HEAD',
      headers: { 'accept-encoding': 'gzip' },
    });
    expect([head.status, head.text]).toEqual([200, '']);
  });
});
