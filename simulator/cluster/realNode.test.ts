import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/index.js';
import { Session } from './tests/session.js';
import { GpuNode } from './index.js';

const REFERENCE = resolve(import.meta.dirname, '../gpu/reference');
const OPTIONS = { gpus: ['h200', 'h200'], backingBytes: 64 * 2 ** 20 };

const ptx = (name: string): string => readFileSync(join(REFERENCE, 'kernels', `${name}.ptx`), 'utf8');

/** Argument bytes of pointers, then 32-bit integers. */
function params(pointers: readonly number[], ...integers: number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(pointers.length * 8 + integers.length * 4));
  pointers.forEach((pointer, index) => view.setBigUint64(index * 8, BigInt(pointer), true));
  integers.forEach((value, index) => view.setInt32(pointers.length * 8 + index * 4, value, true));
  return new Uint8Array(view.buffer);
}

/** Two GPUs, each with a context, three streams, copies both ways, a matrix product, a softmax and a peer copy. */
function load(node: GpuNode, clock: VirtualClock): void {
  const sessions = [0, 1].map((gpu) => new Session(node, clock).open(gpu));
  const buffers = sessions.map((session) => session.handle('malloc', { bytes: 2 ** 20 }));
  sessions.forEach((session, gpu) => {
    const sgemm = session.handle('moduleLoad', { ptx: ptx('sgemm_tiled'), file: 'sgemm_tiled.ptx' });
    const softmax = session.handle('moduleLoad', { ptx: ptx('softmax'), file: 'softmax.ptx' });
    const a = buffers[gpu];
    const c = session.handle('malloc', { bytes: 2 ** 18 });
    const host = new Uint8Array(Float32Array.from({ length: 2 ** 16 }, (_, index) => Math.sin(index)).buffer);
    for (let stream = 0; stream < 3; stream++) {
      const id = session.handle('streamCreate', { priority: stream });
      session.send(
        'memcpyHostToDevice',
        { address: a + stream * 2 ** 18, bytes: host, pinned: stream !== 1 },
        id,
      );
      session.send('eventRecord', { event: stream }, id);
      session.send('eventWait', { event: 0 }, id);
      session.send(
        'launch',
        {
          module: sgemm,
          kernel: 'sgemm_tiled',
          grid: [16, 16, 1],
          block: [16, 16, 1],
          dynamicSharedBytes: 0,
          params: params([a, a + stream * 2 ** 18, c], 256, 256, 256),
        },
        id,
      );
      session.send(
        'launch',
        {
          module: softmax,
          kernel: 'softmax_rows',
          grid: [64, 1, 1],
          block: [256, 1, 1],
          dynamicSharedBytes: 1024,
          params: params([a + stream * 2 ** 18, a + stream * 2 ** 18], 1024),
        },
        id,
      );
      session.send('memcpyDeviceToHost', { address: c, bytes: 2 ** 18, pinned: false }, id);
    }
    session.send('memcpyPeer', {
      destinationContext: sessions[1 - gpu].context,
      destination: buffers[1 - gpu] + 3 * 2 ** 18,
      source: a,
      bytes: 2 ** 16,
    });
  });
}

describe('a loaded node with real kernels', () => {
  it('forks mid-run: both copies and an unforked run end in one state', () => {
    const clock = new VirtualClock();
    const reference = new GpuNode(clock, OPTIONS);
    load(reference, clock);
    clock.run();
    const expected = reference.hash();

    const forkedClock = new VirtualClock();
    const node = new GpuNode(forkedClock, OPTIONS);
    load(node, forkedClock);
    const running = (): number => node.device(0).state.launches.size + node.device(1).state.launches.size;
    while (running() < 1 && forkedClock.step());
    expect(running()).toBe(1);
    const copyClock = new VirtualClock(forkedClock.nowNs());
    const copy = node.fork(copyClock);
    copyClock.run();
    forkedClock.run();
    expect(copy.hash()).toBe(expected);
    expect(node.hash()).toBe(expected);
  });
});
