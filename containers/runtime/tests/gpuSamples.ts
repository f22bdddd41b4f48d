import { DEVICE_RESOURCES, SM_RESOURCES, profileNamed } from '../../../simulator/gpu/index.js';
import type { GpuSample } from '../gpuSample.js';
import { Reservations, type NodeRoom } from '../placement/index.js';

const { sms, memory, timing } = profileNamed('h200');

function amounts(names: readonly string[], of: Readonly<Record<string, number>>): number[] {
  return names.map((name) => of[name] ?? 0);
}

/** No launch has been taken off the SMs. */
const NONE: GpuSample['preemptions'] = {
  kills: 0,
  saves: 0,
  drains: 0,
  restores: 0,
  killNs: 0,
  saveNs: 0,
  drainNs: 0,
  wastedBlockNs: 0,
  criticalLaunches: 0,
  criticalWaitNs: 0,
  criticalMostWaitNs: 0,
};

/**
 * A sample after `ns` of a card that has been busy for three quarters of the time, with a half of its SMs' time at 16 warps: a
 * quarter of them of a context that is nobody's, the others of replica 0 of model `m`. A quarter of the fp32 pipes is at work,
 * an eighth of the fp64 pipes, a half of the memory, for kernels and copies alike; it takes 250 W.
 */
export function gpuSample(ns: number, more: Partial<GpuSample> = {}): GpuSample {
  return {
    gpu: 0,
    profile: 'h200',
    asOfNs: ns,
    sensors: {
      atNs: ns,
      powerWatts: 300,
      averagePowerWatts: 300,
      powerLimitWatts: 700,
      energyMillijoules: 250 * (ns / 1e6),
      smClockHz: 1.98e9,
      applicationClockHz: 1.98e9,
      memoryClockHz: 6.251e9,
      throttle: 'none',
    },
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
    preemptions: NONE,
    launches: 2,
    launched: 1000 * (ns / 1e9),
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

/** Of a node of H200s on which nothing runs. */
export function emptyRoom(node: string, gpus = 1): NodeRoom {
  return new Reservations(
    node,
    new Array<ReturnType<typeof profileNamed>>(gpus).fill(profileNamed('h200')),
  ).room();
}
