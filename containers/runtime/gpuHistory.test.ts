import { describe, expect, it } from 'vitest';
import { GpuHistory } from './gpuHistory.js';
import type { GpuSample } from './gpuSample.js';

function samples(asOfNs: number): GpuSample[] {
  return [0, 1].map((gpu) => ({ gpu, asOfNs }) as GpuSample);
}

describe('GpuHistory', () => {
  it('gives spans of at least what was asked for, once there are samples', () => {
    const history = new GpuHistory(100);
    expect(history.spans()).toEqual([]);
    history.add(samples(10));
    expect(history.spans()).toEqual(samples(10).map((latest) => ({ latest, earlier: undefined })));
    for (const asOfNs of [50, 90, 130, 170]) history.add(samples(asOfNs));
    // From 50: a span from 90 would be too short.
    expect(
      history.spans().map(({ latest, earlier }) => [latest.gpu, earlier?.asOfNs, latest.asOfNs]),
    ).toEqual([
      [0, 50, 170],
      [1, 50, 170],
    ]);
    history.add(samples(5000));
    expect(history.spans()[0].earlier?.asOfNs).toBe(170);
    history.clear();
    expect(history.spans()).toEqual([]);
  });
});
