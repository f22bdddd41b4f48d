import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEVICE_RESOURCES, SM_RESOURCES, type LaunchRequest } from './index.js';
import { H200, KnownDevice, blockOf, launchOf } from './tests/knownLaunches.js';
import { forkOf } from './tests/deviceFork.js';
import { capacities } from './timing/index.js';

const amount = (most: number): fc.Arbitrary<number> =>
  fc.oneof(fc.constant(0), fc.double({ min: 1, max: most, noNaN: true }));

const work = fc
  .record({
    issue: fc.double({ min: 10, max: 50_000, noNaN: true }),
    float32: amount(40_000),
    float64: amount(10_000),
    data: amount(5000),
    l2Bytes: amount(200_000),
    dramBytes: amount(200_000),
    atomics: amount(20_000),
    chainCycles: fc.double({ min: 400, max: 60_000, noNaN: true }),
  })
  .map(({ chainCycles, ...amounts }) => blockOf(amounts, chainCycles));

const launch = fc.record({
  blocks: fc.integer({ min: 1, max: 1500 }),
  works: fc.array(work, { minLength: 1, maxLength: 3 }),
  threads: fc.constantFrom(64, 256, 1024),
  priority: fc.integer({ min: 0, max: 5 }),
  mask: fc.oneof(fc.constant(-1n), fc.bigInt({ min: 1n, max: (1n << 66n) - 1n })),
  context: fc.integer({ min: 1, max: 3 }),
  atNs: fc.integer({ min: 0, max: 60_000 }),
});

const mix = fc.record({
  launches: fc.array(launch, { minLength: 1, maxLength: 5 }),
  sharing: fc.constantFrom('shared' as const, 'timeSliced' as const),
  clocks: fc.array(
    fc.record({ atNs: fc.integer({ min: 0, max: 90_000 }), mhz: fc.integer({ min: 600, max: 1980 }) }),
    {
      maxLength: 2,
    },
  ),
});

type Mix = typeof mix extends fc.Arbitrary<infer T> ? T : never;

function requestOf({
  blocks,
  works,
  threads,
  priority,
  mask,
  context,
}: Mix['launches'][number]): LaunchRequest {
  const known = works.map((each, index) => ({
    untilBlock: Math.ceil(((index + 1) * blocks) / works.length),
    work: { ...each, warps: threads / 32 },
  }));
  return launchOf(blocks, known, { threads, priority, tpcMask: mask, context });
}

function run({ launches, sharing, clocks }: Mix, watch?: (device: KnownDevice) => void): KnownDevice {
  const device = new KnownDevice(sharing);
  watch?.(device);
  const steps = [
    ...launches.map((each) => ({ atNs: each.atNs, act: () => void device.gpu.launch(requestOf(each)) })),
    ...clocks.map(({ atNs, mhz }) => ({ atNs, act: () => device.gpu.setClock(mhz * 1e6) })),
  ].sort((a, b) => a.atNs - b.atNs);
  for (const { atNs, act } of steps) {
    device.clock.run(atNs);
    act();
  }
  device.finish();
  return device;
}

const RUNS = { seed: 20_261_128, numRuns: 25 };

describe('whatever runs side by side', () => {
  it('every block runs once, and the work done is the work asked', () => {
    fc.assert(
      fc.property(mix, (given) => {
        const device = run(given);
        const asked = SM_RESOURCES.map(() => 0);
        const askedOfDevice = DEVICE_RESOURCES.map(() => 0);
        const wanted = new Set<string>();
        [...given.launches]
          .sort((a, b) => a.atNs - b.atNs)
          .forEach((each, index) => {
            const { known = [], hi } = requestOf(each);
            for (let block = 0; block < hi; block++) {
              wanted.add(`${index + 1}:${block}`);
              const of = known.find(({ untilBlock }) => block < untilBlock)?.work;
              of?.sm.forEach((each, resource) => (asked[resource] += each));
              of?.device.forEach((each, resource) => (askedOfDevice[resource] += each));
            }
          });
        expect(device.blocks.length).toBe(wanted.size);
        expect(new Set(device.blocks.map(({ launch, block }) => `${launch}:${block}`))).toEqual(wanted);
        const usage = device.gpu.usage();
        usage.sm.forEach((done, resource) =>
          expect(done / Math.max(1, asked[resource])).toBeCloseTo(asked[resource] > 0 ? 1 : 0, 2),
        );
        const dram = DEVICE_RESOURCES.indexOf('dramBytes');
        expect(usage.device[dram]).toBeCloseTo(askedOfDevice[dram], -4);
      }),
      RUNS,
    );
  });

  it('nothing gives more than it has, and SMs are busy no longer than there is time', () => {
    fc.assert(
      fc.property(mix, (given) => {
        let most = 0;
        const device = run(given, ({ gpu }) => {
          gpu.observe({
            onBlocksLeave: () => undefined,
            onSettled: () => {
              const { engine, use } = gpu.state;
              const limits = capacities(H200, engine.clockHz);
              const ofDevice = DEVICE_RESOURCES.map(() => 0);
              for (const { work: each, ratePerNs, count } of engine.groups) {
                each.device.forEach((units, resource) => (ofDevice[resource] += units * ratePerNs * count));
              }
              ofDevice.forEach((perNs, resource) => (most = Math.max(most, perNs / limits.device[resource])));
              const ofSm = Array.from(use.blocks, () => SM_RESOURCES.map(() => 0));
              for (const { work: each, ratePerNs, sms, perSm } of engine.groups) {
                for (const sm of sms) {
                  each.sm.forEach((units, resource) => (ofSm[sm][resource] += units * ratePerNs * perSm));
                }
              }
              for (const perSm of ofSm) {
                perSm.forEach((perNs, resource) => (most = Math.max(most, perNs / limits.sm[resource])));
              }
            },
          });
        });
        // A group's rate is the mean over its SMs, which may differ by a tenth.
        expect(most).toBeLessThan(1.1);
        const { smBusyNs, busyNs } = device.gpu.usage();
        expect(busyNs).toBeLessThanOrEqual(device.clock.nowNs());
        expect(smBusyNs).toBeLessThanOrEqual(H200.sms * busyNs * (1 + 1e-9));
      }),
      RUNS,
    );
  });

  it('goes on in a fork as in the original', () => {
    fc.assert(
      fc.property(mix, fc.integer({ min: 1, max: 300 }), (given, steps) => {
        const device = new KnownDevice(given.sharing);
        for (const each of given.launches) device.gpu.launch(requestOf(each));
        for (let step = 0; step < steps; step++) device.clock.step();
        const before = device.blocks.length;
        const fork = forkOf(device);
        fork.clock.run();
        device.finish();
        expect(fork.blocks).toEqual(device.blocks.slice(before));
        expect(fork.gpu.state).toEqual(device.gpu.state);
      }),
      RUNS,
    );
  });

  it('runs the same twice', () => {
    fc.assert(
      fc.property(mix, (given) => {
        const [first, second] = [run(given), run(given)];
        expect(second.blocks).toEqual(first.blocks);
        expect(second.endsNs).toEqual(first.endsNs);
      }),
      { ...RUNS, numRuns: 10 },
    );
  });
});
