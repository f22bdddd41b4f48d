import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';

const PTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry touch(.param .u64 out) {
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd0, %rd0, %rd1;
  st.global.u32 [%rd0], %r0;
  ret;
}
`;

const SPEC = JSON.stringify({
  ptx: 'touch.ptx',
  kernel: 'touch',
  device: 'h200',
  grid: [1, 1, 1],
  block: [32, 1, 1],
  args: [{ buffer: { type: 'u32', count: 32, out: true } }],
});

describe('files of windjammer gpu run', () => {
  let folder = '';
  const at = (name: string): string => join(folder, name);
  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('run', ...args);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'run-'));
    writeFileSync(at('touch.ptx'), PTX);
    writeFileSync(at('spec.json'), SPEC);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('accesses just outside a buffer fault, and go through as on a card when asked for', async () => {
    writeFileSync(at('outside.json'), SPEC.replace('"count":32', '"count":31'));
    expect(await run(at('outside.json'))).toMatch(
      /nothing is mapped at 0x\w+, 0 bytes behind the end of an allocation of 124; .*--guard card/,
    );
    const { buffers } = JSON.parse(await run(at('outside.json'), '--guard', 'card')) as { buffers: object[] };
    expect(buffers).toMatchObject([{ sum: 465 }]);
    // Beyond its pages a card faults too.
    const far = SPEC.replace('"count":32', '"count":1')
      .replace('[32,1,1]', '[1024,1,1]')
      .replace('[1,1,1]', '[600,1,1]');
    writeFileSync(at('touch.ptx'), PTX.replace('%r0, 4;', '%r0, 4096;'));
    writeFileSync(at('far.json'), far);
    expect(await run(at('far.json'), '--guard', 'card')).toMatch(/nothing is mapped at 0x\w+\n?$/);
    expect(await run(at('far.json'), '--guard', 'none')).toContain('Allowed choices are exact, card');
  });

  it('recorded costs give the time of the run, and the timeline is whole JSON', async () => {
    const text = await run(
      at('spec.json'),
      '--record-costs',
      at('costs.json'),
      '--timeline',
      at('trace.json'),
    );
    const again = await run(at('spec.json'), '--costs', at('costs.json'));
    const { durationUs, energyJoules } = JSON.parse(text) as Record<string, number>;
    expect(JSON.parse(again)).toMatchObject({ durationUs, energyJoules, buffers: [] });
    expect(JSON.parse(readFileSync(at('trace.json'), 'utf8'))).toHaveProperty('traceEvents');
    expect(readdirSync(folder).sort()).toEqual(['costs.json', 'spec.json', 'touch.ptx', 'trace.json']);
  });

  it.each([
    [['--timeline', 'spec.json'], /--timeline: .*spec\.json is the launch spec too, and would be lost/],
    [['--record-costs', 'spec.json'], /--record-costs: .*spec\.json is the launch spec too/],
    [['--timeline', 'a', '--record-costs', 'a'], /--record-costs: .* is the file of --timeline too/],
    [['--record-costs', 'none/a'], /--record-costs: ENOENT/],
  ])('%j is refused, and the spec is kept', async (args, message) => {
    const placed = args.map((arg) => (arg.startsWith('--') ? arg : at(arg)));
    expect(await run(at('spec.json'), ...placed)).toMatch(message);
    expect(readFileSync(at('spec.json'), 'utf8')).toBe(SPEC);
    expect(readdirSync(folder).sort()).toEqual(['spec.json', 'touch.ptx']);
  });

  it('a run that is refused leaves what was there', async () => {
    writeFileSync(at('trace.json'), 'old');
    writeFileSync(at('bad.json'), SPEC.replace('"grid":[1,', '"grid":[0,'));
    expect(await run(at('bad.json'), '--timeline', at('trace.json'))).toMatch(/FAILED .*grid\[0\]/);
    expect(readFileSync(at('trace.json'), 'utf8')).toBe('old');
  });

  it.each([
    ['a byte order mark', Buffer.from(`\uFEFF${SPEC}`), /^\{"device"/],
    ['UTF-16', Buffer.from(`\uFEFF${SPEC}`, 'utf16le'), /FAILED .*it is text in UTF-16LE; save it as UTF-8$/],
    ['zeros', Buffer.alloc(9), /FAILED .*it is no text: byte 0 is 0$/],
    ['nothing', Buffer.alloc(0), /FAILED .*the file is empty; expected JSON$/],
  ])('a spec with %s', async (_what, contents, message) => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    writeFileSync(at('other.json'), contents);
    expect(await run(at('other.json'))).toMatch(message);
    expect(await run(at('spec.json'), '--costs', at('other.json'))).toMatch(/FAILED --costs: /);
  });

  it('runs a spec of several launches, and tells when each begins and ends', async () => {
    const { grid, block } = { grid: [1, 1, 1], block: [32, 1, 1] };
    const launch = { kernel: 'touch', grid, block, args: [{ pointer: { of: 'out' } }] };
    const spec = {
      ptx: 'touch.ptx',
      device: 'h200',
      buffers: { out: { type: 'u32', count: 32, out: true } },
      launches: [launch, launch],
    };
    writeFileSync(at('several.json'), JSON.stringify(spec));
    const result = JSON.parse(await run(at('several.json'), '--dump', at('dump'))) as {
      makespanUs: number;
      launches: { startUs: number; endUs: number }[];
    };
    expect(result.launches[0].startUs).toBe(0);
    expect(result.launches[1].startUs).toBeGreaterThanOrEqual(result.launches[0].endUs);
    expect(result.makespanUs).toBe(result.launches[1].endUs);
    expect(readdirSync(at('dump'))).toEqual(['out.bin']);
    expect(await run(at('several.json'), '--back-to-back')).toMatch(/^FAILED .*--back-to-back: takes a spec/);
    writeFileSync(at('bad.json'), JSON.stringify({ ...spec, launches: [launch, { ...launch, grid: 1 }] }));
    expect(await run(at('bad.json'))).toContain('bad.json: invalidSpec: launches[1].grid: expected three');
  });

  it('names the option whose clock or limit the card does not take', async () => {
    expect(await run(at('spec.json'), '--sm-clock', '5000')).toContain(
      '--sm-clock: 5000 MHz; h200 takes 345 to 1980 MHz',
    );
    expect(await run(at('spec.json'), '--memory-clock', '1')).toMatch(/--memory-clock: 1 MHz; h200 takes/);
    expect(await run(at('spec.json'), '--power-limit', '1')).toMatch(/--power-limit: 1; h200 takes/);
  });
});
