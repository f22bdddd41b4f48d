import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runLaunchSpecFile } from '../launchSpec/index.js';
import { ruleBreaks, type Trace, type TraceEvent } from './tests/traceRules.js';

const vecadd = fileURLToPath(new URL('../gpu/reference/launches/vecadd__n-4194304.json', import.meta.url));

describe('the timeline of a real launch', () => {
  it('moves the bytes, uses the energy and runs the blocks that its report tells of', () => {
    let text = '';
    const report = runLaunchSpecFile(vecadd, { timeline: (piece) => (text += piece) });
    const trace = JSON.parse(text) as Trace;
    expect(ruleBreaks(trace)).toEqual([]);
    const launch = trace.traceEvents.find(({ cat, name }) => cat === 'stream' && name === 'vecadd');
    const { ts = 0, dur = 0, args = {} } = launch ?? {};
    expect(args.durationUs).toBe(report.durationUs);
    expect(args.dramBytes).toBe(report.dramBytes);
    expect(report.dramBytes).toBeGreaterThan(1e6);
    const blocks = trace.traceEvents.filter(({ cat }) => cat === 'blocks');
    expect(blocks.reduce((sum, slice) => sum + Number(slice.args?.blocks), 0)).toBe(args.blocks);
    const within = (name: string): number => integral(trace.traceEvents, name, ts, ts + dur);
    // GB/s times us are kB.
    expect((within('DRAM GB/s') * 1e3) / report.dramBytes).toBeCloseTo(1, 2);
    // W times us are uJ.
    expect(within('power W') / 1e3 / Number(args.energyMillijoules)).toBeCloseTo(1, 1);
    expect(within('SM utilisation %')).toBeLessThanOrEqual(100 * dur);
  });
});

/** Of a counter that stands until its next value, over microseconds. */
function integral(events: readonly TraceEvent[], name: string, fromUs: number, toUs: number): number {
  const points = events.filter((event) => event.ph === 'C' && event.name === name);
  return points.reduce((sum, { ts, args }, index) => {
    const next = index + 1 < points.length ? points[index + 1].ts : Infinity;
    return sum + Number(args?.value) * Math.max(0, Math.min(toUs, next) - Math.max(fromUs, ts));
  }, 0);
}
