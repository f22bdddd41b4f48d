import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SpecVerdict } from '../../simulator/launchVerdict/index.js';
import { windjammerProgram } from './program.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const blur = join(docs, 'examples/blur/blur.json');

describe('windjammer gpu idempotent', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-idempotent-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => vi.restoreAllMocks());

  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('idempotent', ...args);
  const judge = async (...args: readonly string[]): Promise<SpecVerdict> =>
    JSON.parse(await run(...args)) as SpecVerdict;
  const spec = (change: Record<string, unknown>): string => {
    const path = join(folder, `${Math.abs(JSON.stringify(change).length)}.json`);
    const original = JSON.parse(readFileSync(blur, 'utf8')) as Record<string, unknown>;
    writeFileSync(
      path,
      JSON.stringify({ ...original, ptx: join(docs, 'examples/blur/blur.ptx'), ...change }),
    );
    return path;
  };
  const buffer = { buffer: { type: 'f32', count: 1000, out: true } };

  it('prints the verdict and the bytes of every access', async () => {
    const { idempotent, cause, accesses, complete } = await judge(blur);
    expect({ idempotent, cause, complete }).toEqual({ idempotent: true, cause: null, complete: true });
    const [writes, reads] = ['W', 'R'].map((rw) => accesses.filter((access) => access.rw === rw));
    expect(writes?.length).toBeGreaterThan(0);
    expect(reads?.length).toBeGreaterThan(0);
    for (const { lo, hi, line } of accesses) {
      expect(line).toBeGreaterThan(0);
      expect(hi).toBeGreaterThanOrEqual(lo ?? Infinity);
    }
  });

  it('refuses one buffer for both, in every mode', async () => {
    const path = spec({ args: [buffer, { pointer: { of: 0 } }, { i32: 1000 }] });
    for (const mode of ['strawman', 'ranges', 'compacted']) {
      const { idempotent, cause } = await judge(path, '--mode', mode);
      expect({ mode, idempotent, isNamed: cause !== null }).toEqual({
        mode,
        idempotent: false,
        isNamed: true,
      });
    }
    const text = await run(path, '--explain');
    expect(text).toContain('not shown to be idempotent');
    expect(text).toContain('blur.cu:');
    expect(text).toContain('args[0].buffer');
    expect(text).toContain('in common:');
    // But for where the module lies, what the documentation shows.
    expect(readFileSync(join(docs, 'reference/idempotency.md'), 'utf8')).toContain(
      text.replaceAll(`${join(docs, 'examples/blur')}/`, '').trim(),
    );
  });

  it('has a verdict on a kernel that cannot run here, of which nothing is known', async () => {
    const ptx = join(folder, 'fence.ptx');
    writeFileSync(
      ptx,
      `.version 8.0
.target sm_90a
.address_size 64
.visible .entry fence(.param .u64 fence_param_0)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [fence_param_0];
  wgmma.fence.sync.aligned;
  ret;
}`,
    );
    const path = spec({ ptx, kernel: 'fence', args: [buffer] });
    const verdict = await judge(path);
    expect(verdict).toMatchObject({ idempotent: false, cause: 'PE', complete: false, accesses: [] });
    expect(verdict.reason).toContain('wgmma.fence');
    const text = await run(path, '--explain');
    expect(text).toContain('fence.ptx:8');
    expect(text).toContain('there may be accesses that are not listed');
  });

  it('asks a solver where intervals know less', async () => {
    const path = spec({
      ptx: fileURLToPath(new URL('../../containers/proving/tests/permutations.ptx', import.meta.url)),
      kernel: 'swizzle',
      grid: [3, 1, 1],
      block: [128, 1, 1],
      // Read where the permuted rows, which are stored, end.
      args: [{ buffer: { type: 'f32', count: 768 } }, { pointer: { of: 0, offsetBytes: 384 * 4 } }],
    });
    expect((await judge(path)).idempotent).toBe(false);
    const text = await run(path, '--solver', 'z3');
    if (text.startsWith('FAILED')) expect(text).toContain('npm install --include=optional');
    else expect((JSON.parse(text) as SpecVerdict).idempotent).toBe(true);
    expect(await run(path, '--solver', 'guess')).toContain('FAILED');
  });

  it('fails with the errors of gpu run', async () => {
    const cases: readonly Record<string, unknown>[] = [
      { kernel: 'none' },
      { ptx: '/nowhere.ptx' },
      { block: [2048, 1, 1] },
      { args: [buffer] },
      { args: [buffer, buffer, { f32: 1 }] },
      { grid: [0, 1, 1] },
      { device: 'abacus' },
      { dynamicSharedBytes: 1e9 },
      { args: [buffer, { buffer: { type: 'f32', count: 1e13 } }, { i32: 1 }] },
    ];
    for (const change of cases) {
      const path = spec(change);
      const text = await run(path);
      expect(text).toMatch(/^FAILED /);
      expect(text).toBe(await runGpuCommand('run', path));
    }
    expect(await run(join(folder, 'absent.json'))).toMatch(/^FAILED .*unreadableFile/);
    expect(await run(blur, '--mode', 'guess')).toContain('FAILED');
  });

  it('has every option in the documentation', async () => {
    const text = readFileSync(join(docs, 'reference/idempotency.md'), 'utf8');
    const gpu = (await windjammerProgram(['gpu'])).commands.find((command) => command.name() === 'gpu');
    const command = gpu?.commands.find((each) => each.name() === 'idempotent');
    expect(command?.options.length).toBeGreaterThan(3);
    for (const { long } of command?.options ?? []) expect(text).toContain(`\`${long}`);
  });
});
