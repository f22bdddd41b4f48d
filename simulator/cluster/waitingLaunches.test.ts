import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/index.js';
import { pointerParams, Session } from './tests/session.js';
import { GpuNode } from './index.js';

const header = `.version 9.0
.target sm_90
.address_size 64
`;

function kernel(body: string, globals = ''): string {
  return `${header}${globals}
.visible .entry k(.param .u64 out) {
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
ld.param.u64 %rd0, [out];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %nctaid.x;
mul.wide.u32 %rd1, %r1, 8;
add.u64 %rd1, %rd0, %rd1;
${body}
ret;
}
`;
}

/** Each block waits for the one behind it: none of the first 16 can end before the last has run. */
const backwards = kernel(
  `add.u32 %r3, %r1, 1;
mov.u32 %r5, 0;
setp.eq.u32 %p1, %r3, %r2;
@%p1 bra WRITE;
WAIT:
ld.acquire.gpu.global.u32 %r5, [%rd1+8];
setp.eq.u32 %p2, %r5, 0;
@%p2 bra WAIT;
WRITE:
add.u32 %r5, %r5, 1;
st.release.gpu.global.u32 [%rd1], %r5;`,
);

/** The blocks of a grid meet as cooperative groups do, by the workspace that %envreg1 and %envreg2 name. */
const gridSync = kernel(
  `mov.u32 %r3, %envreg2;
cvt.u64.u32 %rd2, %r3;
mov.u32 %r4, %envreg1;
cvt.u64.u32 %rd3, %r4;
bfi.b64 %rd2, %rd3, %rd2, 32, 32;
setp.ne.s64 %p1, %rd2, 0;
@%p1 bra HAVE;
trap;
HAVE:
red.global.add.u32 [%rd0], 1;
barrier.sync 0;
neg.s32 %r5, %r2;
add.u32 %r5, %r5, -2147483647;
setp.eq.u32 %p2, %r1, 0;
selp.b32 %r6, %r5, 1, %p2;
atom.add.release.gpu.u32 %r7, [%rd2+4], %r6;
MEET:
ld.acquire.gpu.u32 %r8, [%rd2+4];
xor.b32 %r9, %r8, %r7;
setp.gt.s32 %p3, %r9, -1;
@%p3 bra MEET;
barrier.sync 0;
ld.global.u32 %r10, [%rd0];
st.global.u32 [%rd1+4], %r10;`,
);

/** Where and when: the SM, and the clocks around a loop. */
const places = kernel(
  `mov.u32 %r3, %smid;
st.global.u32 [%rd1], %r3;
mov.u64 %rd2, %globaltimer;
cvt.u32.u64 %r4, %rd2;
st.global.u32 [%rd1+4], %r4;`,
);

function start(): { session: Session; words: (address: number, count: number) => number[] } {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, { gpus: ['h200'], backingBytes: 64 * 2 ** 20 });
  const session = new Session(node, clock).open();
  const words = (address: number, count: number): number[] => {
    const read = session.call('memcpyDeviceToHost', { address, bytes: 4 * count, pinned: true });
    return [...new Int32Array(Uint8Array.from(read.result?.bytes ?? []).buffer)];
  };
  return { session, words };
}

function launchArgs(
  module: number,
  blocks: number,
  out: number,
): Parameters<typeof Session.prototype.call<'launch'>>[1] {
  return {
    module,
    kernel: 'k',
    grid: [blocks, 1, 1],
    block: [1, 1, 1],
    dynamicSharedBytes: 0,
    params: pointerParams(out),
  };
}

describe('launches whose blocks wait for one another', () => {
  it('run whole with their first blocks, and count each block once', () => {
    const { session, words } = start();
    const module = session.handle('moduleLoad', { ptx: backwards, file: 'k.ptx' });
    const out = session.handle('malloc', { bytes: 8 * 200 });
    const { result, failure } = session.call('launch', launchArgs(module, 200, out));
    expect(failure?.message).toBeUndefined();
    const found = words(out, 400).filter((_, index) => index % 2 === 0);
    expect(found).toEqual(Array.from({ length: 200 }, (_, block) => 200 - block));
    // 8 instructions before the wait, 3 a look, 3 behind it: the last block does not look.
    expect(result?.launch?.threadInstructions).toBeGreaterThanOrEqual(200 * 11 + 199 * 3);
  });

  it('meet at a grid barrier when they are cooperative, twice with one workspace', () => {
    const { session, words } = start();
    const module = session.handle('moduleLoad', { ptx: gridSync, file: 'k.ptx' });
    const out = session.handle('malloc', { bytes: 8 * 64 });
    for (const total of [64, 128]) {
      const { failure } = session.call('launch', { ...launchArgs(module, 64, out), cooperative: true });
      expect(failure?.message).toBeUndefined();
      const seen = words(out, 128).filter((_, index) => index % 2 === 1);
      expect(seen).toEqual(new Array<number>(64).fill(total));
    }
  });

  it('have no workspace when they are not cooperative', () => {
    const { session } = start();
    const module = session.handle('moduleLoad', { ptx: gridSync, file: 'k.ptx' });
    const out = session.handle('malloc', { bytes: 8 * 64 });
    expect(session.call('launch', launchArgs(module, 64, out)).failure?.fault?.code).toBe('trap');
  });
});

describe('what kernels read of where and when they run', () => {
  it('is the SM of each block and the simulated time', () => {
    const { session, words } = start();
    const module = session.handle('moduleLoad', { ptx: places, file: 'k.ptx' });
    const out = session.handle('malloc', { bytes: 8 * 132 });
    session.call('launch', launchArgs(module, 132, out));
    const first = words(out, 264);
    session.call('launch', launchArgs(module, 132, out));
    const second = words(out, 264);
    const sms = first.filter((_, index) => index % 2 === 0);
    expect(new Set(sms).size).toBe(132);
    expect(second[1]).toBeGreaterThan((first[1] ?? 0) + 1000);
  });
});
