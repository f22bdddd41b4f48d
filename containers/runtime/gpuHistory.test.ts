import { describe, expect, it } from 'vitest';
import { GpuHistory, type NodeSample } from './gpuHistory.js';
import type { GpuSample } from './gpuSample.js';

/** The host has been busy for a half of the time. */
function sample(asOfNs: number): NodeSample {
  const gpus = [0, 1].map((gpu) => ({ gpu, asOfNs }) as GpuSample);
  return { gpus, hostNs: 1000 + 3 * asOfNs, hostBusyNs: 1.5 * asOfNs };
}

describe('GpuHistory', () => {
  it('gives spans of at least what was asked for, once there are samples', () => {
    const history = new GpuHistory(100);
    expect(history.spans()).toEqual([]);
    history.add(sample(10));
    expect(history.hostBusyShare()).toBeUndefined();
    expect(history.spans()).toEqual(sample(10).gpus.map((latest) => ({ latest, earlier: undefined })));
    for (const asOfNs of [50, 90, 130, 170]) history.add(sample(asOfNs));
    // From 50: a span from 90 would be too short.
    expect(
      history.spans().map(({ latest, earlier }) => [latest.gpu, earlier?.asOfNs, latest.asOfNs]),
    ).toEqual([
      [0, 50, 170],
      [1, 50, 170],
    ]);
    history.add(sample(5000));
    expect(history.spans()[0].earlier?.asOfNs).toBe(170);
    expect(history.hostBusyShare()).toBeCloseTo(0.5);
    history.clear();
    expect(history.hostBusyShare()).toBeUndefined();
    expect(history.spans()).toEqual([]);
  });
});
