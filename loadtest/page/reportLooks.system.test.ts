import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { poorContrasts } from '../../services/dashboard/tests/looks.js';
import { Pictures } from '../../services/dashboard/tests/pictures.js';
import { planReplay, replay } from '../replay/index.js';
import { runPage } from './index.js';

/** Where the guide's picture goes; it is kept nowhere unless it says so. */
const KEPT = process.env['WINDJAMMER_PICTURES'];
const MOST_BYTES = 100_000;
const WIDTH = 1280;

let folder: string;
let pictures: Pictures;
let report: string;

/** At the crest of a wave more is asked than they can take. */
const MODELS = [
  { name: 'small', fixed_ms: 1, item_ms: 0.1 },
  { name: 'large', fixed_ms: 4, item_ms: 0.25 },
].map(({ name, fixed_ms, item_ms }) => ({
  model_name: name,
  model_version: '1',
  input_type: 'doubles',
  container_name: 'windjammer/synthetic',
  replicas: 1,
  synthetic: { fixed_ms, item_ms, jitter: 0.05, output: '0' },
}));
const CONFIG = {
  applications: [
    {
      name: 'two',
      input_type: 'doubles',
      default_output: '-1',
      latency_slo_micros: 20_000,
      linked_models: MODELS.map(({ model_name }) => model_name),
      policy: { name: 'exp3' },
    },
  ],
  models: MODELS,
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-report-'));
  const config = join(folder, 'two.json');
  writeFileSync(config, JSON.stringify(CONFIG));
  const settings = await planReplay({
    config,
    trace: 'wave:200..8000,10',
    durationSeconds: 20,
    seed: 1,
    scale: 1,
    feedback: { share: 0, delayMs: 0 },
    cacheBytes: 2 ** 20,
  });
  report = runPage((await replay(settings)).result);
  pictures = await Pictures.start(WIDTH, KEPT);
  // The browser may have to be installed first.
}, 600_000);
afterAll(async () => {
  await pictures?.stop();
  rmSync(folder, { recursive: true });
});

it('is a small picture in a guide', async () => {
  const { width, bytes } = await pictures.take('report', report);
  expect(width).toBe(WIDTH);
  expect(bytes).toBeLessThan(MOST_BYTES);
});

it.each(
  [360, 768, 1440].flatMap((width) => (['light', 'dark'] as const).map((scheme) => [width, scheme] as const)),
)('fits %d pixels, %s', async (width, colorScheme) => {
  const { page } = pictures;
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  await page.setContent(report);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
  expect(await page.evaluate(poorContrasts)).toEqual([]);
});
