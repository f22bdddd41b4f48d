import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OccupancyReport } from '../../simulator/occupancyCalculator/index.js';
import { windjammerProgram } from './program.js';
import { runGpuCommand } from './tests/gpuCommand.js';

const spec = fileURLToPath(new URL('../../docs/examples/columns/columns.json', import.meta.url));

describe('windjammer gpu occupancy', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('occupancy', ...args);
  const report = async (...args: readonly string[]): Promise<OccupancyReport> =>
    JSON.parse(await run(...args, '--json')) as OccupancyReport;

  it('prints blocks and warps an SM, what binds, and other block sizes', async () => {
    const text = await run(spec);
    expect(text).toContain('columns (columns.ptx) on h200: blocks of 32x32x1, 1,024 threads or 32 warps');
    expect(text).toMatch(/registers +\d+ a thread, estimated/);
    expect(text).toContain('2 blocks and 64 of 64 warps an SM, 100.0 %; bound by threads, warps');
    expect(text).toMatch(/16 KiB shared, 240 KiB of L1 cache beside it/);
    expect(text).toMatch(/^ +warps +32 +64 +2 +<-$/m);
    expect(text).toMatch(/^ +1024 +2 +64 +100\.0 % +<-$/m);
  });

  it('takes registers, block, shared memory, carve-out and card from the command line', async () => {
    const found = await report(
      ...[spec, '--registers', '104', '--block', '32', '--dynamic-shared', '0', '--carveout', '100'],
    );
    expect(found).toMatchObject({
      registersPerThread: 104,
      registers: 'given',
      threads: 32,
      blocksPerSm: 16,
    });
    expect(found.boundBy).toEqual(['registers']);
    expect(found.sharedConfigurationBytes).toBe(228 * 1024);
    const old = await report(spec, '--device', '8800gtx', '--block', '16x16');
    expect(old).toMatchObject({ device: '8800gtx', mostWarpsPerSm: 24, l1Bytes: 0 });
  });

  it.each([
    [['/nowhere.json'], /^FAILED \/nowhere\.json: unreadableFile: /],
    [[spec, '--registers', '0'], /expected a whole number from 1 to 255/],
    [[spec, '--carveout', '101'], /expected a whole number from 0 to 100/],
    [[spec, '--block', 'x'], /expected threads such as 256/],
    [[spec, '--block', '2048'], /refused: block\.x: 2048; the limit is 1024 on h200/],
    [
      [spec, '--registers', '80'],
      /refused: block: 1024 threads of 80 registers; the limit is 65536 registers a block/,
    ],
    [
      [spec, '--registers', '200', '--device', '8800gtx'],
      /registers: 200 a thread; the limit is 124 on 8800gtx/,
    ],
    [[spec, '--dynamic-shared', '300000'], /bytes of shared memory a block .*the limit is 232448 on h200/],
    [[spec, '--device', 'h2'], /device: no device profile 'h2'; there are: h200, /],
    [[], /missing required argument 'spec'/],
  ])('says what is wrong with %j', async (args, message) => {
    expect(await run(...args)).toMatch(message);
  });

  it('has every option in the documentation', async () => {
    const text = readFileSync(fileURLToPath(new URL('../../docs/reference/cli.md', import.meta.url)), 'utf8');
    const gpu = (await windjammerProgram(['gpu'])).commands.find((command) => command.name() === 'gpu');
    const occupancy = gpu?.commands.find((command) => command.name() === 'occupancy');
    expect(occupancy?.options.length).toBeGreaterThan(4);
    expect(text).toContain('## `windjammer gpu occupancy SPEC.json`');
    for (const { long } of occupancy?.options ?? []) expect(text).toContain(`\`${long ?? ''}`);
  });
});
