import { describe, expect, it } from 'vitest';
import { exponential2, flushed } from './arithmetic/index.js';
import { LaunchBench, storingKernel } from './tests/launchBench.js';

/** Odd, so that the operands fall everywhere in their binades, and coprime to the segments' length. */
const STEP = 16411;
const BLOCKS = 1024;
const THREADS = 256;

describe('compiled ex2.approx', () => {
  const bench = new LaunchBench();
  const out = bench.buffer(BLOCKS * THREADS);

  it.each([
    ['ex2.approx.f32', exponential2],
    ['ex2.approx.ftz.f32', flushed(exponential2)],
  ] as const)('%s is the definition to the bit, over the whole range', (instruction, apply) => {
    const text = storingKernel(`mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
mul.lo.u32 %r5, %r4, ${STEP};
mov.b32 %f1, %r5;
${instruction} %f2, %f1;
mov.b32 %r9, %f2;`);
    const launch = { values: [out, 0], grid: [BLOCKS, 1, 1], block: [THREADS, 1, 1], fuel: 1e8 } as const;
    expect(bench.run(text, launch).status).toBe('done');
    const expected = new Float32Array(1);
    const expectedBits = new Int32Array(expected.buffer);
    const operand = new Int32Array(1);
    const operandFloat = new Float32Array(operand.buffer);
    const wrong: string[] = [];
    bench.words(out, BLOCKS * THREADS).forEach((bits, index) => {
      operand[0] = Math.imul(index, STEP);
      const value = apply(operandFloat[0] ?? 0);
      expected[0] = value;
      if (value !== value) expectedBits[0] = 0x7fffffff;
      if (bits !== expectedBits[0]) wrong.push((operand[0] >>> 0).toString(16));
    });
    expect(wrong.slice(0, 10)).toEqual([]);
  });
});
