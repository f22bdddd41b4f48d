import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Dashboard, managementPage } from './index.js';
import { launchChromium } from './tests/chromium.js';
import { overlaps, poorContrasts, unreadable } from './tests/looks.js';
import { PlayedFeed } from './tests/playedFeed.js';

/** Where pictures of every width and scheme go; none are taken unless it says so. */
const PICTURES = process.env['WINDJAMMER_PICTURES'];

const WIDTHS = [360, 768, 1440];
const SCHEMES = ['light', 'dark'] as const;
const PATIENCE = { timeout: 60_000 };

describe('the dashboard, as it looks', () => {
  let feed: PlayedFeed;
  let dashboard: Dashboard;
  let server: Server;
  let browser: Browser;
  let base: string;
  /** What the feed answers. */
  let events: string;
  let asked = 0;

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    feed = await PlayedFeed.make();
    events = feed.whole();
    vi.useRealTimers();
    const app = express();
    dashboard = new Dashboard(feed.sources);
    app.use('/managed', managementPage());
    app.use(dashboard.router);
    server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium();
    // The browser may have to be installed first.
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    dashboard?.close();
    feed?.close();
    server?.closeAllConnections();
    server?.close();
  });

  async function opened(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
    const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB', ...options });
    const page = await context.newPage();
    await page.route('**/dashboard/feed', (route) => {
      asked += 1;
      // It ends at once, and the page asks again after so long.
      const body = `retry: 600000\n\n${events}`;
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await page.goto(base);
    await page.waitForSelector('#changes .mark', PATIENCE);
    await page.waitForSelector('#jobs-body tr', PATIENCE);
    return page;
  }

  async function looksWell(page: Page, width: number): Promise<void> {
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
    expect(await page.evaluate(overlaps)).toEqual([]);
    expect(await page.evaluate(unreadable)).toEqual([]);
    expect(await page.evaluate(poorContrasts)).toEqual([]);
  }

  it.each(WIDTHS.flatMap((width) => SCHEMES.map((scheme) => [width, scheme] as const)))(
    'fits %d pixels, %s',
    async (width, colorScheme) => {
      const page = await opened({ colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' });
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true });
        const path = join(PICTURES, `dashboard-${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: true });
      }
      await looksWell(page, width);
      await page.context().close();
    },
    60_000,
  );

  it.each(WIDTHS.flatMap((width) => SCHEMES.map((scheme) => [width, scheme] as const)))(
    'fits %d pixels, %s, for whoever manages',
    async (width, colorScheme) => {
      const page = await (
        await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
      ).newPage();
      await page.route('**/admin/*', (route) => {
        const answer = ANSWERS[new URL(route.request().url()).pathname];
        return route.fulfill({ contentType: 'application/json', body: JSON.stringify(answer) });
      });
      await page.goto(`${base}/managed/`);
      await page.waitForSelector('#failures .actions', PATIENCE);
      await page.waitForSelector('#nodes .state', PATIENCE);
      if (PICTURES !== undefined) {
        await page.screenshot({
          path: join(PICTURES, `management-${width}-${colorScheme}.png`),
          fullPage: true,
        });
      }
      await looksWell(page, width);
      await page.context().close();
    },
    60_000,
  );

  it('shows what happened before it was opened, in charts and in words', async () => {
    const page = await opened({ viewport: { width: 1440, height: 900 } });
    for (const id of ['rates', 'latency', 'defaults', 'application-latency', 'model-latency', 'weights']) {
      expect(await page.getAttribute(`#chart-${id}`, 'data-points')).toBe('300');
    }
    const label = (id: string) => page.locator(`#chart-${id} [role=img]`).getAttribute('aria-label');
    expect(await label('defaults')).toMatch(/by reason, 13:00:0\d to 13:10:00: not in time .*; overload /);
    expect(await label('rates')).toMatch(/predicted .*; default output /);
    await page.selectOption('#rates-by', 'application');
    await expect.poll(() => label('rates'), PATIENCE).toMatch(/digits .*; night-batches 4, between 4 and 4/);
    expect(await label('model-latency')).toContain('digits-mlp v1');
    const models = await label('model-latency');
    await page.selectOption('#model-percentile', 'P50');
    await expect.poll(() => label('model-latency'), PATIENCE).not.toBe(models);
    expect(await page.locator('#changes li').allTextContents()).toContainEqual(
      expect.stringMatching(/13:05:0\d.*rolled back.*digits-mlp version 2 → 1/),
    );
    const lane = page.locator('.lane', { hasText: 'node0/0' });
    expect(await lane.locator('canvas').getAttribute('aria-label')).toMatch(
      /node0\/0: busy .* launches a second.* 2\d killed, to run again/,
    );
    expect(await page.textContent('#jobs-body')).toContain('2400 of 10.0\u00a0k (24\u00a0%)');
    expect(await page.textContent('#queue')).toContain('4 failed');
    expect(await page.textContent('#own')).toContain('of this frontend, frontend-a');
    await page.context().close();
  });

  it('shows another part of the time by keys and by pointer', async () => {
    const page = await opened({ viewport: { width: 1440, height: 900 } });
    const shown = () => page.textContent('#time-shown');
    const whole = await shown();
    expect(whole).toBe('13:00:00 to 13:10:00');
    const becomes = (text: string) => expect.poll(shown, PATIENCE).toBe(text);
    await page.focus('#lanes');
    await page.keyboard.press('+');
    await becomes('13:05:00 to 13:10:00');
    await page.keyboard.press('ArrowLeft');
    await becomes('13:03:45 to 13:08:45');
    await page.keyboard.press('Home');
    await becomes('13:00:00 to 13:05:00');
    await page.keyboard.press('0');
    await becomes('13:00:00 to 13:10:00');
    await page.click('#zoom-in');
    await page.click('#zoom-in');
    await becomes('13:07:30 to 13:10:00');
    await page.click('#whole');
    await becomes('13:00:00 to 13:10:00');
    const over = page.locator('#chart-rates .u-over');
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (box === null) throw new Error('the chart is not shown');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(shown, PATIENCE).toMatch(/^13:02:[23]\d to 13:07:[23]\d$/);
    await page.mouse.dblclick(box.x + box.width / 2, y);
    await becomes('13:00:00 to 13:10:00');
    const lanes = page.locator('#lanes');
    await lanes.scrollIntoViewIfNeeded();
    await lanes.hover();
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Shift');
    await expect.poll(shown, PATIENCE).not.toBe(whole);
    await page.context().close();
  });

  it('can be walked through by the keyboard alone: all is reached, the focus shows, and nothing holds it', async () => {
    const page = await opened({ viewport: { width: 1440, height: 900 } });
    const all = await page.evaluate<number>(
      `[...document.querySelectorAll('a[href], button, select, input, [tabindex="0"]')]
        .filter((each) => !each.disabled && !each.closest('fieldset:disabled') && each.checkVisibility()).length`,
    );
    const seen = new Set<string>();
    for (let step = 0; step < all; step++) {
      await page.keyboard.press('Tab');
      const [name, outline] = await page.evaluate<[string, string]>(
        `[document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.className,
          getComputedStyle(document.activeElement).outlineStyle]`,
      );
      expect([name, outline]).toEqual([name, 'solid']);
      seen.add(name);
    }
    expect(seen.size).toBe(all);
    await page.keyboard.press('Tab');
    // Out of the page, or around to its beginning.
    expect(
      await page.evaluate<string>('document.activeElement.className || document.activeElement.tagName'),
    ).toMatch(/^(skip|BODY)$/);
    await page.context().close();
  });

  it('asks for nothing while nobody sees it, and is up to date when somebody does', async () => {
    const page = await opened({ viewport: { width: 800, height: 600 } });
    const before = asked;
    const see = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, value: ${String(state === 'hidden')} });
         document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await see('hidden');
    expect(await page.getAttribute('#status', 'data-state')).toBe('connecting');
    await see('visible');
    await expect.poll(() => asked, PATIENCE).toBe(before + 1);
    await page.context().close();
  });

  it('keeps its memory flat, however long it is open', async () => {
    const page = await opened({ viewport: { width: 1440, height: 900 } });
    const session = await page.context().newCDPSession(page);
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage');
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let hours = '';
    for (let k = 0; k < POINTS_FED; k++) hours += await feed.next();
    vi.useRealTimers();
    events = `${feed.whole()}${hours}`;
    const feedAgain = async (): Promise<void> => {
      const before = asked;
      await page.click('#pause');
      await page.click('#pause');
      await expect.poll(() => asked, PATIENCE).toBe(before + 1);
      await expect.poll(() => page.getAttribute('#status', 'data-state'), PATIENCE).toBe('connecting');
      await page.focus('#lanes');
      // Each is a picture of everything.
      for (const key of ['+', 'ArrowLeft', 'Home', '-', '0']) {
        await page.keyboard.press(key);
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
      }
    };
    for (let round = 0; round < 3; round++) await feedAgain();
    const early = await heap();
    for (let round = 0; round < ROUNDS; round++) await feedAgain();
    const late = await heap();
    expect(late / early).toBeLessThan(1.15);
    if (PICTURES !== undefined) {
      const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(2);
      console.info(
        `heap: ${mib(early)} MiB after ${3 * POINTS_FED} points, ${mib(late)} MiB after ${(3 + ROUNDS) * POINTS_FED}`,
      );
    }
    await page.context().close();
  }, 300_000);
});

