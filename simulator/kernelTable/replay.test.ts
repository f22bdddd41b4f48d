import { describe, expect, it } from 'vitest';
import { profileNamed } from '../gpu/index.js';
import {
  TABLE_STATISTICS,
  parseKernelTable,
  replayTables,
  tableLike,
  tableText,
  type KernelRow,
  type ReplayOptions,
} from './index.js';

const V100 = profileNamed('v100');

function row(bound: KernelRow['bound'], sms: number, durationNs: number): KernelRow {
  return { name: bound, bound, memoryFootprintBytes: 0, sms, durationNs };
}

function replay(tables: readonly (readonly KernelRow[])[], options: Partial<ReplayOptions> = {}) {
  return replayTables({
    tables: tables.map((rows, index) => ({ path: `table ${index}`, rows })),
    card: V100,
    measuredOn: V100,
    launches: tables.reduce((sum, rows) => sum + rows.length, 0),
    ...options,
  });
}

/** What a launch takes beside its blocks when it stands alone. */
function overheadUs(): number {
  const long = replay([[row('unknown', 1, 1_000_000)]]).makespanUs;
  return long - 1000;
}

describe('replayed alone', () => {
  it.each([
    ['compute', 40, 50_000],
    ['memory', 40, 50_000],
    ['unknown', 40, 50_000],
    ['compute', 200, 300_000],
    ['memory', 1152, 500_000],
    ['unknown', 81, 3_072],
    ['memory', 1, 2_700],
  ] as const)('a launch bound by %s on %i SMs takes its %i ns', (bound, sms, durationNs) => {
    const { makespanUs } = replay([[row(bound, sms, durationNs)]]);
    expect(makespanUs - overheadUs()).toBeCloseTo(durationNs / 1e3, 2);
  });

  it('uses the SMs that it fills', () => {
    const { smUtilisation } = replay([[row('compute', 40, 10_000_000)]]);
    expect(smUtilisation).toBeCloseTo(0.5, 2);
  });

  it('is faster on a larger card', () => {
    const rows = [row('compute', 320, 1_000_000), row('memory', 320, 1_000_000)];
    const here = replay([rows]).makespanUs;
    const there = replay([rows], { card: profileNamed('h200') }).makespanUs;
    expect(there).toBeLessThan(0.6 * here);
  });
});

describe('side by side', () => {
  const half = (bound: KernelRow['bound']): KernelRow[] => [row(bound, 40, 1_000_000)];

  it('launches bound by arithmetic on different SMs do not feel one another', () => {
    expect(replay([half('compute'), half('compute')]).makespanUs).toBeLessThan(
      1.02 * replay([half('compute')]).makespanUs,
    );
  });

  it('launches bound by memory share its bandwidth', () => {
    expect(replay([half('memory'), half('memory')]).makespanUs).toBeGreaterThan(
      1.3 * replay([half('memory')]).makespanUs,
    );
  });

  it('launches that want the same SMs take turns, those of higher priority first', () => {
    const table = Array.from({ length: 20 }, () => row('compute', 160, 200_000));
    const options = { launches: 1e9, seconds: 0.02 };
    const { clients } = replayTables({
      tables: [
        { path: 'low', rows: table },
        { path: 'high', rows: table, priority: 1 },
      ],
      card: V100,
      measuredOn: V100,
      ...options,
    });
    const [low, high] = clients;
    expect(high.launches).toBeGreaterThan(1.5 * low.launches);
  });

  it('is repeated to the last digit', () => {
    const tables = [tableLike(TABLE_STATISTICS.resnet50, 1), tableLike(TABLE_STATISTICS.resnet50, 2)];
    const once = replay(tables);
    expect(replay(tables)).toEqual(once);
    expect(once.launches).toBe(350);
    expect(once.smUtilisation).toBeLessThanOrEqual(1);
  });
});

it('passes start at given distances', () => {
  const { clients } = replayTables({
    tables: [{ path: 'a', rows: [row('compute', 1, 10_000)], gapsNs: [1e6, 3e6] }],
    card: V100,
    measuredOn: V100,
    seconds: 0.0405,
  });
  expect(clients[0].requests).toBe(21);
  expect(clients[0].latency?.maxUs).toBeLessThan(100);
});

it('no percentile of the latencies is above the longest', () => {
  const { clients } = replay([[row('compute', 40, 3_333_333)]], { launches: 5 });
  const { p50Us, p99Us, maxUs } = clients[0].latency ?? { p50Us: NaN, p99Us: NaN, maxUs: NaN };
  expect(p50Us).toBeLessThanOrEqual(p99Us);
  expect(p99Us).toBeLessThanOrEqual(maxUs);
});

