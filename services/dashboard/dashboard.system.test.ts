import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digitAt, loadDigits } from '../../containers/models/index.js';
import { WindjammerClient } from '../client/index.js';
import type { EmbeddedServer } from '../main.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { launchChromium } from './tests/chromium.js';

/** Names that a careless page would take for something else. */
const ODD = 'constructor';
const ODDER = 'a..-__b.toString';
/** An application whose objective no busy machine misses. */
const PATIENT = 'patient';

/** As long as a crowded machine may take. */
const PATIENCE = { timeout: 60_000 };

/** In the browser: whether each chart has anything drawn. */
const INKED = `[...document.querySelectorAll('.plot canvas')].map((canvas) =>
  canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean))`;

const LINKED = ['digits-logistic', 'digits-mlp'];

describe('the dashboard in a browser', () => {
  let server: EmbeddedServer;
  let browser: Browser;
  let base: string;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    server = await startEmbedded({
      withDefaults: true,
      complain: (message) => complaints.push(`server: ${message}`),
    });
    base = `http://127.0.0.1:${server.queryAddress.port}`;
    await register(server);
    browser = await launchChromium();
    page = await opened({ viewport: { width: 1280, height: 900 } });
    // The browser may have to be installed first.
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await server?.stop({ noticeMs: 0, graceMs: 0 });
  });

  async function opened(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
    const context = await browser.newContext(options);
    const made = await context.newPage();
    made.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    made.on('pageerror', (error) => complaints.push(error.message));
    made.on('requestfailed', (request) => {
      // A feed that is paused or left is a request that was aborted.
      if (!request.url().endsWith('/feed')) complaints.push(`failed: ${request.url()}`);
    });
    const response = await made.goto(base);
    expect(response?.status()).toBe(200);
    await made.waitForSelector('#status[data-state=live]');
    return made;
  }

  /** Draws with the mouse, by shares of the pad's side. */
  async function draw(points: readonly (readonly [number, number])[]): Promise<void> {
    const pad = page.locator('#pad');
    await pad.scrollIntoViewIfNeeded();
    const box = await pad.boundingBox();
    if (box === null) throw new Error('the pad is not shown');
    const [first, ...rest] = points.map(([x, y]) => [box.x + x * box.width, box.y + y * box.height] as const);
    await page.mouse.move(...first);
    await page.mouse.down();
    for (const point of rest) await page.mouse.move(...point, { steps: 8 });
    await page.mouse.up();
  }

  const text = async (selector: string): Promise<string> => (await page.textContent(selector)) ?? '';

  it('lists applications and models, odd names too', async () => {
    for (const name of ['digits', 'noop', PATIENT, ODD]) {
      await page.locator('#applications td', { hasText: new RegExp(`^${name}$`) }).waitFor();
    }
    const row = page.locator('#models tr', { hasText: ODDER });
    await row.locator('.state[data-state=up]').waitFor();
    expect(await page.locator('#draw-application option').allTextContents()).toEqual(['digits', PATIENT]);
  });

  it('answers a drawn 1, with the vote of each linked model', async () => {
    await page.selectOption('#draw-application', PATIENT);
    expect(await page.locator('#truth-buttons button').first().isDisabled()).toBe(true);
    await draw([
      [0.53, 0.15],
      [0.47, 0.85],
    ]);
    await page.waitForSelector('#votes .vote');
    expect(await text('#verdict output')).toBe('1');
    expect(await text('#verdict')).toContain('Confidence 100');
    const votes = page.locator('#votes .vote');
    expect(await votes.locator('.name').allTextContents()).toEqual(LINKED.map((name) => `${name} v1`));
    expect(await votes.locator('.mine').allTextContents()).toEqual(['1', '1']);
    expect(await votes.locator('.score').count()).toBe(20);
    expect(await votes.locator('.score.top').allTextContents()).toEqual(['1', '1']);
  });

  it('learns from what it is told, and shows the weights move', async () => {
    const before = await shares();
    await page.click('#truth-buttons button:nth-child(8)');
    await expect.poll(() => text('#learned'), PATIENCE).toContain('→');
    expect(await shares()).not.toEqual(before);
    expect(await page.inputValue('#weights-application')).toBe(PATIENT);
    expect(await page.locator('#truth-buttons button').first().isDisabled()).toBe(true);
    await expect.poll(() => page.locator('#chart-weights .key').allTextContents(), PATIENCE).toEqual(LINKED);
  });

  async function shares(): Promise<string> {
    return (await page.locator('#applications tr', { hasText: PATIENT }).textContent()) ?? '';
  }

  it('can be drawn on with the keyboard alone', async () => {
    await page.click('#clear');
    await expect.poll(() => page.locator('#votes .vote').count(), PATIENCE).toBe(0);
    await page.focus('#pad');
    await page.keyboard.press('Space');
    for (let step = 0; step < 14; step++) await page.keyboard.press('ArrowDown');
    expect(await page.getAttribute('#pad', 'aria-label')).toMatch(
      /pen down, 50 % from the left, 75 % from the top/,
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector('#votes .vote');
    expect(await text('#verdict output')).toBe('1');
  });

  it('draws charts and the activity of 132 SMs under load', async () => {
    const load = new Load(base);
    try {
      const active = () => page.getAttribute('.sms', 'data-active');
      await expect.poll(async () => Number(await active()), PATIENCE).toBeGreaterThan(0);
      expect(await page.locator('.sms .sm').count()).toBe(132);
      const hottest = async () => {
        const cells = await page.locator('.sms .sm').all();
        const styles = await Promise.all(cells.map((cell) => cell.getAttribute('style')));
        return Math.max(...styles.map((style) => Number(/--heat: ([\d.]+)/.exec(style ?? '')?.[1])));
      };
      await expect.poll(hottest, PATIENCE).toBeGreaterThan(0);
      const charts = ['rates', 'latency', 'defaults', 'application-latency', 'model-latency'];
      for (const name of [...charts, 'batches', 'queues', 'cache', 'weights']) {
        const chart = page.locator(`#chart-${name}`);
        await expect
          .poll(async () => Number(await chart.getAttribute('data-points')), PATIENCE)
          .toBeGreaterThanOrEqual(4);
      }
      await expect.poll(() => text('#tile-rate'), PATIENCE).toMatch(/[1-9]/);
      expect(await page.evaluate<boolean[]>(INKED)).toEqual(new Array(9).fill(true));
      const lane = page.locator('.lane canvas').first();
      await expect
        .poll(() => lane.getAttribute('aria-label'), PATIENCE)
        .toMatch(/[1-9]\d* launches a second/);
    } finally {
      await load.end();
    }
  });

  it('shows a page that is opened late what this one shows, and tells what has changed', async () => {
    const managementUrl = `http://127.0.0.1:${server.managementAddress.port}`;
    const { management } = new WindjammerClient({ managementUrl });
    await management.setReplicas({ model_name: 'digits-mlp', model_version: '1', num_replicas: 2 });
    const change = /scaled.*digits-mlp version 1: replicas 1 → 2/;
    const late = await opened({ viewport: { width: 1280, height: 900 } });
    for (const shown of [page, late]) {
      await expect.poll(() => shown.textContent('#changes'), PATIENCE).toMatch(change);
    }
    await late.selectOption('#weights-application', PATIENT);
    const summary = (of: Page, chart: string) =>
      of.locator(`#chart-${chart} [role=img]`).getAttribute('aria-label');
    for (const chart of ['rates', 'latency', 'application-latency', 'model-latency', 'batches', 'weights']) {
      const both = async () => [await summary(page, chart), await summary(late, chart)];
      // One of them may just have got its next point.
      await expect.poll(async () => new Set(await both()).size, PATIENCE).toBe(1);
      expect((await both())[1]).toMatch(/between/);
    }
    await late.context().close();
  });

  it('rests while it is paused', async () => {
    await page.click('#pause');
    await page.waitForSelector('#status[data-state=paused]');
    await page.click('#pause');
    await page.waitForSelector('#status[data-state=live]');
  });

  it.each(['light', 'dark'] as const)('fits a window of 360 pixels, %s', async (colorScheme) => {
    const narrow = await opened({
      colorScheme,
      viewport: { width: 360, height: 800 },
      hasTouch: true,
      reducedMotion: 'reduce',
    });
    await narrow.waitForSelector('.sms .sm');
    await narrow.locator('#pad').scrollIntoViewIfNeeded();
    expect(await narrow.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const background = await narrow.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(16, 21, 27)' : 'rgb(243, 245, 248)');
    await narrow.context().close();
  });

  it('complains about nothing, and does not hold up a drain', async () => {
    expect(complaints).toEqual([]);
    // Longer than the test may take: only a feed that is ended lets the server stop in time.
    await server.stop({ noticeMs: 0, graceMs: 600_000 });
    await page.waitForSelector('#status[data-state=connecting]');
  });
});

