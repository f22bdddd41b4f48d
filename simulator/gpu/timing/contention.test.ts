import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { profileNamed } from '../profiles/index.js';
import { countAtomics } from './atomicTraffic.js';
import { DEVICE_RESOURCES } from './blockWork.js';
import { busiestTurns, type ContendedGrid } from './contention.js';
import { instructionPlans, type InstructionPlan } from './instructionPlan.js';
import { newTracedBlock, type TracedBlock } from './tracedBlock.js';

const h200 = profileNamed('h200');
const { timing } = h200;

function plansOf(body: string): InstructionPlan[] {
  const [kernel] = parseModule(
    `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 at, .param .u32 n) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
  ld.param.u64 %rd1, [at];
  ${body}
}`,
    'k.ptx',
  ).functions;
  return instructionPlans(kernel, timing.latency);
}

describe('loops of compare and swap', () => {
  /** A block of so many warps, each of whose lanes swaps one word once. */
  const swapping = (warps: number, lanes: number, addressOf = (_: number): number => 0): TracedBlock => {
    const block = newTracedBlock(0, warps, 0);
    for (let warp = 0; warp < warps; warp++) {
      block.swapLoops.begin(warp, 4);
      for (let lane = 0; lane < lanes; lane++) {
        block.swapLoops.addLane(addressOf(lane));
        block.swapLoops.addTurns(addressOf(lane), 1);
      }
    }
    return block;
  };
  const grid = (blocks: number): ContendedGrid => ({
    profile: h200,
    gridBlocks: blocks,
    residentBlocks: blocks,
    bytesOf: () => 256,
  });
  /** Cycles from one success on a word to the next. */
  const cyclesOf = (block: TracedBlock, blocks: number, wins: number): number =>
    (busiestTurns([block], grid(blocks)) * blocks) / wins / timing.atomicsPerAddressPerCycle;

  it('of few threads take the way to L2 and back for each success', () => {
    expect(cyclesOf(swapping(8, 1), 1, 8)).toBeCloseTo(timing.latency.atomic, -1);
  });

  it('wait longer the more threads try', () => {
    // Measured: 8,448 lanes in 33 blocks need 2,000 cycles a success.
    const cycles = cyclesOf(swapping(8, 32), 33, 33 * 256);
    expect(cycles).toBeGreaterThan(1400);
    expect(cycles).toBeLessThan(2800);
  });

  it('that lanes give up which have nothing left to do are over soon', () => {
    // 264 blocks look for the largest: few raise it, and all have tried twice at most in the mean.
    const block = swapping(8, 32);
    const wins = 264 * 256;
    const without = cyclesOf(block, 264, wins) * wins;
    block.swapLoops.begin(0, 4, true);
    const tries = wins / timing.atomicsPerAddressPerCycle;
    const told = cyclesOf(block, 264, wins) * wins;
    expect(told).toBeGreaterThan(2 * tries);
    expect(told).toBeLessThan(3 * tries);
    expect(without).toBeGreaterThan(100 * told);
  });

  it('may be given up where they end before a swap too', () => {
    const mayGiveUp = (before: string): boolean =>
      plansOf(
        `L: ${before} atom.global.cas.b32 %r2, [%rd1], %r1, %r3; setp.eq.s32 %p1, %r2, %r1; mov.b32 %r1, %r2; @%p1 bra M; bra L; M: ret;`,
      ).some((plan) => plan.mayGiveUp);
    expect(mayGiveUp('')).toBe(false);
    expect(mayGiveUp('setp.ge.s32 %p2, %r1, %r3; @%p2 bra M;')).toBe(true);
  });

  it('count what enters, and not what tries again', () => {
    const block = newTracedBlock(0, 1, 0);
    for (const lanes of [2, 1]) {
      block.swapLoops.begin(0, 4);
      for (let lane = 0; lane < lanes; lane++) block.swapLoops.addLane(0);
    }
    expect(block.swapLoops.wins.get(0)).toBe(2);
    block.swapLoops.leave(0);
    block.swapLoops.begin(0, 4);
    block.swapLoops.addLane(0);
    expect(block.swapLoops.wins.get(0)).toBe(3);
  });

  it('that hold a word until they write it again keep others out as long', () => {
    const block = swapping(1, 1);
    block.swapLoops.take(0, 0, 100);
    block.swapLoops.release(0, 0, 5100);
    expect(cyclesOf(block, 16, 16)).toBeCloseTo(5000, -1);
  });

  it('are told from loops that swap once a turn', () => {
    const swap = 'atom.global.cas.b32 %r2, [%rd1], %r1, %r3;';
    const isRetried = (body: string): boolean => plansOf(body).some((plan) => plan.isRetried);
    expect(
      isRetried(
        `L: mov.b32 %r1, %r2; add.s32 %r3, %r1, 1; ${swap} setp.ne.s32 %p1, %r2, %r1; @%p1 bra L; ret;`,
      ),
    ).toBe(true);
    expect(
      isRetried(
        `L: mov.b32 %r1, %r2; ${swap} add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, 9; @%p1 bra L; st.global.u32 [%rd1], %r2; ret;`,
      ),
    ).toBe(false);
  });

  it('are told from loops that look for a place: these wait for nobody', () => {
    const isInRetry = (turn: string): boolean =>
      plansOf(
        `L: mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; atom.global.cas.b32 %r2, [%rd4], 0, %r3; ${turn}
        setp.ne.s32 %p1, %r2, 0; @%p1 bra L; ret;`,
      ).some((plan) => plan.isInRetry);
    expect(isInRetry('')).toBe(true);
    expect(isInRetry('add.s32 %r4, %r4, 1;')).toBe(false);
    expect(isInRetry('ld.global.u32 %r4, [%rd4+4];')).toBe(false);
  });
});