it('passes that start far faster than they end are refused', () => {
  const gapsNs = [0];
  const tables = [{ path: 'a', rows: tableLike(TABLE_STATISTICS.resnet50, 1), gapsNs }];
  expect(() => replayTables({ tables, card: V100, measuredOn: V100, seconds: 1 })).toThrow(
    /^a: 200\d\d\d launches wait after \S+ s: passes start faster than the card ends them/,
  );
});

it.each([[[]], [[-1]], [[NaN]], [[1, Infinity]], [[1e16]]])('distances %j are refused', (gapsNs) => {
  const tables = [{ path: 'a', rows: [row('compute', 1, 10_000)], gapsNs }];
  expect(() => replayTables({ tables, card: V100, measuredOn: V100, seconds: 1 })).toThrow(/^a: gapsNs: /);
});

it('a row that is shorter than its blocks take to start is refused, with its place', () => {
  expect(() => replay([[row('compute', 40, 20_000), row('compute', 20_000, 100)]])).toThrow(
    /table 0: row 2: column Duration: 100 ns; 20000 blocks take longer/,
  );
});

describe('a table like a published one', () => {
  it.each(['resnet50', 'bert'] as const)('has its statistics: %s', (model) => {
    const statistics = TABLE_STATISTICS[model];
    const rows = tableLike(statistics, 7);
    expect(rows).toHaveLength(statistics.kernels);
    const totalNs = rows.reduce((sum, { durationNs }) => sum + durationNs, 0);
    const published = { resnet50: 6.5e6, bert: 48.6e6 }[model];
    expect(totalNs / published).toBeGreaterThan(0.85);
    expect(totalNs / published).toBeLessThan(1.15);
    const sorted = rows.map(({ durationNs }) => durationNs).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)] / statistics.durationsNs[3]).toBeCloseTo(1, 0);
    expect(parseKernelTable(tableText(rows), 'made.csv')).toEqual(rows);
  });
});

describe('a best-effort table beside a critical one', () => {
  const urgent = [row('compute', 80, 50_000)];

  /** Best-effort kernels of 1 ms that fill the card, and a critical one every 3 ms. */
  function preempted(policy: string, tells: Partial<KernelRow>) {
    const job: KernelRow = { ...row('compute', 80, 1_000_000), ...tells };
    const { preemptions, clients } = replayTables({
      tables: [
        { path: 'job', rows: [job], launchClass: 'bestEffort' },
        { path: 'urgent', rows: urgent, launchClass: 'critical', gapsNs: [3_100_000] },
      ],
      card: V100,
      measuredOn: V100,
      policy,
      seconds: 0.3,
    });
    return { ...preemptions, meanUs: clients[1].latency?.meanUs ?? NaN };
  }
  const aloneUs = replay([urgent]).clients[0].latency?.meanUs ?? NaN;

  it('is killed where its rows say that it may be, and costs the other a kill', () => {
    const { kills, saves, drains, meanKillUs, wastedBlockUs, meanUs } = preempted('killRestart', {
      idempotent: 1,
    });
    expect([kills > 90, saves, drains]).toEqual([true, 0, 0]);
    expect(meanKillUs).toBeCloseTo(1, 6);
    expect(wastedBlockUs).toBeGreaterThan(0);
    expect(meanUs).toBeLessThan(aloneUs + 1.1);
  });

  it('is copied out or waited for where they say nothing, or that it may not', () => {
    for (const tells of [{}, { idempotent: 0 }]) {
      const { kills, saves, drains, meanUs } = preempted('killRestart', tells);
      expect([kills, saves > 0, saves + drains > 40]).toEqual([0, true, true]);
      expect(meanUs).toBeGreaterThan(aloneUs + 4);
    }
  });

  it('is killed as often as its share of launches, the same ones for the same seed', () => {
    const once = preempted('killRestart', { idempotent: 0.5 });
    const { kills, saves, drains } = once;
    expect(kills / (kills + saves + drains)).toBeGreaterThan(0.35);
    expect(kills / (kills + saves + drains)).toBeLessThan(0.65);
    expect(preempted('killRestart', { idempotent: 0.5 })).toEqual(once);
  });

  it('is killed by a check of whole kernels only where all launches of the kernel may be', () => {
    expect(preempted('klevel', { idempotent: 1 }).kills).toBe(0);
    expect(preempted('klevel', { idempotent: 1, isIdempotentKernel: true }).kills).toBeGreaterThan(90);
  });

  it('takes as long to be copied out as what its blocks hold', () => {
    const { saveNs, saveBytesPerSecond } = V100.timing;
    const { meanSaveUs } = preempted('contextSwitch', { contextBytes: 100_000 });
    expect(meanSaveUs).toBeCloseTo((saveNs + (80 * 100_000 * 1e9) / saveBytesPerSecond) / 1e3, 6);
  });
});