/** Of each round of feeding: more than ten minutes of them. 108 rounds are a day. */
const POINTS_FED = 400;
const ROUNDS = Number(process.env['WINDJAMMER_ROUNDS'] ?? 6);

/** Of the verbs that the page of the management interface calls. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/admin/cluster_status': {
    frontends: [
      {
        name: 'frontend-a',
        query: 'http://10.0.0.1:1337',
        management: 'http://10.0.0.1:1338',
        alive: true,
        placing: true,
        last_word_seconds: 0.2,
      },
    ],
    nodes: [
      {
        name: 'node0',
        address: '10.0.1.1:1340',
        gpus: ['h200', 'a100'],
        alive: true,
        connected: false,
        problem: 'its key is another one',
        cordoned: false,
        replicas: 2,
        last_word_seconds: 0.4,
      },
    ],
  },
  '/admin/list_feedback': {
    queued: true,
    counts: { waiting: 3, active: 1, delayed: 2, failed: 2 },
    feedback: ['f-1', 'a-long-id-without-a-place-to-break-0123456789abcdef'].map((id) => ({
      id,
      state: 'failed',
      app_name: 'digits',
      uid: 'user-42',
      attempts: 3,
      accepted_at: '2026-11-28T13:00:00.000Z',
      reason: 'the model digits-mlp failed on its input: 784 numbers are asked for, and it has 10',
    })),
  },
};
