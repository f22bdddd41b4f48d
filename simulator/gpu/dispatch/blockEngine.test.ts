import { describe, expect, it } from 'vitest';
import { profileNamed } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from '../timing/index.js';
import { BlockEngine, allowedSms, emptyEngine, emptySmUse, placeBlocks } from './index.js';

const h200 = profileNamed('h200');
const FOOTPRINT = { threads: 256, warps: 8, registers: 8192, sharedBytes: 1024 };

function work(issue: number, chainCycles: number): BlockWork {
  return {
    sm: SM_RESOURCES.map((name) => (name === 'issue' ? issue : 0)),
    device: DEVICE_RESOURCES.map(() => 0),
    chainCycles,
    chainFixedNs: 0,
    warps: 8,
  };
}

function runToEnd(engine: BlockEngine): { events: number; endNs: number } {
  let events = 0;
  let endNs = engine.state.asOfNs;
  for (let nextNs = engine.rerate(); nextNs !== undefined; nextNs = engine.rerate()) {
    engine.advance(nextNs);
    expect(engine.takeFinished().length).toBeGreaterThan(0);
    events += 1;
    endNs = nextNs;
  }
  return { events, endNs };
}

describe('block engine', () => {
  it('ends a uniform wave in one event', () => {
    const engine = new BlockEngine(h200, emptyEngine(h200, 0));
    const sms = placeBlocks(h200, emptySmUse(h200.sms), allowedSms(h200, -1n), FOOTPRINT, 1056);
    engine.add(1, [{ work: work(1000, 500), firstBlock: 0, sms }]);
    expect(runToEnd(engine).events).toBe(1);
  });

  it('lets a block go on faster once its neighbours are gone', () => {
    const engine = new BlockEngine(h200, emptyEngine(h200, 0));
    const short = work(40_000, 10);
    const long = work(80_000, 10);
    engine.add(1, [
      { work: short, firstBlock: 0, sms: [0] },
      { work: long, firstBlock: 1, sms: [0] },
    ]);
    const cycles = runToEnd(engine).endNs * 1.98;
    // Both share until the short one is done (20,000 cycles), then the long one's other half runs alone.
    expect(cycles).toBeGreaterThan(29_000);
    expect(cycles).toBeLessThan(32_000);
  });

  it('keeps the work done when the clock changes', () => {
    const engine = new BlockEngine(h200, emptyEngine(h200, 0));
    engine.add(1, [{ work: work(0, 19_800), firstBlock: 0, sms: [0] }]);
    engine.rerate();
    engine.advance(5000);
    engine.setClock(h200.clockHz / 2);
    expect(engine.rerate()).toBeCloseTo(15_000, 0);
  });

  it('splits blocks beside a hog from those on free SMs', () => {
    const engine = new BlockEngine(h200, emptyEngine(h200, 0));
    engine.add(1, [{ work: work(1e6, 10), firstBlock: 0, sms: [0] }]);
    engine.add(2, [{ work: work(10_000, 10), firstBlock: 0, sms: [0, 1, 2, 3] }]);
    engine.rerate();
    const rates = engine.state.groups.filter((group) => group.launch === 2).map((group) => group.ratePerNs);
    expect(rates).toHaveLength(2);
    expect(Math.max(...rates) / Math.min(...rates)).toBeGreaterThan(1.5);
  });
});

describe('placement', () => {
  it('goes round the SMs before it doubles up, and stays in the mask', () => {
    const use = emptySmUse(h200.sms);
    const placed = placeBlocks(h200, use, allowedSms(h200, -1n), FOOTPRINT, 140);
    expect(new Set(placed.slice(0, 132)).size).toBe(132);
    expect(Math.max(...use.blocks)).toBe(2);
    expect(use.busySms).toBe(use.blocks.filter((blocks) => blocks > 0).length);
    expect([...allowedSms(h200, 0b11n)].sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    const masked = placeBlocks(h200, emptySmUse(h200.sms), allowedSms(h200, 1n), FOOTPRINT, 99);
    expect(masked).toHaveLength(16);
  });

  it('fills empty SMs in one order, whether all have room on them or not', () => {
    const sms = allowedSms(h200, -1n);
    const [crowded, roomy] = [emptySmUse(h200.sms), emptySmUse(h200.sms)];
    for (const use of [crowded, roomy]) placeBlocks(h200, use, sms.slice(5, 9), FOOTPRINT, 6);
    const all = placeBlocks(h200, crowded, sms, FOOTPRINT, 200);
    const each = Array.from({ length: 128 }, () => placeBlocks(h200, roomy, sms, FOOTPRINT, 1)).flat();
    expect(each).toEqual(all.slice(0, 128));
    expect(Math.max(...roomy.blocks)).toBe(2);
  });
});
