import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendError } from '../http/index.js';
import { Dashboard, managementPage } from './index.js';
import { pageAssets } from './pageAssets.js';
import { FakeSources } from './tests/fakeSources.js';

describe('the dashboard’s routes', () => {
  const sources = new FakeSources();
  const dashboard = new Dashboard(sources);
  let server: Server;
  let port: number;

  beforeAll(async () => {
    const app = express();
    app.use('/managed', managementPage());
    app.use(dashboard.router);
    app.use((_request, response) => sendError(response, 'unknown_route', 'no route has this path'));
    server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    dashboard.close();
    server.closeAllConnections();
    server.close();
  });

  /** The path goes out as it is written: a URL would tidy it up. */
  function open(
    path: string,
    method = 'GET',
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path, method, headers }, resolve);
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  async function get(path: string, method?: string, headers?: Record<string, string>) {
    const response = await open(path, method, headers);
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode, headers: response.headers, text };
  }

  it('serves a page that loads nothing from elsewhere and has nothing inline', async () => {
    const { status, headers, text } = await get('/');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:|https?:/i);
    const files = [...text.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path);
    expect(files).toContain('/dashboard/main.js');
    for (const file of files) expect((await get(file)).status, file).toBe(200);
  });

  it('serves every module that a module imports', async () => {
    const seen = new Set<string>();
    const next = ['/dashboard/main.js'];
    for (let path = next.pop(); path !== undefined; path = next.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const { status, headers, text } = await get(path);
      expect(status, path).toBe(200);
      expect(headers['content-type'], path).toBe('text/javascript; charset=utf-8');
      for (const [, name] of text.matchAll(/^import [^;]*?from '([^']+)'/gm)) {
        next.push(new URL(name, `http://x${path}`).pathname);
      }
    }
    expect(seen).toContain('/dashboard/uPlot.esm.js');
    expect(seen.size).toBeGreaterThan(10);
  });

  it('has another page for management, which loads nothing from elsewhere either', async () => {
    const { status, headers, text } = await get('/managed/');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:|https?:/i);
    const files = [...text.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path);
    expect(files).toContain('/dashboard/management.js');
    for (const file of files) expect((await get(`/managed${file}`)).status, file).toBe(200);
    expect((await get('/managed/dashboard/feed')).status).toBe(404);
  });

  it.each(['/', '/dashboard/style.css', '/dashboard/main.js', '/dashboard/icon.svg', '/dashboard/feed'])(
    'guards %s with a strict policy',
    async (path) => {
      const { headers } = await get(path, 'HEAD');
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    },
  );

  it.each([
    '/index.html',
    '/dashboard',
    '/dashboard/',
    '/dashboard/index.html',
    '/dashboard/main.js.map',
    '/dashboard/main.ts',
    '/Dashboard/main.js',
    '/dashboard/main.js/',
    '/dashboard/../package.json',
    '/dashboard/%2e%2e/package.json',
    '/dashboard/..%2fpackage.json',
    '/dashboard/__proto__',
    '/dashboard/constructor',
    '/dashboard/feed/x',
    '/favicon.ico',
  ])('has no %s', async (path) => {
    const { status, text } = await get(path);
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'unknown_route' } });
  });

  it.each(['/', '/dashboard/main.js', '/dashboard/feed'])('takes nothing but GET on %s', async (path) => {
    const { status, headers } = await get(path, 'POST');
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, HEAD');
  });

  it('sends a file once', async () => {
    const { etag } = (await get('/dashboard/style.css')).headers;
    const again = await get('/dashboard/style.css', 'GET', { 'if-none-match': String(etag) });
    expect([again.status, again.text]).toEqual([304, '']);
    const other = await get('/dashboard/style.css', 'GET', { 'if-none-match': '"other"' });
    expect(other.status).toBe(200);
  });

  it('is small: 90 kB at most, packed as browsers ask for it', async () => {
    let bytes = 0;
    for (const path of pageAssets().keys()) {
      const response = await open(path, 'GET', { 'accept-encoding': 'br, gzip' });
      expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const packed = Buffer.concat(chunks);
      bytes += packed.length;
      expect(gunzipSync(packed).toString()).toBe((await get(path)).text);
    }
    expect(bytes).toBeLessThan(90_000);
  });

  it('streams frames from the first moment, and ends them when it closes', async () => {
    const head = await get('/dashboard/feed', 'HEAD');
    expect(head.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(sources.areSmsWatched).toBe(false);
    const response = await open('/dashboard/feed');
    expect(response.headers['cache-control']).toBe('no-store');
    let text = '';
    for await (const chunk of response) {
      text += String(chunk);
      if (text.includes('"atMs"')) dashboard.close();
    }
    expect(text).toMatch(
      /^retry: \d+\n\nevent: history\ndata: .*\n\nevent: message\ndata: \{"atMs":1000000,/,
    );
    const late = await get('/dashboard/feed');
    expect(late.status).toBe(503);
    expect(JSON.parse(late.text)).toMatchObject({ error: { code: 'feed_unavailable' } });
  });
});