async function register({ registry }: EmbeddedServer): Promise<void> {
  const application = { inputType: 'floats', defaultOutput: '-1', latencyObjectiveUs: 60_000_000 } as const;
  await registry.addApplication({ ...application, name: PATIENT, policy: { name: 'exp3', parameters: {} } });
  await registry.addLinks(PATIENT, LINKED);
  await registry.addApplication({ ...application, name: ODD, policy: { name: 'static', parameters: {} } });
  await registry.addModel({
    name: ODDER,
    version: '1',
    inputType: 'floats',
    labels: [],
    container: { kind: 'constant', output: '"<b>&amp;' },
    batching: { strategy: 'aimd' },
  });
  await registry.addLinks(ODD, [ODDER]);
}

/** Held-out digits, one after the other, until it is told to end. */
class Load {
  private ended = false;
  private readonly running: Promise<void>;

  constructor(private readonly base: string) {
    this.running = this.run();
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.running;
  }

  private async run(): Promise<void> {
    const { heldOut } = loadDigits();
    for (let index = 0; !this.ended; index = (index + 1) % heldOut.labels.length) {
      const response = await fetch(`${this.base}/${PATIENT}/predict`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: Array.from(digitAt(heldOut, index)) }),
      });
      await response.arrayBuffer();
    }
  }
}
