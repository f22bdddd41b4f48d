import { describe, expect, it } from 'vitest';
import { formatMs, formatNumber, formatShare } from './page/format.js';
import { heatOf } from './page/heat.js';
import { Colours } from './page/colours.js';
import { History } from './page/history.js';
import { Recording } from './page/recording.js';
import { TimeWindow } from './page/timeWindow.js';

describe('History', () => {
  const point = (values: Record<string, number | null>) => new Map(Object.entries(values));

  it('keeps columns of equal length, with gaps where a series has no value', () => {
    const history = new History(3);
    expect(history.push(1, point({ a: 1 }))).toBe(true);
    expect(history.push(2, point({ a: 2, b: 5 }))).toBe(true);
    expect(history.push(3, point({ b: 6 }))).toBe(false);
    expect(history.times).toEqual([1, 2, 3]);
    expect(history.column('a')).toEqual([1, 2, null]);
    expect(history.column('b')).toEqual([null, 5, 6]);
    expect([history.last('a'), history.last('b')]).toEqual([null, 6]);
    history.keep((name) => name === 'b');
    expect(history.names).toEqual(['b']);
  });

  it('forgets old points, and a series of gaps only', () => {
    const history = new History(2);
    history.push(1, point({ a: 1, constructor: 2 }));
    history.push(2, point({ constructor: 3 }));
    expect(history.push(3, point({ constructor: 4 }))).toBe(true);
    expect(history.names).toEqual(['constructor']);
    expect(history.column('constructor')).toEqual([3, 4]);
  });

  it('keeps a series that is named without a value', () => {
    const history = new History(1);
    history.push(1, point({ a: null }));
    expect(history.push(2, point({ a: null }))).toBe(false);
    expect(history.names).toEqual(['a']);
  });

  it('holds so many series and no more', () => {
    const history = new History(2, 2);
    history.push(1, point({ a: 1, b: 2, c: 3 }));
    expect(history.names).toEqual(['a', 'b']);
  });
});

describe('the colour of an SM', () => {
  it('is none for an idle one, and grows by the decade', () => {
    expect(heatOf(0)).toBe(0);
    expect(heatOf(NaN)).toBe(0);
    expect(heatOf(1e-9)).toBe(0.05);
    expect(heatOf(0.001)).toBeCloseTo(0.4);
    expect(heatOf(0.1)).toBeCloseTo(0.8);
    expect(heatOf(1)).toBe(1);
  });
});

describe('formats', () => {
  const spaced = (text: string): string => text.replaceAll('\u00a0', ' ');

  it.each([
    [0, '0'],
    [3, '3'],
    [0.257, '0.26'],
    [42.27, '42.3'],
    [5331.2, '5331'],
    [53_312, '53.3 k'],
    [2_500_000, '2.5 M'],
  ])('number %d', (value, text) => expect(spaced(formatNumber(value))).toBe(text));

  it.each([
    [0, '0'],
    [0.0124, '12 µs'],
    [1.26, '1.3 ms'],
    [20, '20 ms'],
    [1260, '1.26 s'],
  ])('%d ms', (value, text) => expect(spaced(formatMs(value))).toBe(text));

  it.each([
    [0, '0 %'],
    [1, '100 %'],
    [0.052, '5.2 %'],
    [0.00042, '0.042 %'],
    [1e-7, '< 0.001 %'],
  ])('share %d', (value, text) => expect(spaced(formatShare(value))).toBe(text));
});

describe('what a page has of the recording', () => {
  const columns = [['rate', 'predicted', [1, 2]]] as const;
  const loaded = (times = [1000, 3000]) => {
    const recording = new Recording();
    recording.load({ everyMs: 2000, points: 3, times, columns, changes: [] });
    return recording;
  };
  const change = (at: number) => ({ at, kind: 'deploy', what: 'm', text: 'deployed' }) as const;

  it('goes on point by point, and forgets what is too old', () => {
    const recording = loaded();
    recording.push({ atMs: 5000, values: [['rate', 'predicted', 3]], changes: [change(4000)] });
    recording.push({ atMs: 7000, values: [['defaults', 'constructor', 4]], changes: [] });
    expect(recording.times).toEqual([3, 5, 7]);
    expect(recording.chart('rate').column('predicted')).toEqual([2, 3, null]);
    expect(recording.chart('defaults').column('constructor')).toEqual([null, null, 4]);
    expect(recording.chart('defaults').times).toEqual(recording.times);
    expect(recording.chart('cache').times).toEqual(recording.times);
    expect(recording.changes).toHaveLength(1);
    for (let atMs = 9000; atMs < 14_000; atMs += 2000) recording.push({ atMs, values: [], changes: [] });
    expect(recording.changes).toEqual([]);
    expect(recording.chart('defaults').names).toEqual([]);
  });

  it('is replaced by another one', () => {
    const recording = loaded();
    recording.load({ everyMs: 2000, points: 3, times: [9000], columns: [], changes: [] });
    expect([recording.times, recording.chart('rate').names]).toEqual([[9], []]);
  });

  const shown = (recording = { newest: 600, spanSeconds: 600 }) => {
    let changes = 0;
    const window = new TimeWindow(recording, () => (changes += 1));
    const part = () => [window.from, window.to].map((each) => Math.round(each * 100) / 100);
    return { window, part, changes: () => changes };
  };

  it('is shown in parts: zoomed around a moment, moved, and never beyond what there is', () => {
    const { window, part, changes } = shown();
    expect(part()).toEqual([0, 600]);
    window.zoom(2);
    expect(part()).toEqual([300, 600]);
    window.pan(1e6);
    expect(part()).toEqual([300, 600]);
    window.pan(-1e6);
    expect(part()).toEqual([0, 300]);
    window.zoom(2, 150);
    expect(part()).toEqual([75, 225]);
    window.zoom(1e9);
    expect(part()).toEqual([205, 225]);
    window.zoom(1e-9);
    expect(part()).toEqual([0, 600]);
    window.show(400, 100);
    expect(part()).toEqual([80, 100]);
    window.reset();
    expect([part(), window.isWhole, changes()]).toEqual([[0, 600], true, 8]);
  });

  it('moves on with the newest point, or stays where somebody looks until that is forgotten', () => {
    const recording = { newest: 600, spanSeconds: 600 };
    const { window, part } = shown(recording);
    window.zoom(6);
    recording.newest = 610;
    expect(part()).toEqual([510, 610]);
    window.show(100, 200);
    recording.newest = 650;
    expect(part()).toEqual([100, 200]);
    recording.newest = 900;
    expect(part()).toEqual([300, 400]);
  });
});

describe('colours', () => {
  it('are remembered of so many names and no more', () => {
    const colours = new Colours();
    const first = colours.of('a');
    expect(colours.of('b')).not.toBe(first);
    expect(colours.of('a')).toBe(first);
    for (let k = 0; k < 10_000; k++) expect(colours.of(`m${k}`)).toMatch(/^--series-[0-7]$/);
  });
});
