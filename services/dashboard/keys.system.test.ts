import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyText } from '../access/index.js';
import { WindjammerClient } from '../client/index.js';
import type { EmbeddedServer } from '../main.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { launchChromium } from './tests/chromium.js';

/** In the browser: opens a WebSocket with these subprotocols; the one that was chosen, then what a prediction answers. */
const ASK = `(protocols) => new Promise((resolve, reject) => {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws', protocols);
  socket.onerror = () => reject(new Error('no WebSocket'));
  socket.onopen = () => socket.send(JSON.stringify({ type: 'predict', id: 1, application: 'noop', input: [1] }));
  socket.onmessage = ({ data }) => resolve([socket.protocol, JSON.parse(data).type]);
})`;

describe('the dashboard in a browser, where keys are required', () => {
  const admin = newKeyText();
  let server: EmbeddedServer;
  let browser: Browser;
  let base: string;
  let client: WindjammerClient;

  beforeAll(async () => {
    server = await startEmbedded({
      withDefaults: true,
      access: { required: true, adminKey: admin },
    });
    base = `http://127.0.0.1:${server.queryAddress.port}`;
    client = new WindjammerClient({
      managementUrl: `http://127.0.0.1:${server.managementAddress.port}`,
      apiKey: admin,
    });
    browser = await launchChromium();
    // The browser may have to be installed first.
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await server?.stop({ noticeMs: 0, graceMs: 0 });
  });

  async function opened(key: string): Promise<Page> {
    const httpCredentials = { username: 'anna', password: key };
    const page = await (await browser.newContext({ httpCredentials })).newPage();
    expect((await page.goto(base))?.status()).toBe(200);
    return page;
  }

  it('is shown to nobody without a key: the browser asks for it', async () => {
    const page = await (await browser.newContext()).newPage();
    // What a dialogue that nobody answers looks like from here.
    await expect(page.goto(base)).rejects.toThrow('ERR_INVALID_AUTH_CREDENTIALS');
    await expect(opened(newKeyText())).rejects.toThrow('expected 401 to be 200');
    await page.context().close();
  });

  it('is live with a key as the password, until the key is removed', async () => {
    const { key, id } = await client.management.addKey({ name: 'anna', scopes: ['metrics'] });
    const page = await opened(key);
    await page.waitForSelector('#status[data-state=live]');
    await client.management.deleteKey(id);
    await page.waitForSelector('#status[data-state=connecting]');
    await page.context().close();
  });

  it('lets a page open a WebSocket with a key among its subprotocols, and with no other', async () => {
    const { key } = await client.management.addKey({ name: 'page', scopes: ['predict'] });
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${base}/healthz`);
    expect(await other.evaluate(`(${ASK})(['windjammer', '${key}'])`)).toEqual(['windjammer', 'prediction']);
    await expect(other.evaluate(`(${ASK})(['windjammer'])`)).rejects.toThrow('no WebSocket');
    await expect(other.evaluate(`(${ASK})(['windjammer', '${newKeyText()}'])`)).rejects.toThrow(
      'no WebSocket',
    );
    await other.context().close();
  });
});
