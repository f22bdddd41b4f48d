import { describe, expect, it } from 'vitest';
import { DEVICE_RESOURCES, SM_RESOURCES, profileNamed } from '../../simulator/gpu/index.js';
import type { GpuSample } from './gpuSample.js';
import { gpuStatus } from './gpuStatus.js';

const { sms, limits, memory, timing } = profileNamed('h200');

function amounts(names: readonly string[], of: Readonly<Record<string, number>>): number[] {
  return names.map((name) => of[name] ?? 0);
}

/** After `ns` of a card whose SMs hold 16 warps each for a half of the time. */
function sample(ns: number, more: Partial<GpuSample> = {}): GpuSample {
  return {
    gpu: 0,
    profile: 'h200',
    asOfNs: ns,
    smClockHz: 1.98e9,
    smCycles: 1.98 * ns,
    busyNs: 0.75 * ns,
    smBusyNs: 0.5 * sms * ns,
    warpNs: 0.5 * sms * 16 * ns,
    blocks: 3,
    sm: amounts(SM_RESOURCES, {
      float32: 0.25 * timing.float32PerCycle * sms * 1.98 * ns,
      float64: 0.125 * timing.float64PerCycle * sms * 1.98 * ns,
    }),
    device: amounts(DEVICE_RESOURCES, { dramBytes: 0.25 * (memory.declaredBytesPerSecond / 1e9) * ns }),
    usedBytes: 1000,
    copies: {
      toDeviceBytes: 2 * ns,
      toHostBytes: ns,
      memoryBytes: 0.25 * (memory.declaredBytesPerSecond / 1e9) * ns,
    },
    launches: 2,
    contexts: [
      { context: 1, warpNs: 0.5 * sms * 4 * ns, usedBytes: 600, queued: 1 },
      {
        context: 2,
        warpNs: 0.5 * sms * 12 * ns,
        usedBytes: 400,
        queued: 0,
        owner: { model: 'm', version: '1', replica: '0' },
      },
    ],
    ...more,
  };
}

describe('the status of a GPU', () => {
  it('is what happened between two samples, in shares and rates', () => {
    const status = gpuStatus('node0', { latest: sample(5e9), earlier: sample(4e9) });
    expect(status).toMatchObject({
      productName: 'NVIDIA H200',
      spanNs: 1e9,
      usedBytes: 1000,
      totalBytes: memory.declaredBytes,
      launches: 2,
    });
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
    const { busyShare, spanNs } = gpuStatus('node0', { latest: sample(2e9), earlier: undefined });
    expect([busyShare, spanNs]).toEqual([0.75, 2e9]);
    const still = sample(3e9);
    const idle = gpuStatus('node0', { latest: { ...still, asOfNs: 4e9 }, earlier: still });
    expect(idle.busyShare + idle.smActiveShare + idle.memoryShare + idle.float32Share).toBe(0);
    expect(idle.contexts.map(({ smShare }) => smShare)).toEqual([0, 0]);
    const none = gpuStatus('node0', { latest: still, earlier: still });
    expect(Object.values(none).filter((value) => Number.isNaN(value))).toEqual([]);
  });

  it('names each GPU of each node, the same in every run', () => {
    const uuids = [
      gpuStatus('node0', { latest: sample(1), earlier: undefined }),
      gpuStatus('node0', { latest: sample(1, { gpu: 1 }), earlier: undefined }),
      gpuStatus('node1', { latest: sample(1), earlier: undefined }),
    ].map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(3);
    for (const uuid of uuids) expect(uuid).toMatch(/^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(gpuStatus('node0', { latest: sample(9), earlier: undefined }).uuid).toBe(uuids[0]);
  });
});
