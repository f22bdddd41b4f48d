import { describe, expect, it } from 'vitest';
import { mix } from './tests/operandMix.js';
import { LaunchBench, storingKernel } from './tests/launchBench.js';

const THREADS = 1024;
const ROUNDS = 16;

/** Quotients of mixed bit patterns, edges among them, each stored as it is or as `then` makes of it. */
function quotients(bench: LaunchBench, form: string, then: string): number[] {
  const operands = mix(2 * THREADS * ROUNDS);
  const input = bench.buffer(operands.length);
  const view = bench.space.view(input, operands.length * 4);
  view.set(new Uint8Array(operands.buffer));
  const output = bench.buffer(THREADS);
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const text = storingKernel(`
mov.u64 %rd1, ${input + 8 * THREADS * round};
mul.wide.u32 %rd2, %r1, 8;
add.s64 %rd1, %rd1, %rd2;
ld.global.v2.f32 {%f1, %f2}, [%rd1];
${form} %f3, %f1, %f2;
${then}
mov.b32 %r9, %f4;`);
    const result = bench.run(text, { values: [output, 0], block: [THREADS, 1, 1] });
    expect(result.status).toBe('done');
    found.push(...bench.words(output, THREADS));
  }
  return found;
}

describe('divisions whose sum is contracted', () => {
  // A sum with -0 changes no bit, so that the contracted one must give the quotient itself.
  it.each(['div.approx.f32', 'div.approx.ftz.f32', 'div.full.f32', 'div.full.ftz.f32'])(
    'multiply what %s does',
    (form) => {
      const bench = new LaunchBench();
      const flush = form.includes('ftz') ? '.ftz' : '';
      const divided = quotients(bench, form, 'mov.b32 %f4, %f3;');
      const summed = quotients(bench, form, `add${flush}.f32 %f4, %f3, 0f80000000;`);
      const differing = divided.flatMap((bits, index) => (bits === summed[index] ? [] : [index]));
      expect(differing).toEqual([]);
      // And the sum is rounded once, which shows now and then.
      const kept = quotients(bench, form, `add.rn${flush}.f32 %f4, %f3, 0f3F800001;`);
      const contracted = quotients(bench, form, `add${flush}.f32 %f4, %f3, 0f3F800001;`);
      expect(kept.filter((bits, index) => bits !== contracted[index]).length).toBeGreaterThan(0);
    },
  );
});
