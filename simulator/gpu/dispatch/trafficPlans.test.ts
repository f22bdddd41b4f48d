import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { emptyCounters, loadModule, NodeMemory, type ExecutorLaunch } from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { profileNamed } from '../profiles/index.js';
import { planTraffic, touchSegments, type KernelProfile, type L2State } from '../timing/index.js';
import { launchOf, blockOf } from '../tests/knownLaunches.js';
import { BlockWorks } from './blockWorks.js';
import { launchRecord } from './launchRecord.js';
import { TrafficPlans } from './trafficPlans.js';

const h200 = profileNamed('h200');
const curve = h200.timing.l2MissCurve;
const VECADD = 'simulator/gpu/reference/kernels/vecadd.ptx';
const BYTES = 4096;
const COUNTERS = { warpInstructions: 20, blocks: 2 };

const extent = { perBlockBytes: 1024, commonBytes: 0, spanBytes: BYTES };
const none = { perBlockBytes: 0, commonBytes: 0, spanBytes: 0 };
const PROFILE: KernelProfile = {
  work: blockOf({ issue: 100, l2Bytes: 2048 }, 1000),
  chainDramCycles: 1500,
  warpInstructions: 10,
  segments: [
    { parameter: 0, segment: 0, read: extent, written: none, touched: extent },
    { parameter: 2, segment: 0, read: none, written: extent, touched: extent },
  ],
  tracedBlocks: 4,
  l2TrafficBytes: 2048,
};

function surroundings() {
  const space = new NodeMemory({ backingBytes: 2 ** 23 }).createSpace();
  const module = loadModule(parseModule(readFileSync(VECADD, 'utf8'), VECADD), space);
  const [kernel] = module.ir.functions.filter(({ isEntry }) => isEntry);
  const map = (): number => space.map(BYTES, 'readWrite').virtualAddress;
  const addresses = [map(), map(), map()];
  const spare = map();
  const l2: L2State = { entries: [] };
  const plans = new TrafficPlans(h200, l2);
  const launch = (buffers: readonly number[]): ExecutorLaunch => {
    const params = new Uint8Array(28);
    buffers.forEach((address, at) => new DataView(params.buffer).setBigUint64(8 * at, BigInt(address), true));
    return { module, kernel, shape: launchOf(4, []).shape, params };
  };
  const planOf = (buffers: readonly number[], other = 0, context = 1, counters = COUNTERS) =>
    plans.planOf(
      launchRecord(launchOf(4, [], { context }), { id: 1, leadNs: 0 }, 0, 0, false, -1n),
      launch(buffers),
      PROFILE,
      counters,
      4,
      other,
    );
  return { space, addresses, spare, l2, planOf };
}

describe('plans of equal launches', () => {
  it('are one object while caches are alike, and so is the work of their blocks', () => {
    const { addresses, l2, planOf } = surroundings();
    const cold = planOf(addresses);
    expect(planOf(addresses)).toBe(cold);
    touchSegments(l2, cold.touched, curve);
    const warm = planOf(addresses);
    expect(warm.dramBytesPerBlock).toBeLessThan(cold.dramBytesPerBlock);
    expect(planOf(addresses)).toBe(warm);
    const works = new BlockWorks(h200);
    const counters = { ...emptyCounters(), ...COUNTERS };
    const work = works.workOf(PROFILE, warm, counters);
    expect(works.workOf(PROFILE, warm, { ...counters, warpInstructions: 40, blocks: 4 })).toBe(work);
    expect(works.workOf(PROFILE, warm, { ...counters, warpInstructions: 21 })).not.toBe(work);
    expect(works.workOf(PROFILE, cold, counters)).not.toBe(work);
  });

  it('are others for other buffers, contexts, lengths of blocks and company', () => {
    const { addresses, spare, planOf } = surroundings();
    const plan = planOf(addresses);
    const [a, b, c] = addresses;
    const others = [
      planOf([a, b, spare]),
      planOf([a, b, c], 1000),
      planOf([a, b, c], 0, 2),
      planOf([a, b, c], 0, 1, { warpInstructions: 30, blocks: 2 }),
    ];
    for (const other of others) expect(other).not.toBe(plan);
    expect(others[0].touched.map(({ key }) => key)).toEqual([`1:${a}`, `1:${spare}`]);
  });

  it('are worked out anew when a buffer has been freed and another stands in its place', () => {
    const { space, addresses, planOf } = surroundings();
    const before = planOf(addresses);
    space.unmap(addresses[2]);
    const after = planOf(addresses);
    expect(after).not.toBe(before);
    expect(after.touched[1].key).toBe('1:-1');
  });

  it('tell what a plan made for the launch alone tells', () => {
    const { addresses, l2, planOf } = surroundings();
    const { touched } = planOf(addresses);
    touchSegments(l2, touched, curve);
    const [a, , c] = addresses;
    const use = { footprintBytes: BYTES, readBytes: 0, writtenBytes: 0 };
    const uses = [
      { ...use, segment: a, readBytes: BYTES },
      { ...use, segment: c, writtenBytes: BYTES },
    ];
    const keys = [`1:${a}`, `1:${c}`];
    expect(planOf(addresses)).toEqual(
      planTraffic(PROFILE, l2, h200, uses, 2 * BYTES, keys, 4, 0, COUNTERS.warpInstructions / 2 / 10),
    );
  });
});
