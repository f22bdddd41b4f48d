import { afterEach, describe, expect, it } from 'vitest';
import { FrontendHarness, type HttpAnswer } from './tests/harness.js';

const PAGE = 'https://page.example';
const OTHER = 'https://other.example';

let harness: FrontendHarness;
afterEach(() => harness.close());

async function start(...allowedOrigins: string[]): Promise<void> {
  harness = await FrontendHarness.start({ allowedOrigins });
}

function preflight(
  path: string,
  origin: string,
  headers = 'content-type,x-windjammer-strict',
): Promise<HttpAnswer> {
  return harness.send(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': headers,
    },
  });
}

/** The CORS headers of an answer, and what it varies by. */
function corsHeaders({ headers }: HttpAnswer): string[] {
  return Object.keys(headers)
    .filter((name) => name.startsWith('access-control-') || name === 'vary')
    .sort();
}

const ROUTES = [
  '/doubles/predict',
  '/nobody/predict',
  '/doubles/update',
  '/metrics',
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/v2',
  '/v2/models/doubles/infer',
  '/v2/repository/index',
  '/ws',
  '/nowhere',
];

describe('pages of other origins', () => {
  it.each(ROUTES)('may ask before they ask: %s', async (path) => {
    await start(PAGE, 'http://127.0.0.1:8080');
    const { status, headers, text } = await preflight(path, PAGE);
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, HEAD, POST',
      vary: 'origin',
    });
    const allowed = String(headers['access-control-allow-headers']).split(', ');
    for (const name of [
      'authorization',
      'content-type',
      'content-encoding',
      'grpc-timeout',
      'inference-header-content-length',
      'traceparent',
      'x-api-key',
      'x-request-timeout-ms',
      'x-windjammer-launch-class',
      'x-windjammer-priority',
      'x-windjammer-strict',
    ]) {
      expect(allowed).toContain(name);
    }
    expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0);
  });

  it.each(ROUTES)('may read what they are answered, errors too: %s', async (path) => {
    await start(PAGE);
    for (const method of ['GET', 'POST']) {
      const { headers } = await harness.send(path, { method, headers: { origin: PAGE } });
      expect(headers).toMatchObject({
        'access-control-allow-origin': PAGE,
        'access-control-allow-credentials': 'true',
      });
      expect(headers.vary).toMatch(/^origin/);
      expect(headers['access-control-expose-headers']).toContain('x-windjammer-default');
      expect(headers['access-control-expose-headers']).toContain('retry-after');
      expect(headers['access-control-expose-headers']).toContain('inference-header-content-length');
    }
  });

  it('that are not named are told so, and read nothing', async () => {
    await start(PAGE);
    const { status, json, headers } = await preflight('/doubles/predict', OTHER);
    expect([status, json]).toMatchObject([403, { error: { code: 'origin_not_allowed', field: 'Origin' } }]);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    for (const origin of [
      OTHER,
      'null',
      `${PAGE}.evil.example`,
      'https://PAGE.example',
      'http://page.example',
    ]) {
      // No page can send this without a preflight: whoever does is no page.
      const answer = await harness.predict('doubles', { input: [1] }, { origin });
      expect([answer.status, corsHeaders(answer)]).toEqual([200, ['vary']]);
    }
  });

  it('get answers that caches keep apart, without an origin too, and also large ones', async () => {
    await start(PAGE);
    const plain = await harness.predict('doubles', { input: [1] });
    expect([plain.headers.vary, corsHeaders(plain)]).toEqual(['origin', ['vary']]);
    harness.service.reply = () => ({ output: JSON.stringify('x'.repeat(20_000)) });
    const large = await harness.predict('doubles', { input: [1] }, { origin: PAGE });
    expect(large.headers.vary).toBe('origin, accept-encoding');
    expect(large.headers['access-control-allow-origin']).toBe(PAGE);
  });

  it('get no credentials by a wildcard', async () => {
    await start('*');
    for (const answer of [
      await preflight('/doubles/predict', OTHER),
      await harness.predict('doubles', { input: [1] }, { origin: OTHER }),
      await harness.predict('doubles', { input: [] }, { origin: 'null' }),
    ]) {
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      expect(answer.headers.vary).toBeUndefined();
    }
  });

  it('that are named keep their credentials beside a wildcard', async () => {
    await start('*', PAGE);
    const named = await harness.predict('doubles', { input: [1] }, { origin: PAGE });
    expect(named.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-credentials': 'true',
      vary: 'origin',
    });
    const any = await harness.predict('doubles', { input: [1] }, { origin: OTHER });
    expect(any.headers['access-control-allow-origin']).toBe('*');
    expect(any.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it.each(ROUTES)('get nothing unless they are allowed at the start: %s', async (path) => {
    await start();
    for (const answer of [
      await preflight(path, PAGE),
      await harness.send(path, { method: 'GET', headers: { origin: PAGE } }),
    ]) {
      expect(Object.keys(answer.headers).join()).not.toContain('access-control-');
      // A large answer varies by its coding.
      expect(answer.headers.vary ?? '').not.toContain('origin');
    }
  });

  it('get a 405 for OPTIONS that is no preflight', async () => {
    await start(PAGE);
    const answer = await harness.send('/doubles/predict', { method: 'OPTIONS', headers: { origin: PAGE } });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  });
});
