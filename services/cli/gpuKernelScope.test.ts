import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';

/** Kernels that read variables which stand inside of them, follow an address in one, count in one and read behind one. */
const PTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry reads(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  .const .u32 table[4] = {10, 20, 30, 40};
  .global .u32 bias = 5;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd0, %rd0, %rd1;
  and.b32 %r1, %r0, 3;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, table;
  add.u64 %rd2, %rd2, %rd1;
  ld.const.u32 %r1, [%rd2];
  ld.global.u32 %r2, [bias];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd0], %r1;
  ret;
}
.visible .entry follows(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<3>;
  .global .u32 bias = 5;
  .global .u64 where[2] = {bias, generic(bias)};
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd0, %rd0, %rd1;
  ld.global.u64 %rd3, [where+8];
  ld.u32 %r2, [%rd3];
  st.global.u32 [%rd0], %r2;
  ret;
}
.visible .entry counts(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  .global .u32 bias = 5;
  ld.param.u64 %rd0, [out];
  ld.global.u32 %r0, [bias];
  add.u32 %r0, %r0, 1;
  st.global.u32 [bias], %r0;
  st.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry races(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  .shared .u32 slot[2];
  mov.u32 %r0, %tid.x;
  st.shared.u32 [slot+4], %r0;
  ld.param.u64 %rd0, [out];
  st.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry strays(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  .global .u32 last[2] = {1, 2};
  ld.param.u64 %rd0, [out];
  ld.global.u32 %r0, [last+4096];
  st.global.u32 [%rd0], %r0;
  ret;
}
`;

/** `scope.ptx:line` of an instruction. */
function place(operands: string): string {
  return `scope.ptx:${PTX.slice(0, PTX.indexOf(operands)).split('\n').length}`;
}

describe('the gpu tools on variables inside of kernels', () => {
  let folder = '';
  const at = (name: string): string => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kernel-scope-'));
    writeFileSync(at('scope.ptx'), PTX);
    for (const kernel of ['reads', 'follows', 'counts', 'races', 'strays']) {
      const spec = {
        ptx: 'scope.ptx',
        kernel,
        device: 'h200',
        grid: [1, 1, 1],
        block: [64, 1, 1],
        args: [{ buffer: { type: 'u32', count: 64, out: true } }],
      };
      writeFileSync(at(`${kernel}.json`), JSON.stringify(spec));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    process.exitCode = undefined;
    vi.restoreAllMocks();
  });

  const json = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await runGpuCommand(...args)) as Record<string, unknown>;

  it('run: gives the values, back to back and from recorded costs too', async () => {
    const ran = await json('run', at('reads.json'), '--record-costs', at('costs.json'), '--threads', '1');
    expect(ran['buffers']).toMatchObject([{ sum: 16 * (10 + 20 + 30 + 40) + 64 * 5 }]);
    const timed = await json('run', at('reads.json'), '--costs', at('costs.json'));
    expect(timed['durationUs']).toBe(ran['durationUs']);
    const often = await json('run', at('reads.json'), '--back-to-back');
    expect(often['buffers']).toEqual(ran['buffers']);
    expect((await json('run', at('follows.json')))['buffers']).toMatchObject([{ sum: 64 * 5 }]);
    expect(await runGpuCommand('run', at('strays.json'))).toContain(place('[last+4096]'));
  });

  it('check: finds nothing in reads, the race and the stray read with their lines', async () => {
    for (const kernel of ['reads', 'follows']) {
      expect(await runGpuCommand('check', at(`${kernel}.json`))).not.toContain('FAILED');
      expect(process.exitCode ?? 0).toBe(0);
    }
    expect(await runGpuCommand('check', at('races.json'), '--racecheck')).toContain(place('[slot+4]'));
    expect(process.exitCode).toBe(1);
    expect(await runGpuCommand('check', at('strays.json'), '--memcheck')).toContain(place('[last+4096]'));
    expect(process.exitCode).toBe(1);
  });

  it('disasm: shows the variables and calls the kernels runnable', async () => {
    const text = await runGpuCommand('disasm', at('scope.ptx'));
    expect(text).not.toMatch(/FAILED|cannot run|not supported/);
    for (const name of ['table', 'bias', 'where']) expect(text).toContain(name);
  });

  it('idempotent: tells kernels that read from kernels that write theirs', async () => {
    expect(await json('idempotent', at('reads.json'))).toMatchObject({ idempotent: true, cause: null });
    expect(await json('idempotent', at('counts.json'))).toMatchObject({ idempotent: false });
    expect(await runGpuCommand('idempotent', at('counts.json'), '--explain')).toContain(place('[bias], %r0'));
  });

  it('profile and occupancy: count the accesses, and hold blocks', async () => {
    expect(await runGpuCommand('profile', at('reads.json'))).toMatch(/scope\.ptx/);
    expect(await runGpuCommand('occupancy', at('reads.json'))).not.toContain('FAILED');
  });
});
