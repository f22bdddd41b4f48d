import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/index.js';
import { GpuNode } from './index.js';
import { pointerParams, Session } from './tests/session.js';

const FILE = resolve(import.meta.dirname, '../launchSpec/fixtures/parameters.ptx');
const THREADS = 64;
/** Blocks of 64 threads that 132 SMs hold at once. */
const MOST_BLOCKS = 32 * 132;
const ROUNDS = 2;

/** `spin(p, n)` keeps each thread busy for n steps. */
const SPIN = `.version 9.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<3>; .reg .pred %p1;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
AGAIN: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra AGAIN;
  ret;
}`;

describe('cooperative launches on a device', () => {
  let session: Session;
  let module: number;
  beforeEach(() => {
    const clock = new VirtualClock();
    session = new Session(new GpuNode(clock, { gpus: ['h200'], backingBytes: 2 ** 24 }), clock).open();
    module = session.handle('moduleLoad', { ptx: readFileSync(FILE, 'utf8'), file: 'parameters.ptx' });
  });

  function launch(blocks: number, cells: number): Parameters<typeof session.send<'launch'>>[1] {
    return {
      module,
      kernel: 'meeting',
      grid: [blocks, 1, 1],
      block: [THREADS, 1, 1],
      dynamicSharedBytes: 0,
      params: pointerParams(cells, ROUNDS),
      cooperative: true,
    };
  }

  it('start when there is room for all their blocks, and not before', () => {
    const blocks = MOST_BLOCKS / 8;
    const cells = session.handle('malloc', { bytes: blocks * THREADS * 4 });
    session.call('memset', { address: cells, value: 1, bytes: blocks * THREADS * 4 });
    const spin = session.handle('moduleLoad', { ptx: SPIN, file: 'spin.ptx' });
    const other = session.handle('streamCreate', { priority: 0 });
    const busy = session.send(
      'launch',
      {
        module: spin,
        kernel: 'spin',
        grid: [132 * 2 - 1, 1, 1],
        block: [1024, 1, 1],
        dynamicSharedBytes: 0,
        params: pointerParams(0, 400),
      },
      other,
    );
    const met = session.call('launch', launch(blocks, cells));
    const before = session.find(busy)?.result?.launch;
    expect(met.failure).toBeUndefined();
    // Half an SM is free meanwhile: room for a few of the blocks, which would wait for the others in vain.
    expect(before?.endNs).toBeLessThanOrEqual(met.result?.launch?.endNs ?? 0);
    expect(met.timeNs).toBeGreaterThan(session.find(busy)?.timeNs ?? Infinity);
    const { result } = session.call('memcpyDeviceToHost', { address: cells, bytes: 8, pinned: true });
    const doubled = 0x01010101 * 2 ** ROUNDS;
    expect(new Int32Array((result?.bytes ?? new Uint8Array(8)).slice().buffer)).toEqual(
      Int32Array.of(doubled, doubled),
    );
  });

  it('are refused when they never fit, are only a part, or may not use enough of the device', () => {
    const cells = session.handle('malloc', { bytes: 4096 });
    const failure = (args: ReturnType<typeof launch>): string | undefined =>
      session.call('launch', args).failure?.message;
    expect(failure(launch(MOST_BLOCKS + 1, cells))).toMatch(
      /^grid: 4225 blocks; .* holds 4224 such blocks \(32 on each of 132 SMs/,
    );
    expect(failure({ ...launch(8, cells), controls: { blocks: { lo: 0, hi: 4 } } })).toMatch(
      /^controls\.blocks: \[0, 4\) of 8; a cooperative launch runs all blocks/,
    );
    expect(failure({ ...launch(65, cells), controls: { tpcMask: '1' } })).toMatch(/holds 64 such blocks/);
  });

  it('tell the module’s variables, which copies reach in constant memory too', () => {
    const { result } = session.call('moduleLoad', {
      ptx: readFileSync(FILE, 'utf8'),
      file: 'parameters.ptx',
    });
    const symbols = result?.symbols ?? [];
    expect(symbols.map(({ name, space, bytes }) => [name, space, bytes])).toEqual([
      ['coefficients', 'const', 16],
      ['table', 'global', 8],
      ['counter', 'global', 4],
    ]);
    const address = symbols[0]?.address ?? 0;
    const bytes = Uint8Array.from({ length: 16 }, (_, index) => index);
    expect(session.call('memcpyHostToDevice', { address, bytes, pinned: true }).failure).toBeUndefined();
    expect(session.call('memcpyDeviceToHost', { address, bytes: 16, pinned: true }).result?.bytes).toEqual(
      bytes,
    );
  });
});