describe('an atomic operation', () => {
  /** What L2 has to do of one whose lanes lie so many bytes apart. */
  const turnsOf = (instruction: string, apart: number): number => {
    const plan = plansOf(`${instruction} st.global.u32 [%rd1], %r2; ret;`)[1];
    const block = newTracedBlock(0, 1, 0);
    const addresses = Float64Array.from({ length: 32 }, (_, lane) => lane * apart);
    countAtomics(block, { ...plan, isAggregated: false }, 0, -1, addresses, 4, timing);
    return block.device[DEVICE_RESOURCES.indexOf('atomics')];
  };
  const SWAP = 'atom.global.cas.b32 %r2, [%rd1], %r1, %r3;';
  const ADD = 'atom.global.add.u32 %r2, [%rd1], %r1;';

  it('that swaps takes no more than another where it has a line to itself', () => {
    expect(turnsOf(SWAP, 128)).toBeCloseTo(turnsOf(ADD, 128), 5);
    expect(turnsOf(SWAP, 128)).toBeCloseTo(32 * timing.atomicResultWeight, 5);
  });

  it('that swaps takes more for each further sector of a line', () => {
    // Measured on 65,536 words side by side: 2.1 a sector.
    expect(turnsOf(SWAP, 32) / 32).toBeCloseTo(2.1, 1);
    expect(turnsOf(ADD, 32) / 32).toBeCloseTo(timing.atomicResultWeight, 5);
    expect(turnsOf(SWAP, 4) / 4).toBeCloseTo(2.1, 1);
  });
});

describe('what blocks wait for', () => {
  it('is a look of a loop that only others end', () => {
    const looks = (load: string): boolean[] =>
      plansOf(`L: ${load} %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L; ret;`).map(
        ({ isLook }) => isLook,
      );
    expect(looks('ld.volatile.global.u32')).toContain(true);
    expect(looks('ld.acquire.gpu.global.u32')).toContain(true);
    expect(
      plansOf('ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1; ret;').some(
        (plan) => plan.isLook,
      ),
    ).toBe(false);
  });

  it('comes behind a fence, which takes a way to L2', () => {
    const cycles = (instruction: string): number => plansOf(`${instruction} ret;`)[1].fenceCycles;
    expect(cycles('membar.gl;')).toBe(timing.latency.fence);
    expect(cycles('membar.cta;')).toBe(timing.latency.fenceBlock);
    expect(cycles('fence.sc.sys;')).toBe(timing.latency.fenceSystem);
    expect(cycles('atom.add.release.gpu.global.u32 %r1, [%rd1], 1;')).toBe(timing.latency.fence);
    expect(cycles('atom.global.add.u32 %r1, [%rd1], 1;')).toBe(0);
  });
});
