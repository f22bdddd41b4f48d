import { Queue } from 'bullmq';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyText } from '../access/index.js';
import { openFeedbackQueue } from '../feedbackQueue/index.js';
import type { EmbeddedServer } from '../main.js';
import { connectRedis, keyPrefix, openRedis, redisAddress, type RedisConnection } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { openRedisStore } from '../store/index.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { NodeProcess } from '../tests/nodeProcess.js';
import { launchChromium } from './tests/chromium.js';

const PREFIX = 'windjammer';
/** As long as a crowded machine may take. */
const PATIENCE = { timeout: 60_000 };
const ODD = '"<b>&amp;';

describe('a frontend of a cluster in a browser', () => {
  const admin = newKeyText();
  const complaints: string[] = [];
  let redis: RedisServer;
  let node: NodeProcess;
  let server: EmbeddedServer;
  let connection: RedisConnection;
  let queue: Queue;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    redis = await RedisServer.start();
    node = await NodeProcess.start('n1', ['--gpus', 'a100', '--join', redis.url]);
    const address = redisAddress(redis.url);
    const open = async () => {
      const made = openRedis(address, { name: 'test', kind: 'command', onError: () => undefined });
      await connectRedis(made, address);
      return made;
    };
    server = await startEmbedded({
      openSharedStore: () => openRedisStore({ address, prefix: PREFIX, complain: () => undefined }),
      openFeedbackQueue: () => openFeedbackQueue({ address, prefix: PREFIX }),
      cluster: { open, prefix: PREFIX },
      access: { required: true, adminKey: admin },
    });
    connection = await open();
    queue = new Queue('feedback', { connection, prefix: keyPrefix(PREFIX), skipVersionCheck: true });
    queue.on('error', () => undefined);
    for (const id of ['f-1', 'f-2', 'f-3', ODD]) await queue.add('feedback', { poison: id }, { jobId: id });
    browser = await launchChromium();
    page = await opened(server.managementAddress.port, admin);
    // The browser may have to be installed first.
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await queue?.close();
    connection?.disconnect();
    await server?.stop({ noticeMs: 0, graceMs: 0 });
    await node?.end('SIGKILL');
    await redis?.stop();
  });

  async function opened(port: number, key: string): Promise<Page> {
    const httpCredentials = { username: 'anna', password: key };
    const made = await (await browser.newContext({ httpCredentials })).newPage();
    made.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    made.on('pageerror', (error) => complaints.push(error.message));
    expect((await made.goto(`http://127.0.0.1:${port}/`))?.status()).toBe(200);
    await made.waitForSelector('#status[data-state=live]');
    return made;
  }

  const row = (id: string) =>
    page.locator('#failures tr').filter({ has: page.getByText(id, { exact: true }) });
  const rows = () => page.locator('#failures .actions').count();

  it('shows frontends and nodes, on the dashboard and to whoever manages', async () => {
    const dashboard = await opened(server.queryAddress.port, admin);
    for (const shown of [dashboard, page]) {
      const { port } = server.queryAddress;
      const frontend = shown.locator('#frontends tr');
      await expect.poll(() => frontend.locator('.state').textContent(), PATIENCE).toBe('places replicas');
      expect(await frontend.textContent()).toContain(`http://127.0.0.1:${port}`);
      const of = shown.locator('#nodes tr', { hasText: 'n1' });
      await of.locator('.state[data-state=up]').waitFor(PATIENCE);
      expect(await of.textContent()).toMatch(/alive.*a100/);
      await expect.poll(() => shown.textContent('#queue'), PATIENCE).toContain('4 failed');
    }
    node.signal('SIGSTOP');
    for (const shown of [dashboard, page]) {
      const of = shown.locator('#nodes tr', { hasText: 'n1' });
      await of.locator('.state[data-state=down]').waitFor(PATIENCE);
      await expect.poll(() => of.locator('.state').textContent(), PATIENCE).toMatch(/away/);
    }
    node.signal('SIGCONT');
    await page.locator('#nodes .state[data-state=up]').waitFor(PATIENCE);
    await dashboard.context().close();
  });

  it('lists feedback that has failed, shows one, tries it again, and drops one or all', async () => {
    await expect.poll(rows, PATIENCE).toBe(4);
    expect(await row(ODD).count()).toBe(1);
    await page.getByRole('button', { name: 'Show f-1' }).click();
    await expect.poll(() => page.textContent('#shown'), PATIENCE).toContain('"poison": "f-1"');
    await page.getByRole('button', { name: 'Drop f-2' }).click();
    await expect.poll(() => page.textContent('#done'), PATIENCE).toBe("Success! 'f-2' is dropped.");
    await expect.poll(rows, PATIENCE).toBe(3);
    expect(await queue.getJob('f-2')).toBeUndefined();
    await page.getByRole('button', { name: 'Retry f-3' }).click();
    await expect.poll(() => page.textContent('#done'), PATIENCE).toBe("Success! 'f-3' is tried again.");
    // It is poison, and fails again.
    await expect.poll(rows, PATIENCE).toBe(3);
    page.once('dialog', (dialog) => void dialog.dismiss());
    await page.click('#drop-all');
    expect(await rows()).toBe(3);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.click('#drop-all');
    await expect.poll(() => page.textContent('#failures'), PATIENCE).toContain('Nothing has failed.');
    expect(await queue.getFailedCount()).toBe(0);
  });

  it('says that Redis is away, and goes on when it is back', async () => {
    await redis.kill();
    await expect.poll(() => page.textContent('#status'), PATIENCE).toContain('Redis');
    await redis.run();
    await page.waitForSelector('#status[data-state=live]', PATIENCE);
  });

  it('is for whoever may administer, and complains about nothing', async () => {
    const base = `http://127.0.0.1:${server.managementAddress.port}`;
    expect((await fetch(base)).status).toBe(401);
    expect((await fetch(`${base}/dashboard/management.js`)).status).toBe(401);
    // What the browser itself notes of answers that are errors: the queue while Redis was away.
    expect(complaints.filter((text) => !/Failed to load resource/.test(text))).toEqual([]);
  });
});
