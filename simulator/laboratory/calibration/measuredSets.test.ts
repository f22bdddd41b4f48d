import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLaunchRules } from './launchRules.js';
import type { MeasuredLaunch } from './measuredLaunches.js';
import { measuredByRules, measuredSet } from './measuredSets.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

describe('launches of a set', () => {
  let validation: readonly MeasuredLaunch[] = [];

  beforeAll(() => {
    validation = measuredSet(ROOT, 'validation');
  });

  it.each([
    ['validation', 583, 143],
    ['heldOut', 301, 102],
  ] as const)('%s: each line of the table has its rule, and each rule its lines', (set, lines, kernels) => {
    const launches = set === 'validation' ? validation : measuredSet(ROOT, set);
    expect(launches).toHaveLength(lines);
    expect(new Set(launches.map(({ spec }) => spec.kernel)).size).toBe(kernels);
    const rules = readLaunchRules(join(ROOT, 'simulator/laboratory/launches', set, 'rules'));
    expect(rules).toHaveLength(kernels);
    for (const rule of rules) {
      const own = launches.filter(({ name }) => rule.isOf(name)).map(({ name }) => name);
      expect(own, rule.kernel).not.toEqual([]);
      expect(own, rule.kernel).toEqual(expect.arrayContaining([...rule.named]));
    }
  });

  it('takes shape and times from the table, and the rest from the rule', () => {
    const launch = validation.find(({ name }) => name === 'big_shared__blocks-132-threads-128-words-51200');
    expect(launch).toMatchObject({
      spec: {
        ptx: '../kernels/arithmetic.ptx',
        kernel: 'big_shared',
        device: 'h200',
        grid: [132, 1, 1],
        block: [128, 1, 1],
        dynamicSharedBytes: 204800,
        args: [
          { buffer: { type: 'f32', count: 51200, fill: { seed: 1, scale: 1, shift: 0 } } },
          { buffer: { type: 'f32', count: 132 * 128, out: true } },
          { i32: 51200 },
          {},
        ],
      },
    });
    expect(launch?.spec.expect).toEqual({
      durationUs: launch?.durationUs,
      backToBackUs: launch?.backToBackUs,
    });
  });

  it('fills no buffer of a launch in which one is too large', () => {
    const filled = validation
      .filter(({ spec }) => spec.kernel === 'far_write')
      .map(({ spec: { args } }) => 'buffer' in args[0] && args[0].buffer.fill !== undefined);
    expect(filled.filter(Boolean)).toHaveLength(2);
    expect(filled).toHaveLength(14);
  });
});

describe('rules that do not fit', () => {
  let folder = '';
  const HEAD = 'launch,grid,block,dynamic_shared_bytes,duration_us';
  const copy = { launches: 'copy__n-{n}', args: [{ i32: '=n' }] };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rules-'));
    mkdirSync(join(folder, 'rules'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const attempt = (kernels: object, line: string, head = HEAD): (() => unknown) => {
    writeFileSync(join(folder, 'rules', 'a.json'), JSON.stringify({ ptx: 'a.ptx', device: 'h200', kernels }));
    writeFileSync(join(folder, 'a.csv'), `${head}\n${line}\n`);
    return () => measuredByRules(join(folder, 'a.csv'), join(folder, 'rules'));
  };

  it.each([
    ['a line without a rule', { copy }, 'move__n-4,1x1x1,32x1x1,0,2', /a\.csv:2: column launch: no rule in /],
    ['a line with two', { copy, move: copy }, 'copy__n-4,1x1x1,32x1x1,0,2', /a\.csv:2: .*: 2 rules in /],
    [
      'a name and columns that disagree',
      { copy: { ...copy, launches: 'copy__blocks-{blocks}' } },
      'copy__blocks-4,1x1x1,32x1x1,0,2',
      /a\.csv:2: column launch: .* has blocks 4, but in its other columns it is 1/,
    ],
    [
      'a formula of what is not there',
      { copy: { ...copy, args: [{ i32: '=m' }] } },
      'copy__n-4,1x1x1,32x1x1,0,2',
      /a\.json: kernels\.copy: of copy__n-4: formula 'm': there is no 'm'; there are: blocks, threads, n/,
    ],
    [
      'a number that its argument cannot be',
      { copy: { ...copy, args: [{ i32: '=n / 8' }] } },
      'copy__n-4,1x1x1,32x1x1,0,2',
      /a\.json: kernels\.copy: of copy__n-4: args\[0\]/,
    ],
    ['a cell without a number', { copy }, 'copy__n-4,1x1x1,32x1x1,,2', /of copy__n-4: dynamicSharedBytes/],
    ['a shape that is none', { copy }, 'copy__n-4,1x1,32x1x1,0,2', /of copy__n-4: grid/],
    ['a field that rules do not have', { copy: { ...copy, grid: 4 } }, '', /a\.json: kernels\.copy: .*grid/],
  ])('%s', (_, kernels, line, message) => {
    expect(attempt(kernels, line)).toThrow(message);
  });

  it('a table without shapes', () => {
    expect(attempt({ copy }, 'copy__n-4,2', 'launch,duration_us')).toThrow(/no column 'grid' in the header/);
  });
});
