import { describe, expect, it } from 'vitest';
import { profileNamed } from '../gpu/index.js';
import { SCHEDULING_POLICY_NAMES } from '../scheduling/index.js';
import { VirtualClock } from '../time/index.js';
import { GpuNode } from './index.js';
import { Contended, ELEMENTS, STRIDES, inputs } from './tests/killedKernel.js';
import { pointerParams, Session } from './tests/session.js';

/** Each thread adds its number to its word in the block of the next rank, and stores what it has got. */
const RING = `.version 9.0
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %rd<8>;
  .shared .align 4 .b32 box[64];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r4, %r4, %r5, %r1; add.u32 %r2, %r2, 1; rem.u32 %r2, %r2, %r3;
  mov.u32 %r6, box; shl.b32 %r7, %r1, 2; add.u32 %r6, %r6, %r7; mapa.shared::cluster.u32 %r8, %r6, %r2;
  barrier.cluster.arrive; barrier.cluster.wait;
  red.shared::cluster.add.u32 [%r8], %r4;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.shared.u32 %r9, [%r6];
  mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r9;
  ret;
}`;
const THREADS = 64;

function ringOf(blocks: number, size: number): number[] {
  return Array.from({ length: blocks * THREADS }, (_, at) => {
    const block = Math.floor(at / THREADS);
    const before = block - (block % size) + ((block + size - 1) % size);
    return before * THREADS + (at % THREADS);
  });
}

/** What a session's buffer holds. */
function words(session: Session, address: number, count: number): number[] {
  const { result, failure } = session.call('memcpyDeviceToHost', { address, bytes: 4 * count, pinned: true });
  if (result?.bytes === undefined) throw new Error(failure?.message);
  return [...new Int32Array(Uint8Array.from(result.bytes).buffer)];
}

