import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/index.js';
import { GpuNode } from './index.js';
import { pointerParams, Session } from './tests/session.js';

/** `first` lets its dependents go before it has stored; `second` waits for it, and adds to what it finds. */
const PTX = `.version 8.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p1;
  ld.param.u64 %rd1, [p];
  griddepcontrol.launch_dependents;
  mov.u32 %r1, 0;
AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 2000; @%p1 bra AGAIN;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry second(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  griddepcontrol.wait;
  ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 7; st.global.u32 [%rd1], %r1;
  ret;
}`;

describe('launches that depend on one another by griddepcontrol', () => {
  it('run in the order of their stream, which the wait asks for', () => {
    const clock = new VirtualClock();
    const session = new Session(new GpuNode(clock, { gpus: ['h200'], backingBytes: 2 ** 24 }), clock).open();
    const module = session.handle('moduleLoad', { ptx: PTX, file: 'dependent.ptx' });
    const address = session.handle('malloc', { bytes: 4 });
    const launch = (kernel: string): number =>
      session.send('launch', {
        module,
        kernel,
        grid: [1, 1, 1],
        block: [1, 1, 1],
        dynamicSharedBytes: 0,
        params: pointerParams(address),
      });
    const [first, second] = [launch('first'), launch('second')];
    const { result } = session.call('memcpyDeviceToHost', { address, bytes: 4, pinned: true });
    expect(new Int32Array(Uint8Array.from(result?.bytes ?? []).buffer)[0]).toBe(2007);
    const [one, other] = [first, second].map((ticket) => session.find(ticket)?.result?.launch);
    expect(other?.startNs).toBeGreaterThanOrEqual(one?.endNs ?? Infinity);
  });
});
