import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FifoPolicy, type SchedulingPolicy } from '../scheduling/index.js';
import { blockAt } from './dispatch/index.js';
import { forkOf } from './tests/deviceFork.js';
import { H200, KnownDevice, blockOf, launchOf, type BlockRun } from './tests/knownLaunches.js';

const launch = fc.record({
  blocks: fc.integer({ min: 1, max: 900 }),
  issue: fc.double({ min: 10, max: 50_000, noNaN: true }),
  dramBytes: fc.oneof(fc.constant(0), fc.double({ min: 1, max: 200_000, noNaN: true })),
  chainCycles: fc.double({ min: 400, max: 60_000, noNaN: true }),
  priority: fc.integer({ min: 0, max: 2 }),
  atNs: fc.integer({ min: 0, max: 60_000 }),
});

const mix = fc.record({
  launches: fc.array(launch, { minLength: 1, maxLength: 6 }),
  threads: fc.constantFrom(1024, 512),
  sharedBytes: fc.constantFrom(1024, 200 * 1024),
});

type Mix = typeof mix extends fc.Arbitrary<infer T> ? T : never;

/** The same decisions, and nobody next in line: the device asks at every end. */
function asking(): SchedulingPolicy {
  const fifo = new FifoPolicy();
  return {
    name: 'asking',
    decide: (view) => fifo.decide(view),
    snapshot: () => fifo.snapshot(),
    restore: () => undefined,
  };
}

function started(given: Mix, policy: SchedulingPolicy) {
  const device = new KnownDevice('shared', H200, policy);
  const runs: BlockRun[] = [];
  device.gpu.observe({
    onBlocksLeave: ({ id }, group, _done, endNs) => {
      for (let place = 0; place < group.count; place++) {
        const sm = group.sms[Math.floor(place / group.perSm)];
        runs.push({ launch: id, block: blockAt(group, place), sm, startNs: group.startNs, endNs });
      }
    },
    onSettled: () => undefined,
  });
  launchAll(device, given);
  return { device, runs };
}

function launchAll(device: KnownDevice, { launches, threads, sharedBytes }: Mix): void {
  for (const { blocks, atNs, priority, chainCycles, ...amounts } of [...launches].sort(
    (a, b) => a.atNs - b.atNs,
  )) {
    const block = { threads, warps: threads / 32, registers: threads * 32, sharedBytes };
    const more = { threads, block, sharedBytes, priority, reportBlocks: false };
    device.launchAt(atNs, launchOf(blocks, blockOf(amounts, chainCycles, threads / 32), more));
  }
}

const RUNS = { seed: 20_261_128, numRuns: 25 };

describe('places that blocks leave', () => {
  it('go to the blocks that would have been dispatched there', () => {
    fc.assert(
      fc.property(mix, (given) => {
        const [passed, asked] = [started(given, new FifoPolicy()), started(given, asking())];
        passed.device.finish();
        asked.device.finish();
        expect(passed.runs).toEqual(asked.runs);
        expect(passed.device.endsNs).toEqual(asked.device.endsNs);
        expect(passed.device.gpu.usage()).toEqual(asked.device.gpu.usage());
      }),
      RUNS,
    );
  });

  it('go to them without a look in between, to the last bit, where nobody watches', () => {
    fc.assert(
      fc.property(mix, (given) => {
        const { device: watched } = started(given, new FifoPolicy());
        const alone = new KnownDevice('shared', H200, new FifoPolicy());
        launchAll(alone, given);
        watched.finish();
        alone.finish();
        expect(alone.gpu.state).toEqual(watched.gpu.state);
        expect(alone.endsNs).toEqual(watched.endsNs);
        expect(alone.gpu.usage()).toEqual(watched.gpu.usage());
        expect(alone.agenda.sequence).toBe(watched.agenda.sequence);
      }),
      RUNS,
    );
  });

  it('go to the same in a fork', () => {
    fc.assert(
      fc.property(mix, (given) => {
        const { device } = started(given, new FifoPolicy());
        const fork = forkOf(device);
        fork.clock.run();
        device.finish();
        expect(fork.gpu.state).toEqual(device.gpu.state);
      }),
      RUNS,
    );
  });
});
