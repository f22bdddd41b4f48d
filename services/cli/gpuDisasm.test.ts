import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Disassembly } from '../../simulator/disassembly/index.js';
import { windjammerProgram } from './program.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const kernels = fileURLToPath(new URL('../../simulator/gpu/reference/kernels', import.meta.url));
const sgemm = `${kernels}/sgemm_tiled.ptx`;

describe('windjammer gpu disasm', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('disasm', ...args);

  it('prints code, loops, registers and occupancy', async () => {
    const text = await run(sgemm, '--block', '16x16', '--dynamic-shared', '1024');
    expect(text).toContain('.entry sgemm_tiled (line 17)');
    expect(text).toContain('shared 2048 + 1024 dynamic bytes a block');
    expect(text).toContain('blocks of 256 threads (8 warps)');
    expect(text).toContain('loop at block 2, depth 1: blocks 2-6');
    expect(text).toMatch(/^ +\d+ {3}bar\.sync 0;$/m);
  });

  it('prints the same as JSON', async () => {
    const found = JSON.parse(
      await run(sgemm, '--json', '--lowered', '--kernel', 'sgemm_tiled'),
    ) as Disassembly;
    expect(found.lowered).toBe(true);
    expect(found.functions.map(({ name, loops }) => [name, loops?.length])).toEqual([['sgemm_tiled', 1]]);
  });

  it.each([
    [[sgemm, '--kernel', 'sgemm'], /^FAILED unknownKernel: no kernel 'sgemm' in .*; there are: sgemm_tiled$/],
    [[`${kernels}/sgemm_tiled.cu`], /^FAILED notPtx: .*sgemm_tiled\.cu:\d+: expected '\.version'/],
    [['/nowhere/k.ptx'], /^FAILED unreadableFile: \/nowhere\/k\.ptx: /],
    [[sgemm, '--block', '16,16'], /expected threads such as 256, 16x16 or 8x8x4/],
    [[sgemm, '--block', '0'], /expected threads such as 256/],
    [[sgemm, '--dynamic-shared', '-1'], /expected a whole number from 0/],
    [[sgemm, '--device', 'h2'], /^FAILED unknownDevice: no device profile 'h2'; there are: h200, /],
    [[], /missing required argument 'ptx'/],
  ])('says what is wrong with %j', async (args, message) => {
    expect(await run(...args)).toMatch(message);
  });

  it('has every option in the documentation', async () => {
    const text = readFileSync(fileURLToPath(new URL('../../docs/reference/cli.md', import.meta.url)), 'utf8');
    const gpu = (await windjammerProgram(['gpu'])).commands.find((command) => command.name() === 'gpu');
    const disasm = gpu?.commands.find((command) => command.name() === 'disasm');
    expect(disasm?.options.length).toBeGreaterThan(4);
    for (const { long } of disasm?.options ?? []) expect(text).toContain(`\`${long ?? ''}`);
  });
});
