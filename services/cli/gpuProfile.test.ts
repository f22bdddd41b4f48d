import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KernelProfile } from '../../simulator/profiler/index.js';
import { SORT_KEYS } from '../../simulator/profiler/index.js';
import { windjammerProgram } from './program.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const columns = join(docs, 'examples/columns/columns.json');
const blur = join(docs, 'examples/blur/blur.json');
const saxpy = fileURLToPath(
  new URL('../../simulator/gpu/reference/launches/saxpy__n-256-a-1-5.json', import.meta.url),
);

describe('windjammer gpu profile', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-profile-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    process.exitCode = undefined;
    vi.restoreAllMocks();
  });

  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('profile', ...args);
  const kernelsOf = (text: string): readonly KernelProfile[] =>
    (JSON.parse(text) as { readonly kernels: readonly KernelProfile[] }).kernels;

  it('prints what the documentation shows', async () => {
    const text = await run(columns, '--top', '5', '--sort', 'conflicts');
    expect(process.exitCode).toBeUndefined();
    const shown = text.replaceAll(columns, 'docs/examples/columns/columns.json');
    // All but the time, which every calibration moves.
    const untimed = (page: string): string => page.replace(/GPU time +[\d.]+ us/g, 'GPU time');
    expect(untimed(readFileSync(join(docs, 'guides/kernelProfiling.md'), 'utf8'))).toContain(untimed(shown));
    expect(untimed(shown)).not.toBe(shown);
    expect(shown).toContain('columns.cu:8');
  });

  it('has every option, and every order of lines, in the documentation', async () => {
    const profilingPage = readFileSync(join(docs, 'guides/kernelProfiling.md'), 'utf8');
    const cliPage = readFileSync(join(docs, 'reference/cli.md'), 'utf8');
    const gpu = (await windjammerProgram(['gpu'])).commands.find((command) => command.name() === 'gpu');
    const profile = gpu?.commands.find((command) => command.name() === 'profile');
    expect(profile?.options.length).toBeGreaterThan(8);
    for (const { long } of profile?.options ?? []) {
      expect(profilingPage).toContain(`\`${long}`);
      expect(cliPage).toContain(`\`${long}`);
    }
    const sort = profile?.options.find(({ long }) => long === '--sort');
    expect(sort?.argChoices).toEqual(SORT_KEYS);
    for (const key of SORT_KEYS) expect(profilingPage).toContain(`\`${key}\``);
  });

  it('gives JSON, of as many specs as it is told', async () => {
    const kernels = kernelsOf(await run(columns, saxpy, '--json'));
    expect(kernels.map(({ kernel }) => kernel)).toEqual(['columns', 'saxpy']);
    expect(kernels[0].launches[0].coverage.kind).toBe('all');
    const sampled = kernelsOf(await run(columns, '--json', '--blocks', '2', '--seed', '9'));
    expect(sampled[0].launches[0].coverage).toMatchObject({ kind: 'sample', tracedBlocks: 2, seed: 9 });
    const alone = kernelsOf(await run(columns, '--json', '--blocks', '1', '--only-sample'));
    expect(alone[0].launches[0].gpuTimeUs).toBeUndefined();
    expect(kernelsOf(await run(columns, saxpy, '--json', '--kernel', 'saxpy'))).toHaveLength(1);
  });

  it('writes a page', async () => {
    const page = join(folder, 'profile.html');
    await run(columns, '--html', page);
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/^<!doctype html>/);
    expect(html).toContain('float tile[32][32]');
    expect(await run(columns, '--html', join(folder, 'no', 'such', 'place.html'))).toMatch(
      /^FAILED --html: .*ENOENT/,
    );
    expect(await run(columns, '--html', folder)).toMatch(/^FAILED --html: .* is a folder/);
    // Seen before anything runs.
    expect(await run('/nowhere.json', '--html', folder)).toMatch(/^FAILED --html/);
  });

  it('ends with 1 after a fault, and tells what ran until then', async () => {
    const text = await run(blur);
    expect(process.exitCode).toBe(1);
    expect(text).toContain('FAULT         illegalAddress');
    expect(text).toContain('until the fault');
  });

  it('refuses by name what it cannot profile', async () => {
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, '{ "ptx": ');
    const incomplete = join(folder, 'incomplete.json');
    writeFileSync(incomplete, '{ "ptx": "k.ptx" }');
    expect(await run('/nowhere.json')).toMatch(/^FAILED \/nowhere\.json: unreadableFile: .*ENOENT/);
    expect(await run(broken)).toMatch(/^FAILED .*broken\.json: unreadableFile: .*JSON/);
    expect(await run(saxpy, incomplete)).toMatch(
      /^FAILED .*incomplete\.json: invalidSpec: kernel: is missing/,
    );
    expect(await run(columns, '--kernel', 'rows')).toMatch(
      /^FAILED .*invalidSpec: kernel: no launch of 'rows'/,
    );
    expect(await run(columns, '--sort', 'size')).toMatch(/^FAILED .*--sort.*Allowed choices are warp/);
    expect(await run(columns, '--blocks', '0')).toMatch(/^FAILED .*--blocks.*expected a number of blocks/);
    expect(await run(columns, '--blocks', '1e3')).toMatch(/^FAILED .*--blocks.*expected a number of blocks/);
    expect(await run(columns, '--budget', '0')).toMatch(/^FAILED .*--budget.*expected a whole number/);
    expect(await run(columns, '--seed', '-1')).toMatch(/^FAILED .*--seed.*expected a whole number/);
    expect(await run(columns, '--top', 'all')).toMatch(/^FAILED .*--top.*expected a whole number/);
    expect(await run()).toMatch(/^FAILED .*missing required argument 'specs'/);
  });
});
