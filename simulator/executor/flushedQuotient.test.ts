import { expect, it } from 'vitest';
import { LaunchBench } from './tests/launchBench.js';

/** (2 − 2^-23) / 2^127 rounds up to the least normal f32, but would be below it if exponents had no end. */
const text = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry quotient(.param .u64 out)
{
  .reg .f32 %f<4>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  and.b32 %r1, %r0, 1;
  add.s32 %r2, %r1, 0x3ffffffe;
  mov.b32 %f0, %r2;
  mov.f32 %f1, 0f7F000000;
  div.rn.ftz.f32 %f2, %f0, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}`;

it.each([1, 3, 32, 64])('div.rn.ftz flushes what only rounding makes normal, %d threads', (threads) => {
  const bench = new LaunchBench();
  const out = bench.buffer(threads);
  const run = bench.run(text, { values: [out], block: [threads, 1, 1] });
  expect(run.status).toBe('done');
  expect(bench.words(out, threads)).toEqual(Array.from({ length: threads }, () => 0));
});

it('div.rn without it keeps it', () => {
  const bench = new LaunchBench();
  const out = bench.buffer(2);
  bench.run(text.replace('.ftz', ''), { values: [out], block: [2, 1, 1] });
  expect(bench.words(out, 2)).toEqual([0x007fffff, 0x00800000]);
});
