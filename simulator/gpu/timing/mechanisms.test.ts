import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { profileNamed } from '../profiles/index.js';
import { BlockTracer } from './blockTracer.js';
import { busiestTurns } from './contention.js';
import type { TracedBlock } from './tracedBlock.js';
import { blockNs, schedulerBalance } from './blockTime.js';
import { SM_RESOURCES, DEVICE_RESOURCES, capacities, rampedWork, type BlockWork } from './blockWork.js';
import { instructionPlans } from './instructionPlan.js';

const h200 = profileNamed('h200');
const { timing } = h200;
const ALL = -1;

function kernelOf(body: string, registers = ''): ReturnType<typeof parseModule>['functions'][number] {
  const [kernel] = parseModule(
    `.version 9.0
.target sm_90
.address_size 64
.const .align 4 .b8 table[4096];
.visible .entry k(.param .u64 at, .param .u32 n) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>; ${registers}
  ${body}
}`,
    'k.ptx',
  ).functions;
  return kernel;
}

/** One access of one warp. */
function traced(
  body: string,
  opcode: string,
  space: 'global' | 'shared',
  kind: 'load' | 'store' | 'atomic',
  address: (lane: number) => number,
): TracedBlock {
  const kernel = kernelOf(body);
  const index = kernel.instructions.findIndex((instruction) => instruction.opcode === opcode);
  const tracer = new BlockTracer(kernel, h200, 1, 32_768, () => 0, 1);
  tracer.onBlock(0);
  tracer.onInstruction(0, index, ALL);
  tracer.onAccess(
    0,
    index,
    space,
    kind,
    4,
    ALL,
    Float64Array.from({ length: 32 }, (_, lane) => address(lane)),
  );
  tracer.finish();
  return tracer.blocks[0];
}

const atomics = (block: TracedBlock): number => block.device[DEVICE_RESOURCES.indexOf('atomics')];
const sm = (block: TracedBlock, name: (typeof SM_RESOURCES)[number]): number =>
  block.sm[SM_RESOURCES.indexOf(name)];

describe('atomics', () => {
  const OWN =
    'ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;';
  const add = (type: string, value: string): string => `${OWN} red.global.add.${type} [%rd3], ${value}; ret;`;

  it('on one sector go together, on one address one after the other', () => {
    expect(atomics(traced(add('u32', '%r1'), 'red', 'global', 'atomic', (lane) => 4 * lane))).toBe(4);
    expect(atomics(traced(add('u32', '%r1'), 'red', 'global', 'atomic', (lane) => 32 * lane))).toBe(32);
    expect(atomics(traced(add('u32', '%r1'), 'red', 'global', 'atomic', () => 64))).toBe(32);
  });

  const GRID = { profile: h200, gridBlocks: 1, residentBlocks: 1, bytesOf: () => 4096 };
  const turns = (block: TracedBlock): number => busiestTurns([block], GRID);

  it('of floats wait longer for each other', () => {
    expect(turns(traced(add('u32', '%r1'), 'red', 'global', 'atomic', () => 64))).toBe(32);
    expect(turns(traced(add('f32', '%f1'), 'red', 'global', 'atomic', () => 64))).toBeCloseTo(
      32 * timing.floatAtomicTurns,
    );
    // Side by side they do not.
    expect(turns(traced(add('f32', '%f1'), 'red', 'global', 'atomic', (lane) => 4 * lane))).toBe(4);
  });

  it('that compare and swap take longer for several words of a sector', () => {
    const swap = `${OWN} atom.global.cas.b32 %r2, [%rd3], %r1, %r3; ret;`;
    expect(turns(traced(swap, 'atom', 'global', 'atomic', (lane) => 64 + 4 * (lane % 8)))).toBe(
      4 * timing.swapTurns,
    );
    expect(turns(traced(swap, 'atom', 'global', 'atomic', () => 64))).toBe(32);
  });

  it('of 64 bits on an address that the whole warp shares are one only if all lanes bring the same', () => {
    const shared = (value: string): number =>
      atomics(
        traced(
          `ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; red.global.add.u64 [%rd1], ${value}; ret;`,
          'red',
          'global',
          'atomic',
          () => 64,
        ),
      );
    expect(shared('1')).toBe(1);
    expect(shared('%rd2')).toBe(32);
  });

  it('of integers on an address that the whole warp shares are one', () => {
    const body = 'ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; red.global.add.u32 [%rd1], %r1; ret;';
    expect(atomics(traced(body, 'red', 'global', 'atomic', () => 64))).toBe(1);
  });

  it('of floats in shared memory are loops, the longer the more lanes want one word', () => {
    const body =
      '.shared .align 4 .b8 s[4096]; mov.u32 %r1, %tid.x; atom.shared.add.f32 %f1, [%r1], %f2; ret;';
    const apart = traced(body, 'atom', 'shared', 'atomic', (lane) => 4 * lane);
    const together = traced(body, 'atom', 'shared', 'atomic', () => 0);
    expect(sm(together, 'data') / sm(apart, 'data')).toBeCloseTo(32);
    expect(together.chainL2Cycles).toBeGreaterThanOrEqual(apart.chainL2Cycles);
  });
});

