import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';

describe('windjammer gpu devices', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'devices-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    vi.restoreAllMocks();
  });

  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('devices', ...args);

  it('lists the cards, and says which were measured', async () => {
    const text = await run();
    expect(text).toMatch(/^h200 +yes +132 +1980 +66\.9 /m);
    expect(text).toMatch(/^k20c +no +13 +706 +3\.5 +1\.2 +5\.4 +208 +225 /m);
    expect(text).toContain('Nothing was measured on a card marked "no"');
    const cards = JSON.parse(await run('--json')) as readonly { name: string; measured: boolean }[];
    expect(cards.filter(({ measured }) => measured).map(({ name }) => name)).toEqual(['h200']);
    expect(cards).toHaveLength(7);
  });

  it('prints a card with the source of each figure', async () => {
    const text = await run('8800gtx');
    expect(text).toContain('Nothing was measured on this card');
    expect(text).toMatch(/^sms +16 +document: Lindholm et al\./m);
    expect(text).toMatch(/^timing\.l2MissCurve +1:0 2:1 /m);
    expect(text).toMatch(/^timing\.launchOverheadNs +\d+ +assumed: as of k20c$/m);
    expect(await run('h200')).toContain('fitted on and held against a card of this type');
  });

  it('prints a file that can be changed and used', async () => {
    const card = JSON.parse(await run('t4', '--json')) as Record<string, unknown>;
    const file = join(folder, 'mine.json');
    writeFileSync(file, JSON.stringify({ ...card, name: 'mine' }));
    expect(await run(file)).toContain('mine: NVIDIA T4');
    writeFileSync(file, JSON.stringify(card));
    expect(await run(file)).toMatch(/^FAILED .*mine\.json: name: found "t4"; expected a name of its own/);
  });

  it('says what is wrong', async () => {
    expect(await run('h20')).toMatch(/^FAILED no device profile 'h20'; there are: h200, h100, /);
    expect(await run('./none.json')).toMatch(/^FAILED \.\/none\.json: ENOENT/);
  });

  it('has the example of the documentation right', async () => {
    const text = readFileSync(
      fileURLToPath(new URL('../../docs/reference/devices.md', import.meta.url)),
      'utf8',
    );
    const file = join(folder, 'documented.json');
    writeFileSync(file, /```json\n([^`]+)```/.exec(text)?.[1] ?? '');
    expect(await run(file)).toMatch(/^memory\.declaredBytes +34089730048 +document: V100 data sheet$/m);
  });
});