describe('clusters of blocks on a device', () => {
  it.each([
    [2, 300],
    [3, 999],
    [8, 1200],
    [16, 640],
  ])('of %i blocks start at once on the SMs of one GPC', (size, blocks) => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, { gpus: ['h200'], backingBytes: 2 ** 25 });
    const reports: { block: number; sm: number; startNs: number }[] = [];
    const session = Object.assign(new Session(node, clock), {
      onBlockDone: (report: (typeof reports)[number]) => void reports.push(report),
    }).open();
    const module = session.handle('moduleLoad', { ptx: RING, file: 'ring.ptx' });
    const out = session.handle('malloc', { bytes: blocks * THREADS * 4 });
    const { failure } = session.call('launch', {
      module,
      kernel: 'ring',
      grid: [blocks, 1, 1],
      block: [THREADS, 1, 1],
      cluster: [size, 1, 1],
      nonPortableCluster: true,
      // So much that an SM holds two blocks.
      dynamicSharedBytes: 100 * 1024,
      params: pointerParams(out),
      controls: { reportBlocks: true },
    });
    expect(failure).toBeUndefined();
    expect(words(session, out, blocks * THREADS)).toEqual(ringOf(blocks, size));
    expect(reports.map(({ block }) => block).sort((a, b) => a - b)).toEqual(
      Array.from({ length: blocks }, (_, block) => block),
    );
    const { gpcTpcs, smsPerTpc } = node.profiles[0];
    const gpcOf = gpcTpcs.flatMap((tpcs, gpc) => new Array<number>(tpcs * smsPerTpc).fill(gpc));
    const byBlock = new Map(reports.map((report) => [report.block, report]));
    for (let first = 0; first < blocks; first += size) {
      const cluster = Array.from({ length: size }, (_, rank) => byBlock.get(first + rank));
      expect(new Set(cluster.map((each) => gpcOf[each?.sm ?? -1])).size).toBe(1);
      expect(new Set(cluster.map((each) => each?.startNs)).size).toBe(1);
    }
  });

  it('leave the same bytes under every policy, beside urgent launches', () => {
    for (const scheduling of SCHEDULING_POLICY_NAMES) {
      const run = new Contended({ scheduling });
      const session = run.best;
      const module = session.handle('moduleLoad', { ptx: RING, file: 'ring.ptx' });
      const out = session.handle('malloc', { bytes: 96 * THREADS * 4 });
      const ticket = session.send('launch', {
        module,
        kernel: 'ring',
        grid: [96, 1, 1],
        block: [THREADS, 1, 1],
        cluster: [4, 1, 1],
        dynamicSharedBytes: 0,
        params: pointerParams(out),
      });
      run.clock.run(run.clock.nowNs() + 3_000);
      run.startUrgent();
      run.clock.run();
      expect([scheduling, session.find(ticket)?.failure]).toEqual([scheduling, undefined]);
      expect(words(session, out, 96 * THREADS)).toEqual(ringOf(96, 4));
    }
  });

  it('are killed and run again in whole clusters', () => {
    const meeting = STRIDES.replace(
      'setp.ge.s32',
      'barrier.cluster.arrive; barrier.cluster.wait; setp.ge.s32',
    ).replace('.param .u32 n)', '.param .u32 n)\n.reqnctapercluster 2, 1, 1');
    const run = new Contended({ scheduling: 'killRestart' }, false, meeting);
    run.startVictim();
    const startNs = run.clock.nowNs();
    for (const ns of [20_000, 140_000]) {
      run.clock.run(startNs + ns);
      run.startUrgent();
    }
    const scaled = new Float32Array(inputs(1).buffer).map((value) => 2 * value + 1);
    expect(new Float32Array(Uint8Array.from(run.output()).buffer)).toEqual(scaled);
    const report = run.best.completions.find(({ op }) => op === 'launch')?.result?.launch;
    expect(report?.kills).toBeGreaterThan(0);
    expect(ELEMENTS).toBe(scaled.length);
  });

  it('are refused by name', () => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, { gpus: ['h200', 'a100'], backingBytes: 2 ** 24 });
    const failureOn = (gpu: number, more: object): string | undefined => {
      const session = new Session(node, clock).open(gpu);
      const module = session.handle('moduleLoad', { ptx: RING, file: 'ring.ptx' });
      const shape = { grid: [8, 1, 1] as const, block: [THREADS, 1, 1] as const, dynamicSharedBytes: 0 };
      return session.call('launch', { module, kernel: 'ring', ...shape, params: pointerParams(0), ...more })
        .failure?.message;
    };
    expect(failureOn(0, { cluster: [3, 1, 1] })).toContain('cluster: 3 in x does not divide grid.x, 8');
    expect(failureOn(0, { cluster: [2, 1, 1], controls: { blocks: { lo: 1, hi: 4 } } })).toContain(
      'controls.blocks: [1, 4) cuts a cluster; both must be multiples of its 2 blocks',
    );
    expect(
      failureOn(0, { cluster: [4, 1, 1], controls: { tpcMask: '1' }, dynamicSharedBytes: 200 * 1024 }),
    ).toContain('cluster: 4 blocks; they must be on the SMs of one GPC at once');
    expect(failureOn(1, {})).toMatch(
      /'ring' needs clusters of blocks \(line \d+: mapa\), which a100 has not/,
    );
    expect(failureOn(1, { cluster: [2, 1, 1] })).toContain('which a100 has not');
  });

  it('take the latency of the network between SMs where they load from one another', () => {
    /** Each thread follows a chain of words, here or in the block of the next rank. */
    const chain = (place: string): string =>
      RING.replace(
        'red.shared::cluster.add.u32 [%r8], %r4;',
        `mov.u32 %r10, 0; mov.u32 %r11, ${place};\nAGAIN: ld.shared::cluster.u32 %r12, [%r11]; add.u32 %r11, %r11, %r12; add.u32 %r10, %r10, 1;
         setp.lt.u32 %p1, %r10, 512; @%p1 bra AGAIN;`,
      ).replace('.reg .b32 %r<16>;', '.reg .b32 %r<16>; .reg .pred %p<2>;');
    const nsOf = (place: string): number => {
      const clock = new VirtualClock();
      const session = new Session(
        new GpuNode(clock, { gpus: ['h200'], backingBytes: 2 ** 24 }),
        clock,
      ).open();
      const module = session.handle('moduleLoad', { ptx: chain(place), file: 'chain.ptx' });
      const out = session.handle('malloc', { bytes: 4 * 32 * 4 });
      const { result } = session.call('launch', {
        module,
        kernel: 'ring',
        grid: [4, 1, 1],
        block: [32, 1, 1],
        cluster: [2, 1, 1],
        dynamicSharedBytes: 0,
        params: pointerParams(out),
      });
      return (result?.launch?.endNs ?? 0) - (result?.launch?.startNs ?? 0);
    };
    const cycles = ((nsOf('%r8') - nsOf('%r6')) * 1.98) / 512;
    const { clusterShared, shared } = profileNamed('h200').timing.latency;
    expect(cycles).toBeGreaterThan(0.9 * (clusterShared - shared));
    expect(cycles).toBeLessThan(1.1 * (clusterShared - shared));
  });
});