describe('constant memory', () => {
  it('is served by lines', () => {
    const body = 'mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; ld.const.f32 %f1, [%rd1]; ret;';
    expect(
      sm(
        traced(body, 'ld', 'global', 'load', () => 0),
        'constant',
      ),
    ).toBe(timing.constantCycles);
    expect(
      sm(
        traced(body, 'ld', 'global', 'load', (lane) => 64 * lane),
        'constant',
      ),
    ).toBeCloseTo(32 * timing.constantCyclesPerLine);
  });
});

describe('stores', () => {
  it('that fill no sector take more of L2', () => {
    const body = 'ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret;';
    const l2 = (block: TracedBlock): number => block.device[DEVICE_RESOURCES.indexOf('l2Bytes')];
    expect(l2(traced(body, 'st', 'global', 'store', (lane) => 4 * lane))).toBe(128 * timing.storeWeightInL2);
    expect(l2(traced(body, 'st', 'global', 'store', (lane) => 32 * lane))).toBe(
      1024 * timing.partialStoreWeightInL2 + 8 * timing.l2TurnBytes,
    );
  });
});

describe('what the assembler makes', () => {
  const slots = (body: string, opcode: string): number[] => {
    const kernel = kernelOf(body);
    const plans = instructionPlans(kernel, timing.latency);
    return kernel.instructions.flatMap((each, index) =>
      each.opcode === opcode ? [plans[index].cost.slots] : [],
    );
  };

  it('one rotation of two shifts', () => {
    const body =
      'mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 7; shr.u32 %r3, %r1, 25; or.b32 %r4, %r2, %r3; mov.u32 %r5, %r4; ret;';
    expect([...slots(body, 'shl'), ...slots(body, 'shr')]).toEqual([0, 0]);
    expect(slots(body.replace('25', '24'), 'shl')[0]).toBeGreaterThan(0);
  });

  it('a loop that counts simply stands four times in a row, with one branch', () => {
    const loop = (step: string): string =>
      `mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; mov.u32 %r3, 0;
       L: xor.b32 %r1, %r1, %r3; add.u32 %r3, %r3, ${step}; setp.lt.u32 %p1, %r3, %r2; @%p1 bra L; ret;`;
    expect(slots(loop('1'), 'bra')[0]).toBeCloseTo(slots(loop('%r1'), 'bra')[0] / 4, 0);
    expect(slots(loop('1'), 'setp')[0]).toBeCloseTo(0.25);
  });

  it('three registers of a multiply-add take more of the pipe than two', () => {
    const ops = (sources: string): number => {
      const kernel =
        kernelOf(`mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, 0f3F800000; add.f32 %f3, %f2, %f1;
        fma.rn.f32 %f4, ${sources}; ret;`);
      const plans = instructionPlans(kernel, timing.latency);
      return plans[kernel.instructions.findIndex(({ opcode }) => opcode === 'fma')].cost.pipeOps;
    };
    expect(ops('%f1, %f1, %f2')).toBe(1);
    expect(ops('%f1, %f2, %f3')).toBeGreaterThan(1.5);
  });
});

describe('schedulers', () => {
  it('with one warp more than another hold the others up', () => {
    expect(schedulerBalance(4, 4)).toBe(1);
    expect(schedulerBalance(2, 4)).toBe(0.5);
    expect(schedulerBalance(5, 4)).toBeCloseTo(0.625);
    expect(schedulerBalance(64, 4)).toBe(1);
  });
});

