import { describe, expect, it } from 'vitest';
import { profileNamed } from '../../simulator/gpu/index.js';
import { gpuStatus } from './gpuStatus.js';
import { gpuSample } from './tests/gpuSamples.js';

const { limits, memory } = profileNamed('h200');

describe('the status of a GPU', () => {
  it('is what happened between two samples, in shares and rates', () => {
    const status = gpuStatus('node0', { latest: gpuSample(5e9), earlier: gpuSample(4e9) });
    expect(status).toMatchObject({
      productName: 'NVIDIA H200',
      spanNs: 1e9,
      usedBytes: 1000,
      totalBytes: memory.declaredBytes,
      launches: 2,
      smClockHz: 1.98e9,
      memoryClockHz: 6.251e9,
      powerLimitWatts: 700,
      energyMillijoules: 1.25e6,
    });
    expect(status.powerWatts).toBeCloseTo(250);
    expect(status.busyShare).toBeCloseTo(0.75);
    expect(status.smActiveShare).toBeCloseTo(0.5);
    expect(status.occupancyShare).toBeCloseTo((0.5 * 16) / limits.warpsPerSm);
    expect(status.float32Share).toBeCloseTo(0.25);
    expect(status.float64Share).toBeCloseTo(0.125);
    expect(status.memoryShare).toBeCloseTo(0.5);
    expect(status.toDeviceBytesPerSecond).toBeCloseTo(2e9);
    expect(status.toHostBytesPerSecond).toBeCloseTo(1e9);
    const [one, two] = status.contexts;
    expect(one.smShare).toBeCloseTo(0.125);
    expect(two.smShare).toBeCloseTo(0.375);
    expect(one.smShare + two.smShare).toBeCloseTo(status.smActiveShare);
    expect(two.owner?.model).toBe('m');
  });

  it('goes back to the beginning where there is one sample, and is all zeros of an idle card', () => {
    const { busyShare, spanNs } = gpuStatus('node0', { latest: gpuSample(2e9), earlier: undefined });
    expect([busyShare, spanNs]).toEqual([0.75, 2e9]);
    const still = gpuSample(3e9);
    const idle = gpuStatus('node0', { latest: { ...still, asOfNs: 4e9 }, earlier: still });
    expect(idle.busyShare + idle.smActiveShare + idle.memoryShare + idle.float32Share).toBe(0);
    expect(idle.contexts.map(({ smShare }) => smShare)).toEqual([0, 0]);
    const none = gpuStatus('node0', { latest: still, earlier: still });
    expect(Object.values(none).filter((value) => Number.isNaN(value))).toEqual([]);
  });

  it('names each GPU of each node, the same in every run', () => {
    const uuids = [
      gpuStatus('node0', { latest: gpuSample(1), earlier: undefined }),
      gpuStatus('node0', { latest: gpuSample(1, { gpu: 1 }), earlier: undefined }),
      gpuStatus('node1', { latest: gpuSample(1), earlier: undefined }),
    ].map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(3);
    for (const uuid of uuids) expect(uuid).toMatch(/^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(gpuStatus('node0', { latest: gpuSample(9), earlier: undefined }).uuid).toBe(uuids[0]);
  });
});
