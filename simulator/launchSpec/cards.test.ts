import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILE_NAMES, profileNamed } from '../gpu/index.js';
import { runLaunchSpec, runLaunchSpecFile, type LaunchSpecResult } from './index.js';

const LAUNCHES = resolve(import.meta.dirname, '../gpu/reference/launches');
const launch = (name: string, device: string): LaunchSpecResult =>
  runLaunchSpecFile(join(LAUNCHES, `${name}.json`), { device });

it.each([
  ['8800gtx', 'softmax_rows__rows-1-cols-1000'],
  ['k20c', 'transpose__rows-cols-256'],
  ['t4', 'sgemm_tiled__M-N-K-256'],
])('%s runs %s as the measured card does, and takes longer', (card, kernel) => {
  const result = launch(kernel, card);
  const reference = launch(kernel, 'h200');
  expect(result.buffers).toEqual(reference.buffers);
  expect(result).toMatchObject({ device: card, measured: false });
  expect(result.durationUs).toBeGreaterThan(reference.durationUs);
});

it('refuses what a card lacks, by name', () => {
  expect(() => launch('forest_vote__batch-1-dim-784-trees-50-depth-10-classes-10', '8800gtx')).toThrow(
    /kernel: 'forest_vote' needs atomics \(line \d+: \w+\), which 8800gtx has not/,
  );
  const wide = JSON.parse(readFileSync(join(LAUNCHES, 'vecadd__n-4096.json'), 'utf8')) as object;
  expect(() => runLaunchSpec({ ...wide, device: '8800gtx', block: [1024, 1, 1] }, LAUNCHES)).toThrow(
    'the limit is 512 on 8800gtx',
  );
});

it('takes clocks and a power limit, and refuses those that the card has not', () => {
  const path = join(LAUNCHES, 'sgemm_tiled__M-N-K-64.json');
  const slow = runLaunchSpecFile(path, { smClockHz: 0.99e9 });
  const asIs = runLaunchSpecFile(path);
  expect(slow.durationUs / asIs.durationUs).toBeGreaterThan(1.4);
  expect(slow.averagePowerWatts).toBeLessThan(asIs.averagePowerWatts);
  expect(() => runLaunchSpecFile(path, { smClockHz: 3e9 })).toThrow(
    'clockHz: 3000 MHz; h200 takes 345 to 1980 MHz',
  );
  expect(() => runLaunchSpecFile(path, { memoryClockHz: 1 })).toThrow(
    'memoryClockHz: 0.000001 MHz; h200 takes',
  );
  expect(() => runLaunchSpecFile(path, { powerLimitWatts: 50 })).toThrow('powerLimitWatts: 50; h200 takes');
});

