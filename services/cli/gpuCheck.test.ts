import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CheckReport } from '../../simulator/checker/index.js';
import { windjammerProgram } from './program.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const blur = join(docs, 'examples/blur/blur.json');
const saxpy = fileURLToPath(
  new URL('../../simulator/gpu/reference/launches/saxpy__n-256-a-1-5.json', import.meta.url),
);

describe('windjammer gpu check', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-check-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    process.exitCode = undefined;
    vi.restoreAllMocks();
  });

  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('check', ...args);

  it('prints what the documentation shows, and ends with 1', async () => {
    const text = await run(blur, '--memcheck', '--racecheck');
    expect(process.exitCode).toBe(1);
    expect(readFileSync(join(docs, 'guides/kernelChecking.md'), 'utf8')).toContain(text);
    expect(text).toContain('blur.cu:5');
  });

  it('has every option in the documentation', async () => {
    const text = readFileSync(join(docs, 'guides/kernelChecking.md'), 'utf8');
    const gpu = (await windjammerProgram(['gpu'])).commands.find((command) => command.name() === 'gpu');
    const check = gpu?.commands.find((command) => command.name() === 'check');
    expect(check?.options.length).toBeGreaterThan(5);
    for (const { long } of check?.options ?? []) expect(text).toContain(`\`${long}`);
  });

  it('is memcheck unless told otherwise, and all with --all', async () => {
    const checkersOf = async (...args: string[]): Promise<readonly string[]> =>
      (JSON.parse(await run(saxpy, '--json', ...args)) as CheckReport).checkers;
    expect(await checkersOf()).toEqual(['memcheck']);
    expect(await checkersOf('--synccheck', '--initcheck')).toEqual(['initcheck', 'synccheck']);
    expect(await checkersOf('--global-races')).toEqual(['racecheck']);
    expect(await checkersOf('--all')).toEqual(['memcheck', 'racecheck', 'initcheck', 'synccheck']);
    expect(process.exitCode).toBeUndefined();
  });

  it('runs the blocks that it is told to, and stops at its fuel', async () => {
    const report = JSON.parse(await run(blur, '--all', '--blocks', '0:2', '--json')) as CheckReport;
    expect(report.checked).toMatchObject({ blocks: 2, gridBlocks: 8 });
    expect(report.findings.map(({ checker }) => checker)).not.toContain('memcheck');
    expect(await run(saxpy, '--fuel', '100')).toContain('Endless kernel, or one longer than the fuel');
    expect(process.exitCode).toBe(1);
  });

  it('shows no more findings than it is told to', async () => {
    expect(await run(blur, '--all', '--limit', '1')).toContain(
      '3 more findings left out (--limit shows more)',
    );
  });

  it('refuses by name what it cannot check', async () => {
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, '{ "ptx": ');
    const incomplete = join(folder, 'incomplete.json');
    writeFileSync(incomplete, '{ "ptx": "k.ptx" }');
    const tooLarge = join(folder, 'large.json');
    const spec = JSON.parse(readFileSync(blur, 'utf8')) as Record<string, unknown>;
    writeFileSync(
      tooLarge,
      JSON.stringify({ ...spec, ptx: join(docs, 'examples/blur/blur.ptx'), block: [2048, 1, 1] }),
    );
    expect(await run('/nowhere.json')).toMatch(/^FAILED \/nowhere\.json: unreadableFile: .*ENOENT/);
    expect(await run(broken)).toMatch(/^FAILED .*broken\.json: unreadableFile: .*JSON/);
    expect(await run(incomplete)).toMatch(/^FAILED .*incomplete\.json: invalidSpec: kernel: is missing/);
    expect(await run(tooLarge)).toMatch(/^FAILED .*large\.json: refused: block/);
    expect(await run(blur, '--blocks', '6:9')).toMatch(
      /^FAILED .*invalidSpec: blocks: \[6, 9\) is empty or not inside/,
    );
    expect(await run(blur, '--blocks', '3')).toMatch(/^FAILED .*--blocks.*expected LO:HI/);
    expect(await run(blur, '--fuel', 'much')).toMatch(/^FAILED .*--fuel.*expected a whole number/);
    expect(await run(blur, '--leakcheck')).toMatch(/^FAILED .*unknown option '--leakcheck'/);
    expect(await run()).toMatch(/^FAILED .*missing required argument 'spec'/);
  });
});
