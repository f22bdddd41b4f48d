import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profileNamed, type EnergyClass } from '../profiles/index.js';

/**
 * What a warp instruction of each measured load is made of, address arithmetic and the loop's part included, as its
 * machine code says; the loads are those of ../reference/card/power.cu.
 */
const LOADS: Readonly<Record<string, Partial<Record<EnergyClass, number>>>> = {
  asleep: {},
  fma_f32: { issue: 1, float32: 1 },
  fma_f64: { issue: 1, float64: 1 },
  fma_f16x2: { issue: 1, float32: 2 },
  imad: { issue: 1, float32: 2 },
  lop_shift: { issue: 1, integer: 1 },
  popc_add: { issue: 1, special: 0.5, float32: 1 },
  ex2: { issue: 1, special: 1 },
  shared_load: { issue: 4, data: 1, float32: 1, integer: 2 },
  fma_mix: { issue: 1, float32: 1.17, float64: 0.21 },
  l1_load: { issue: 12, data: 4, float32: 4, integer: 5 },
  'read L2 16 MB': { issue: 6, data: 4, float32: 4, l2Port: 512, l2Bytes: 512 },
  'read DRAM': { issue: 6, data: 4, float32: 4, l2Port: 512, l2Bytes: 512, dramBytes: 512 },
  'write DRAM': { issue: 8, data: 4, integer: 5, l2Port: 512, l2Bytes: 1024, dramBytes: 512 },
  'copy DRAM': { issue: 5, data: 4, integer: 2, l2Port: 512, l2Bytes: 768, dramBytes: 512 },
  'atomics spread': { issue: 10, integer: 8, l2Port: 1024, l2Bytes: 1024, atomics: 32 },
};

interface Row {
  readonly load: string;
  readonly watts: number;
  readonly instructionsPerSecond: number;
}

function rows(): Row[] {
  const text = readFileSync(new URL('../reference/h200-power.csv', import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split(','))
    .map((cells) => ({
      load: cells[0].replace(/ \d+x\d+$/, ''),
      watts: Number(cells[8]),
      instructionsPerSecond: Number(cells[16]),
    }))
    .filter(({ load }) => load in LOADS);
}

/** Power at the highest clock, which all these loads have. */
function modelled({ load, instructionsPerSecond }: Row): number {
  const { power, timing } = profileNamed('h200');
  let picojoules = 0;
  for (const [kind, count] of Object.entries(LOADS[load])) {
    picojoules += power.picojoules[kind as EnergyClass] * count;
  }
  const bytes = (LOADS[load].dramBytes ?? 0) * instructionsPerSecond;
  const awake = Math.min(1, bytes / (0.02 * timing.dramBytesPerSecond)) * power.memoryAwakeWatts;
  return power.idleWatts + awake + picojoules * 1e-12 * instructionsPerSecond;
}

describe('power that was measured', () => {
  const errors = rows().map((row) => ({ ...row, error: modelled(row) / row.watts - 1 }));

  it('has loads of every kind', () => {
    expect(new Set(errors.map(({ load }) => load))).toEqual(new Set(Object.keys(LOADS)));
    expect(errors.length).toBeGreaterThan(25);
  });

  it('comes out within 8 %, and within 3 % in the mean', () => {
    for (const { load, watts, error } of errors)
      expect(Math.abs(error), `${load}, ${watts} W`).toBeLessThan(0.08);
    const mean = errors.reduce((sum, { error }) => sum + Math.abs(error), 0) / errors.length;
    expect(mean).toBeLessThan(0.03);
  });
});
