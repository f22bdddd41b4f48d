import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaunchSpecError } from '../launchSpec/index.js';
import {
  profilePage,
  profileSpecFiles,
  profileSpecs,
  profileText,
  type NamedSpec,
  type ProfileReport,
} from './index.js';
import { kernelText } from './tests/profiledKernel.js';

const LAUNCHES = resolve(import.meta.dirname, '../gpu/reference/launches');
const TRANSPOSE = join(LAUNCHES, 'transpose__rows-cols-256.json');
const SAXPY = join(LAUNCHES, 'saxpy__n-256-a-1-5.json');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'profile-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const BUFFER = { buffer: { type: 'u32', count: 262144 } };

/** A spec of a kernel `k`, or another, in a file of the folder. */
function spec(name: string, ptx: string, more: Readonly<Record<string, unknown>> = {}): NamedSpec {
  writeFileSync(join(folder, name), ptx);
  const value = {
    ptx: name,
    kernel: 'k',
    device: 'h200',
    grid: [1, 1, 1],
    block: [32, 1, 1],
    args: [BUFFER],
    ...more,
  };
  return { name: `${name}.json`, value, baseDir: folder };
}

const errorOf = (attempt: () => unknown): LaunchSpecError => {
  try {
    attempt();
  } catch (error) {
    if (error instanceof LaunchSpecError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('a profile of launch specs', () => {
  it('has times, occupancy and totals of each launch, and lines of each kernel', () => {
    const { kernels } = profileSpecFiles([SAXPY, TRANSPOSE, SAXPY], { budget: 50_000 });
    expect(kernels.map(({ kernel, launches }) => [kernel, launches.length])).toEqual([
      ['saxpy', 2],
      ['transpose', 1],
    ]);
    const [saxpy, transpose] = kernels;
    const [first, second] = saxpy.launches;
    expect(first.gpuTimeUs).toBeGreaterThan(1);
    expect(first.coverage.kind).toBe('all');
    expect(first.totals).toEqual(second.totals);
    expect(saxpy.totals.threadInstructions).toBe(2 * first.totals.threadInstructions);
    expect(transpose.launches[0].coverage.kind).toBe('sample');
    expect(transpose.launches[0].occupancy).toMatchObject({
      blocksPerSm: 8,
      warpsPerSm: 64,
      share: 1,
      waves: 64 / (8 * 132),
      boundBy: ['threads', 'warps', 'registers'],
    });
    for (const { lines, mix, totals } of kernels) {
      const sum = lines.reduce((total, { counts }) => total + (counts.threadInstructions ?? 0), 0);
      expect(sum).toBe(totals.threadInstructions);
      const mixed = Object.values(mix).reduce((total, count) => total + count, 0);
      expect(mixed).toBeCloseTo(totals.warpInstructions, 6);
    }
  });

  it('takes only launches of one kernel', () => {
    const { kernels } = profileSpecFiles([TRANSPOSE, SAXPY], { kernel: 'saxpy' });
    expect(kernels.map(({ kernel }) => kernel)).toEqual(['saxpy']);
    const error = errorOf(() => profileSpecFiles([TRANSPOSE, SAXPY], { kernel: 'sax' }));
    expect(error).toMatchObject({ code: 'invalidSpec', field: 'kernel' });
    expect(error.message).toContain("no launch of 'sax'; there are: transpose, saxpy");
  });

  it.each([
    [{ grid: [0, 1, 1] }, 'grid[0]'],
    [{ block: [32, 1] }, 'block'],
    [{ block: [2048, 1, 1] }, undefined],
    [{ device: 'h2' }, 'device'],
    [{ kernel: 'other' }, 'kernel'],
    [{ args: [] }, 'args'],
    [{ ptx: 'nowhere.ptx' }, 'ptx'],
    [{ threads: 3 }, undefined],
  ])('names what is wrong with %j', (more, field) => {
    const error = errorOf(() => profileSpecs([spec('k.ptx', kernelText({ body: '' }), more)]));
    expect(error.message.length).toBeGreaterThan(10);
    if (field !== undefined) expect(error.field).toBe(field);
  });

  it('profiles up to a fault, without a time', () => {
    const [kernel] = profileSpecs([
      spec('fault.ptx', kernelText({ body: 'ld.global.u32 %r5, [%rd1+1048576];' })),
    ]).kernels;
    expect(kernel.launches[0]).toMatchObject({ fault: { code: 'illegalAddress' } });
    expect(kernel.launches[0].gpuTimeUs).toBeUndefined();
    expect(profileText({ kernels: [kernel], listings: [] })).toContain('FAULT         illegalAddress');
  });

  it('reads lines that end as Windows ends them, and kernels of nothing', () => {
    const windows = spec('crlf.ptx', kernelText({ body: 'add.u32 %r5, %r1, 1;' }).replaceAll('\n', '\r\n'));
    const [kernel] = profileSpecs([windows]).kernels;
    expect(kernel.lines.find(({ text }) => text === 'add.u32 %r5, %r1, 1;')?.counts.warpInstructions).toBe(1);
    const empty = spec(
      'empty.ptx',
      '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n',
      { args: [] },
    );
    const report = profileSpecs([empty]);
    expect(report.kernels[0].totals).toMatchObject({ warpInstructions: 1, threadInstructions: 32 });
    expect(profileText(report)).toContain('ret;');
    expect(profilePage(report)).toContain('<h3>Hot lines</h3>');
  });
});

describe('the page', () => {
  /** What a browser would fetch or run from a page. */
  const OUTSIDE = /<(?:link|img|iframe|object|embed|base)\b|<[^>]*\bsrc=|@import|url\(|https?:\/\//i;

  function hostile(): ProfileReport {
    const sources = `.file 1 "/etc/hostname"
.file 2 "</script><script>alert(1)</script>.cu"
.file 3 "k<b>.cu"`;
    writeFileSync(join(folder, 'k<b>.cu'), 'first\n</code><img src=x onerror=alert(2)>\n');
    const text = kernelText({
      before: sources,
      body: `.loc 1 1 0
add.u32 %r5, %r1, 1; // <img src=x onerror=alert(3)>
.loc 2 7 0
add.u32 %r5, %r5, 2; // "'&\u202e\u0007
.loc 3 2 0
add.u32 %r5, %r5, 3;`,
    });
    return profileSpecs([{ ...spec('h<i>.ptx', text), name: '"><svg onload=alert(4)>.json' }]);
  }

  it('shows text of files as text', () => {
    const page = profilePage(hostile());
    expect(page).not.toMatch(OUTSIDE);
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toMatch(/<(?:img|svg onload|b>|i>)/);
    expect(page).toContain('&#60;img src=x onerror=alert(3)&#62;');
    expect(page).not.toContain('\u202e');
    expect(page).not.toContain('\u0007');
    expect(page).toContain('&#34;&#62;&#60;svg onload=alert(4)&#62;.json');
  });

  it('reads only sources that lie beside the PTX', () => {
    const { kernels, listings } = hostile();
    expect(listings[0].sources.map(({ file }) => file)).toEqual(['k<b>.cu']);
    expect(kernels[0].sourceLines.map(({ file, line, text }) => [file, line, text])).toEqual([
      ['/etc/hostname', 1, undefined],
      ['</script><script>alert(1)</script>.cu', 7, undefined],
      ['k<b>.cu', 2, '</code><img src=x onerror=alert(2)>'],
    ]);
  });

  it('leads from hot lines to their place, and allows nothing but its own script and style', () => {
    const page = profilePage(profileSpecFiles([TRANSPOSE], { blocks: 2 }));
    const targets = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((id) => !targets.has(id))).toEqual([]);
    expect(page).toMatch(/default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'/);
    expect(page).not.toMatch(/ style="| on[a-z]+="/);
    expect(page).toContain('l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum');
  });
});

describe('the text', () => {
  it('sorts lines, shows as many as asked, and leaves out columns that say nothing', () => {
    const report = profileSpecFiles([TRANSPOSE], { blocks: 2 });
    const bySectors = profileText(report, { sort: 'sectors', top: 3 });
    const lines = bySectors.split('\n');
    const at = lines.findIndex((line) => line.includes('by sectors (3 of 8)'));
    expect(lines.slice(at + 2, at + 5).every((line) => /(?:ld|st)\.global/.test(line))).toBe(true);
    expect(lines[at + 1]).not.toContain('collide');
    expect(profileText(report, { sort: 'conflicts' })).toContain('by conflicts (0 of 0): none counted');
    expect(profileText(report)).not.toMatch(/[^\P{Cc}\n]/u);
    const inOrder = profileText(report, { sort: 'line', top: 5 });
    expect(inOrder.indexOf('  30  ld.param')).toBeLessThan(inOrder.indexOf('  31  ld.param'));
  });
});
