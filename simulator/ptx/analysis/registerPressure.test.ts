import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { estimateRegistersPerThread, parseModule, registerPressure } from '../index.js';

const reference = new URL('../../gpu/reference/', import.meta.url);
const files: Readonly<Record<string, string>> = {
  forest_vote: 'forest',
  reduce_sum: 'reduce',
  softmax_rows: 'softmax',
};

function kernel(body: string) {
  const text = `.version 9.0\n.target sm_90\n.address_size 64\n${body}`;
  const fn = parseModule(text, 'k.ptx').functions[0];
  if (fn === undefined || fn.refusal !== undefined) throw new Error('not a kernel');
  return fn;
}

/** Registers a thread of each measured kernel. */
function measured(): Map<string, number> {
  const rows = readFileSync(new URL('h200-calibration.csv', reference), 'utf8').split('\n');
  const columns = (rows.find((row) => row.startsWith('kernel,')) ?? '').split(',');
  const at = columns.indexOf('registers_per_thread');
  const found = new Map<string, number>();
  for (const row of rows) {
    const cells = row.split(',');
    if (/^\d+$/.test(cells[at] ?? '')) found.set(cells[0] ?? '', Number(cells[at]));
  }
  return found;
}

describe('register pressure', () => {
  it('counts 32-bit units that live at once, uniform values apart', () => {
    const fn = kernel(`.entry k(.param .u64 p) { .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %q;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      setp.lt.u32 %q, %r1, %r2;
      mul.wide.u32 %rd2, %r1, 4;
      @%q add.s64 %rd1, %rd1, %rd2;
      st.u32 [%rd1], %r2; }`);
    // %rd1 (2), %rd2 (2) and %r2 (1) before the addition; %rd1 becomes varying by it, %r2 stays uniform.
    expect(registerPressure(fn)).toEqual({ all: 5, varying: 4 });
  });

  it('estimates what the card gives the measured kernels within 3.5 registers on the average, 9 at most', () => {
    const card = measured();
    expect(card.size).toBe(11);
    const errors = [...card].map(([name, registers]) => {
      const file = `${files[name] ?? name}.ptx`;
      const module = parseModule(readFileSync(new URL(`kernels/${file}`, reference), 'utf8'), file);
      const fn = module.functions.find((each) => each.name === name);
      if (fn === undefined) throw new Error(`no kernel ${name}`);
      return Math.abs(estimateRegistersPerThread(fn) - registers);
    });
    expect(errors.reduce((sum, error) => sum + error) / errors.length).toBeLessThan(3.5);
    expect(Math.max(...errors)).toBeLessThanOrEqual(9);
  });

  it('is capped by .maxnreg', () => {
    const values = Array.from(
      { length: 200 },
      (_, index) => `ld.global.u32 %r${index}, [%rd0+${index * 4}];`,
    ).join('\n');
    const sums = Array.from(
      { length: 200 },
      (_, index) => `st.global.u32 [%rd0+${index * 4}], %r${199 - index};`,
    ).join('\n');
    const body = `{ .reg .b32 %r<200>; .reg .b64 %rd<1>; ld.param.u64 %rd0, [p];\n${values}\n${sums} }`;
    expect(estimateRegistersPerThread(kernel(`.entry k(.param .u64 p) ${body}`))).toBe(255);
    expect(estimateRegistersPerThread(kernel(`.entry k(.param .u64 p) .maxnreg 64 ${body}`))).toBe(64);
  });
});
