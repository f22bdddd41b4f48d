import { expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { FrontendCpu } from './frontendCpu.js';
import {
  FRONTEND_COSTS,
  SEED,
  SCALING_CASES,
  runScaling,
  type ScalingSettings,
} from './replicaScalingExperiment.js';

const [, tenGigabit, oneGigabit, digits] = SCALING_CASES.map(
  ({ model, placement, clientsPerReplica }): ScalingSettings => ({
    seed: SEED,
    model,
    placement,
    clientsPerReplica,
    replicas: 1,
    objectiveMs: 100,
    warmUpSeconds: 0.4,
    seconds: 0.8,
    costs: FRONTEND_COSTS,
  }),
);

it('takes jobs in order, and what a job sends out of its own time', () => {
  const clock = new VirtualClock();
  const cpu = new FrontendCpu(clock, 'cpu', FRONTEND_COSTS);
  const ends: number[] = [];
  cpu.take(10, () => {
    ends.push(clock.nowNs());
    cpu.charge(5);
  });
  cpu.take(20, () => ends.push(clock.nowNs()));
  clock.run();
  expect(ends).toEqual([10, 35]);
  expect(cpu.busyNs).toBe(35);
});

it('serves nearly four times as much from four replicas over 10 Gb/s', () => {
  const one = runScaling(tenGigabit);
  const four = runScaling({ ...tenGigabit, replicas: 4 });
  expect(one.inTimePerSecond).toBeGreaterThan(5000);
  expect(four.inTimePerSecond / one.inTimePerSecond).toBeGreaterThan(3.8);
  expect(four.cardShare).toBeLessThan(0.2);
});

it('fills a card of 1 Gb/s with the second remote replica', () => {
  const two = runScaling({ ...oneGigabit, replicas: 2 });
  const three = runScaling({ ...oneGigabit, replicas: 3 });
  expect(two.cardShare).toBeLessThan(0.6);
  expect(three.cardShare).toBeGreaterThan(0.9);
  expect(three.cardShare).toBeLessThanOrEqual(1.0001);
});

it('is bound by the thread of the frontend where queries are many and small', () => {
  const three = runScaling({ ...digits, replicas: 3, seconds: 0.4 });
  expect(three.frontendCpuShare).toBeGreaterThan(0.97);
  expect(three.inTimePerSecond).toBeLessThan(3 * 18_000);
});