describe('what is published of a card comes out', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cards-'));
    writeFileSync(join(folder, 'peak.ptx'), peakKernel());
    writeFileSync(join(folder, 'strided.ptx'), stridedKernel());
    for (const card of PROFILE_NAMES) {
      // The rate of one SM is enough, and quick to simulate.
      const { smsPerTpc } = profileNamed(card);
      const one = { name: `one ${card}`, productName: card, description: card, measured: false, base: card };
      writeFileSync(join(folder, `${card}.json`), JSON.stringify({ ...one, sms: smsPerTpc, gpcTpcs: [1] }));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['h200', 'a100', 'k20c', '8800gtx'])('fp32 rate of %s, by a kernel of multiply-adds', (card) => {
    const { sms, smsPerTpc, clockHz, timing, limits } = profileNamed(card);
    const rated = {
      h200: 66.9,
      h100: 66.9,
      a100: 19.5,
      v100: 15.7,
      t4: 8.1,
      k20c: 3.52,
      '8800gtx': 0.3456,
    }[card];
    expect((2 * 32 * sms * clockHz * timing.float32PerCycle) / 1e12).toBeCloseTo(rated ?? NaN, 1);
    const threads = 256;
    const blocks = smsPerTpc * Math.floor(limits.threadsPerSm / threads);
    const { durationUs } = runLaunchSpec(
      {
        ptx: 'peak.ptx',
        kernel: 'peak',
        device: `./${card}.json`,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        args: [{ buffer: { type: 'f32', count: blocks * threads, out: true } }, { i32: ROUNDS }],
      },
      folder,
    );
    const flops = (2 * blocks * threads * ROUNDS * STEPS * CHAINS) / (durationUs * 1e-6);
    const whole = flops * (sms / smsPerTpc);
    // Where each issue slot is a multiply-add, whatever else is issued takes of them.
    const isTight = timing.issuePerCycle < 1.5 * timing.float32PerCycle;
    expect(whole / ((rated ?? NaN) * 1e12)).toBeGreaterThan(isTight ? 0.75 : 0.9);
    expect(whole / ((rated ?? NaN) * 1e12)).toBeLessThanOrEqual(1);
  });

  it.each(['8800gtx'])('DRAM bandwidth of %s, by a stream that caches do not hold', (card) => {
    const count = 4_194_304;
    const { memory } = profileNamed(card);
    const { durationUs, dramBytes } = launch('vecadd__n-4194304', card);
    expect(dramBytes / (12 * count)).toBeGreaterThan(0.85);
    const reached = dramBytes / (durationUs * 1e-6) / memory.declaredBytesPerSecond;
    expect(reached).toBeGreaterThan(0.6);
    expect(reached).toBeLessThan(0.95);
  });

  it('half-warps of the 8800 coalesce in order alone: a stride, or a shifted start, costs a transaction a lane', () => {
    const run = (device: string, stride: number, shift: number): LaunchSpecResult =>
      runLaunchSpec(
        {
          ptx: 'strided.ptx',
          kernel: 'strided',
          device,
          grid: [512, 1, 1],
          block: [256, 1, 1],
          args: [
            { buffer: { type: 'f32', count: 512 * 256 * 2 + 64, fill: { seed: 1, scale: 1, shift: 0 } } },
            { buffer: { type: 'f32', count: 512 * 256, out: true } },
            { i32: stride },
            { i32: shift },
          ],
        },
        folder,
      );
    const old = run('8800gtx', 1, 0).durationUs;
    expect(run('8800gtx', 1, 1).durationUs / old).toBeGreaterThan(3);
    expect(run('8800gtx', 2, 0).durationUs / old).toBeGreaterThan(3);
    const kepler = run('k20c', 1, 0).durationUs;
    expect(run('k20c', 1, 1).durationUs / kepler).toBeLessThan(1.4);
  });
});

const ROUNDS = 64;
const STEPS = 8;
const CHAINS = 8;

/** Independent chains of multiply-adds, each on its own registers. */
function peakKernel(): string {
  const chains = Array.from({ length: CHAINS }, (_, chain) => chain);
  const steps = Array.from({ length: STEPS }, () =>
    chains.map((chain) => `  fma.rn.f32 %f${chain}, %f${chain}, %f${chain}, %f9;`).join('\n'),
  ).join('\n');
  return `.version 8.0
.target sm_90
.address_size 64
.visible .entry peak(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p<2>;
  .reg .f32 %f<11>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  cvt.rn.f32.u32 %f8, %r4;
  mov.f32 %f9, 0f3F800000;
${chains.map((chain) => `  add.f32 %f${chain}, %f8, %f9;`).join('\n')}
$loop:
${steps}
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $loop;
${chains
  .slice(1)
  .map((chain) => `  add.f32 %f0, %f0, %f${chain};`)
  .join('\n')}
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f0;
  ret;
}
`;
}

/** out[i] = in[i * stride + shift] */
function stridedKernel(): string {
  return `.version 8.0
.target sm_90
.address_size 64
.visible .entry strided(.param .u64 in, .param .u64 out, .param .u32 stride, .param .u32 shift)
{
  .reg .f32 %f<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [stride];
  ld.param.u32 %r2, [shift];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  mad.lo.s32 %r7, %r6, %r1, %r2;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r7, 4;
  add.s64 %rd6, %rd3, %rd5;
  ld.global.f32 %f1, [%rd6];
  mul.wide.s32 %rd5, %r6, 4;
  add.s64 %rd7, %rd4, %rd5;
  st.global.f32 [%rd7], %f1;
  ret;
}
`;
}
