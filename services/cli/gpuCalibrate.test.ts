import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CalibrationReport } from '../../simulator/laboratory/calibration/index.js';
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

describe('windjammer gpu calibrate', () => {
  let folder = '';
  const run = (...args: readonly string[]): Promise<string> => runGpuCommand('calibrate', ...args);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'calibrate-'));
    writeFileSync(join(folder, 'touch.ptx'), PTX);
    for (const [name, expectUs] of [
      ['one', 2],
      ['two', 4],
    ] as const) {
      writeFileSync(
        join(folder, `${name}.json`),
        JSON.stringify({
          ptx: 'touch.ptx',
          kernel: 'touch',
          device: 'h200',
          grid: [1, 1, 1],
          block: [32, 1, 1],
          dynamicSharedBytes: 0,
          args: [{ buffer: { type: 'u32', count: 32, out: true } }],
          expect: { durationUs: expectUs },
        }),
      );
    }
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const report = async (...args: readonly string[]): Promise<CalibrationReport> =>
    JSON.parse(await run('--launches', folder, '--json', ...args)) as CalibrationReport;

  it('holds simulated times against those of the specs', async () => {
    const { launches, kernels, meanOfKernels, worst } = await report();
    expect(launches.map(({ name, measuredUs }) => [name, measuredUs])).toEqual([
      ['one', 2],
      ['two', 4],
    ]);
    const [one, two] = launches;
    expect(one.simulatedUs).toBe(two.simulatedUs);
    expect(one.error).toBeCloseTo(one.simulatedUs / 2 - 1, 12);
    expect(meanOfKernels).toBeCloseTo((Math.abs(one.error) + Math.abs(two.error)) / 2, 12);
    expect(kernels).toHaveLength(1);
    expect(worst.name).toBe('two');
  });

  it('takes durations from a table, in any order of columns, with comments and quotes', async () => {
    const csv = join(folder, 'mine.csv');
    writeFileSync(csv, '\uFEFF# my card\r\nnote, duration_us ,launch\r\n"a, b",8,two\r\n');
    const { launches } = await report('--from', csv);
    expect(launches.map(({ name, measuredUs }) => [name, measuredUs])).toEqual([['two', 8]]);
  });

  it('holds intervals back to back when asked to', async () => {
    const text = await run('--only', 'saxpy__n-256', '--back-to-back');
    expect(text).toMatch(/^saxpy__n-256-a-1-5 +1\.76 +\S+ +-?\d+\.\d % +0\.84 +\d+\.\d+ +-?\d+\.\d %$/m);
    expect(text).toMatch(/intervals back to back: mean of the kernels' mean errors \d/);
    expect((await report()).backToBackMeanOfKernels).toBeUndefined();
  });

  it('takes intervals from a table too', async () => {
    const csv = join(folder, 'intervals.csv');
    writeFileSync(csv, 'launch,duration_us,back_to_back_us\none,2,1.5\ntwo,4,\n');
    const { launches } = await report('--from', csv, '--back-to-back');
    expect(launches.map(({ backToBack }) => backToBack?.measuredUs)).toEqual([1.5, undefined]);
    expect(await run('--launches', folder, '--back-to-back')).toMatch(
      /FAILED --back-to-back: of none of the launches the interval was measured/,
    );
  });

  it('reads of a folder the specs that a table names', async () => {
    const csv = join(folder, 'one.csv');
    writeFileSync(csv, 'launch,duration_us\none,2\n');
    writeFileSync(join(folder, 'results.json'), '[]');
    try {
      expect((await report('--from', csv)).launches).toHaveLength(1);
      expect(await run('--launches', folder)).toMatch(/FAILED unreadable: .*results\.json: spec: /);
    } finally {
      rmSync(join(folder, 'results.json'));
    }
  });

  it('refuses a spec whose time is none', async () => {
    const spec = JSON.parse(readFileSync(join(folder, 'one.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'none.json'), JSON.stringify({ ...spec, expect: { durationUs: 0 } }));
    try {
      expect(await run('--launches', folder)).toMatch(/none\.json: expect\.durationUs: '0' is not a number/);
    } finally {
      rmSync(join(folder, 'none.json'));
    }
  });

  it('writes over nothing that it reads', async () => {
    const csv = join(folder, 'kept.csv');
    writeFileSync(csv, 'launch,duration_us\none,2\n');
    expect(await run('--launches', folder, '--from', csv, '--svg', csv)).toMatch(
      /FAILED --svg: .*kept\.csv is the table of --from too, and would be lost/,
    );
    expect(readFileSync(csv, 'utf8')).toBe('launch,duration_us\none,2\n');
  });

  it('writes the scatter and the page', async () => {
    const svg = join(folder, 'scatter.svg');
    const html = join(folder, 'scatter.html');
    await report('--svg', svg, '--html', html);
    expect(readFileSync(svg, 'utf8').match(/<circle/g)).toHaveLength(2);
    expect(readFileSync(html, 'utf8')).toContain('<td>touch</td><td>2</td>');
  });

  it('holds the simulated card to launches of the real one', async () => {
    const text = await run('--only', 'saxpy__n-16384', '--check');
    expect(text).toMatch(/^saxpy__n-16384-a-1-5 +1\.89 +\d+\.\d+ +-?\d+\.\d %$/m);
    expect(text).toContain("1 launch of 1 kernel: mean of the kernels' mean errors");
  });

  it('writes launches of a set as specs that say the same', async () => {
    const specs = join(folder, 'specs');
    expect(await run('--set', 'heldOut', '--only', 'batched_32', '--specs', specs)).toBe(
      `3 launch specs in ${specs}\n`,
    );
    const printed = [
      await run('--set', 'heldOut', '--only', 'batched_32__batch-16'),
      await run('--launches', specs, '--only', 'batched_32__batch-16'),
    ];
    expect(printed[0]).toMatch(/^batched_32__batch-16 +\d+\.\d+ +\d+\.\d+ +-?\d+\.\d %$/m);
    expect(printed[1]).toBe(printed[0]);
  });

  it('fails with --check when a launch is far off', async () => {
    const csv = join(folder, 'far.csv');
    writeFileSync(csv, 'launch,duration_us\none,1000\n');
    expect(await run('--launches', folder, '--from', csv, '--check')).toMatch(
      /FAILED [^]*--check: mean error 9\d\.\d %, more than 12 %$/,
    );
  });

  it.each([
    ['launch,us\none,1\n', /bad\.csv:1: no column 'duration_us' in the header; there are: launch, us/],
    ['launch,duration_us\n', /bad\.csv: no lines below the header/],
    ['', /bad\.csv:1: no column 'launch' in the header; there are: none/],
    ['launch,duration_us\nthree,1\n', /bad\.csv:2: column launch: there is no .*three\.json/],
    ['launch,duration_us\none,1\n\none,2\n', /bad\.csv:4: column launch: 'one' stands in line 2 already/],
    [
      'launch,duration_us\none,fast\n',
      /bad\.csv:2: column duration_us: 'fast' is not a number of microseconds, 0.001 to 1000000000/,
    ],
    ['launch,duration_us\none,\n', /bad\.csv:2: column duration_us: '' is not a number of microseconds/],
    ['launch,duration_us\none,-1\n', /bad\.csv:2: column duration_us: '-1' is not a number of microseconds/],
    ['launch,duration_us\none,0\n', /column duration_us: '0' is not/],
    ['launch,duration_us\none,0x10\n', /column duration_us: '0x10' is not/],
    ['launch,duration_us\none,1e308\n', /column duration_us: '1e308' is not/],
    ['launch,duration_us\none,1e-9\n', /column duration_us: '1e-9' is not/],
    ['launch,duration_us\none,Infinity\n', /column duration_us: 'Infinity' is not/],
    ['launch,duration_us,back_to_back_us\none,1,no\n', /column back_to_back_us: 'no' is not/],
    ['launch,duration_us,duration_us\none,1,2\n', /bad\.csv:1: column 'duration_us' is there more than once/],
    ['launch,duration_us\none.json,1\n', /one\.json\.json; give the spec's name without \.json/],
    ['launch,duration_us\none,1\0\n', /bad\.csv: it is no text: byte 24 is 0/],
    ['launch,duration_us\none\n', /bad\.csv: .*expect 2, got 1 on line 2/],
    ['launch,duration_us\n"one,1\n', /bad\.csv: .*[Qq]uote/],
  ])('refuses the table %j', async (text, message) => {
    const csv = join(folder, 'bad.csv');
    writeFileSync(csv, text);
    expect(await run('--launches', folder, '--from', csv)).toMatch(message);
  });

  it.each([
    [['--from', 'a.csv'], /--from: give the folder of the launch specs/],
    [['--set', 'all', '--launches', '.'], /--set: it names launches that come with Windjammer/],
    [['--set', 'mine'], /Allowed choices are reference, validation, heldOut, tensor, all/],
    [['--only', 'nothing'], /--only: no launch has 'nothing' in its name/],
    [['--largest', '0'], /--largest: all \d+ launches have buffers of more than 2\^0 elements/],
    [['--launches', '/nowhere'], /unreadable: launches: .*ENOENT/],
    [['--device', 'h999', '--only', 'saxpy__n-256'], /no (device profile|card) 'h999'/],
    [['--svg', '/nowhere/a.svg'], /--svg: /],
    [['--specs', '/dev/null/a', '--only', 'saxpy__n-256'], /--specs: /],
    [['--specs', 'a', '--check'], /--specs: nothing runs with it; leave --check out/],
    [['--specs', 'a', '--launches', '.'], /--specs: those of --launches are launch specs already/],
  ])('refuses %j', async (args, message) => {
    expect(await run(...args)).toMatch(message);
  });

  it('notes a card that nothing was measured on', async () => {
    const notes: string[] = [];
    const write = vi
      .spyOn(process.stderr, 'write')
      .mockImplementation((text) => notes.push(String(text)) > 0);
    try {
      await run('--launches', folder, '--device', 't4');
    } finally {
      write.mockRestore();
    }
    expect(notes.join('')).toContain('t4: nothing was measured on this card');
  });
});