describe('blocks that start together', () => {
  const limits = capacities(h200, h200.clockHz);
  const work: BlockWork = {
    sm: SM_RESOURCES.map(() => 0),
    device: DEVICE_RESOURCES.map(() => 1),
    chainCycles: 1000,
    chainFixedNs: 0,
    warps: 8,
  };

  it('wait for answers and then for turns; later ones do both at once', () => {
    const first = rampedWork(work, 132, timing.blocksPerCycle);
    expect(blockNs(1000, 1000, first, limits)).toBeGreaterThan(blockNs(1000, 1000, work, limits) * 1.2);
    expect(blockNs(1000, 1000, { ...first, isLoose: true }, limits)).toBe(blockNs(1000, 1000, work, limits));
  });
});

describe('loads and stores', () => {
  it('of which the store may change what is loaded stay in order', () => {
    const orders = (load: string): boolean[] => {
      const kernel = kernelOf(
        `ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ${load} %r2, [%rd1+64]; ret;`,
      );
      return instructionPlans(kernel, timing.latency)
        .slice(2, 4)
        .map(({ order }) => order >= 0);
    };
    expect(orders('ld.global.u32')).toEqual([true, true]);
    expect(orders('ld.global.nc.u32')).toEqual([true, false]);
  });

  it('of local memory take one line for the same word of all lanes', () => {
    const kernel = kernelOf('mov.u32 %r1, %tid.x; st.local.u32 [%r1], %r1; ret;');
    const index = kernel.instructions.findIndex(({ opcode }) => opcode === 'st');
    const movedBytes = (offset: (lane: number) => number): number => {
      const tracer = new BlockTracer(kernel, h200, 1, 32_768, () => 0, 1);
      tracer.onBlock(0);
      tracer.onLocalAccess(
        0,
        index,
        'store',
        4,
        ALL,
        Float64Array.from({ length: 32 }, (_, lane) => offset(lane)),
      );
      tracer.finish();
      return sm(tracer.blocks[0], 'l2Port');
    };
    expect(movedBytes(() => 8)).toBe(128);
    expect(movedBytes((lane) => 4 * lane)).toBe(32 * 32);
  });
});

describe('where threads meet', () => {
  const waits = (instruction: string): boolean => {
    const kernel = kernelOf(`mov.u32 %r1, %tid.x; ${instruction} ret;`);
    return instructionPlans(kernel, timing.latency)[1].isBarrier;
  };

  it('a block waits for all its warps, and a warp for no other', () => {
    for (const barrier of ['bar.sync 0;', 'barrier.sync.aligned 1, 64;', 'bar.red.popc.u32 %r2, 0, %p1;']) {
      expect(waits(barrier), barrier).toBe(true);
    }
    for (const other of ['bar.warp.sync -1;', 'bar.warp.sync %r1;', 'bar.arrive 1, 64;']) {
      expect(waits(other), other).toBe(false);
    }
  });
});

describe('requests for parts of lines', () => {
  const bytes = DEVICE_RESOURCES.indexOf('l2Bytes');
  const load = (sectors: number): number =>
    traced('ld.global.u32 %r1, [%rd1];', 'ld', 'global', 'load', (lane) => {
      const lines = 32 / sectors;
      return 128 * (lane % lines) + 32 * Math.floor(lane / lines);
    }).device[bytes] / Math.floor(32 / sectors);

  it('take a turn of L2 for one sector as for two', () => {
    // Measured: 152, 138 and 69 G lines a second.
    expect(load(1)).toBe(timing.l2TurnBytes);
    expect(load(2) / load(1)).toBeLessThan(1.01);
    expect(load(4) / load(2)).toBeGreaterThan(1.6);
  });
});

describe('loops of compare and swap in shared memory', () => {
  const data = SM_RESOURCES.indexOf('data');
  const cycles = (type: string, address: (lane: number) => number): number =>
    traced(
      `red.shared.add.${type} [%rd1], ${type === 'f32' ? '%f1' : '%rd2'};`,
      'red',
      'shared',
      'atomic',
      address,
    ).sm[data];

  it('take turns by words, and wavefronts by banks', () => {
    const apart = cycles('f32', (lane) => 4 * lane);
    expect(apart).toBeCloseTo(timing.swapCycles + timing.swapContentionCycles, 6);
    expect(cycles('f32', (lane) => 128 * lane) - apart).toBeCloseTo(31 * timing.swapCycles, 6);
    // Measured: all warps on one word 1,384 cycles a warp.
    expect(cycles('f32', () => 0) / 1384).toBeCloseTo(1, 0);
  });
});
