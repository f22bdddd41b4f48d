import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaunchSpecError, runLaunchSpec } from './index.js';

function kernelText(body: string): string {
  return `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
.shared .align 4 .b8 s[128];
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
setp.ne.u32 %p1, %r1, 2;
@%p1 ret;
setp.ne.u32 %p1, %r2, 9;
${body}
}
`;
}

const BUFFER = { buffer: { type: 'u8', count: 64 } };

describe('gpu run names where a kernel faults', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'faults-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['a null pointer', '@!%p1 st.global.u32 [%rd1], %r2;\nret;', { u64: 0 }, 'illegalAddress', '0x0'],
    ['one byte past the end', '@!%p1 ld.global.u8 %r3, [%rd1+64];\nret;', BUFFER, 'illegalAddress', '40'],
    ['a misaligned address', '@!%p1 ld.global.u32 %r3, [%rd1+2];\nret;', BUFFER, 'misalignedAddress', '2'],
    [
      'a freed buffer',
      '@!%p1 ld.global.u32 %r3, [%rd1+4];\nret;',
      { buffer: { ...BUFFER.buffer, freed: true } },
      'illegalAddress',
      '4',
    ],
    [
      'shared memory past its end',
      '@!%p1 st.shared.u32 [s+128], %r2;\nret;',
      BUFFER,
      'sharedOutOfBounds',
      '0x80',
    ],
    [
      'a barrier in divergent code',
      '@!%p1 bra SKIP;\nbar.sync 0;\nSKIP:\nst.shared.u32 [s], %r2;\nret;',
      BUFFER,
      'divergentBarrier',
      undefined,
    ],
    [
      'an endless loop',
      'LOOP:\nadd.s32 %r3, %r3, 1;\n@!%p1 bra LOOP;\nret;',
      BUFFER,
      'fuelExhausted',
      undefined,
    ],
  ])('%s', (_, body, arg, code, addressEnd) => {
    const ptx = kernelText(body);
    writeFileSync(join(folder, 'k.ptx'), ptx);
    const spec = {
      ptx: 'k.ptx',
      kernel: 'k',
      device: 'h200',
      grid: [4, 1, 1],
      block: [32, 1, 1],
      args: [arg],
    };
    let thrown: unknown;
    try {
      runLaunchSpec(spec, folder, { node: { backingBytes: 2 ** 24, fuelPerBlock: 50_000 } });
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof LaunchSpecError)) throw new Error(`no fault: ${String(thrown)}`);
    expect(thrown.code).toBe('fault');
    const part = code === 'divergentBarrier' ? 'bar.sync' : body.startsWith('LOOP') ? 'bra LOOP' : '@!%p1';
    const line = ptx.slice(0, ptx.indexOf(part)).split('\n').length;
    expect(thrown.failure?.fault).toMatchObject({ code, kernel: 'k', block: [2, 0, 0], ptxLine: line });
    expect(thrown.message).toMatch(
      new RegExp(`k at k\\.ptx:${line}, block \\(2, 0, 0\\), thread \\(\\d+, 0, 0\\)`),
    );
    if (addressEnd !== undefined)
      expect(thrown.message).toMatch(new RegExp(`0x[0-9a-f]*${addressEnd.replace('0x', '')}\\b`));
  });

  it('a freed buffer cannot be reported', () => {
    const arg = { buffer: { ...BUFFER.buffer, freed: true, out: true } };
    const spec = {
      ptx: 'k.ptx',
      kernel: 'k',
      device: 'h200',
      grid: [1, 1, 1],
      block: [32, 1, 1],
      args: [arg],
    };
    expect(() => runLaunchSpec(spec, folder)).toThrow(
      /args\[0\]\.buffer\.freed: a freed buffer has nothing to report/,
    );
  });

  it('names a kernel that is found too large when it is run', () => {
    const branches = Array.from(
      { length: 14_000 },
      (_, each) => `setp.eq.u32 %p2, %r2, ${each};\n@%p2 bra L${each};\nadd.u32 %r2, %r2, 1;\nL${each}:`,
    );
    writeFileSync(join(folder, 'large.ptx'), kernelText(`${branches.join('\n')}\nret;`));
    const shape = { grid: [4, 1, 1], block: [32, 1, 1] };
    const spec = { ptx: 'large.ptx', kernel: 'k', device: 'h200', ...shape, args: [BUFFER] };
    let thrown: unknown;
    try {
      runLaunchSpec(spec, folder);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(LaunchSpecError);
    expect((thrown as Error).message).toContain('k: too many branches and waits to count');
  });
});
