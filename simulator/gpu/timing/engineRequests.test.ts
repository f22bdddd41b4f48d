import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLaunchSpec } from '../../launchSpec/index.js';
import { EngineRequests } from './engineRequests.js';

describe('pieces of copies', () => {
  it('are joined to requests of a warp, by what asks and where', () => {
    const taken: string[] = [];
    const requests = new EngineRequests((space, warp, index, kind, bytes, mask, addresses) =>
      taken.push(`${space} ${warp}/${index} ${kind} ${bytes} ${mask >>> 0} from ${addresses[0]}`),
    );
    for (let piece = 0; piece < 40; piece++) {
      requests.add('global', 3, 7, 'load', 16, 1, Float64Array.of(4096 + 16 * piece));
      requests.add('shared', 3, 8, 'store', 16, 2, Float64Array.of(0, 16 * piece));
    }
    requests.add('shared', 3, 9, 'store', 4, 1, Float64Array.of(64));
    requests.flush();
    requests.flush();
    expect(taken).toEqual([
      'global 3/7 load 16 4294967295 from 4096',
      'shared 3/8 store 16 4294967295 from 0',
      'shared 3/8 store 16 255 from 512',
      'global 3/7 load 16 255 from 4608',
      'shared 3/9 store 4 1 from 64',
    ]);
  });
});

/** One thread asks for a tile, all wait for it, round after round. */
const text = (bytes: number): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 rounds) {
.shared .align 128 .b8 tile[8192];
.shared .align 8 .b64 bar;
.reg .pred %p<4>; .reg .b32 %r<5>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [in];
ld.param.u32 %r1, [rounds];
mov.u32 %r2, %tid.x;
mov.u32 %r3, 0;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra READY;
mbarrier.init.shared.b64 [bar], 1;
READY:
bar.sync 0;
ROUND:
@%p1 bra ISSUED;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], ${bytes};
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], ${bytes}, [bar];
ISSUED:
and.b32 %r4, %r3, 1;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r4;
@!%p2 bra WAIT;
bar.sync 0;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p3, %r3, %r1;
@%p3 bra ROUND;
ret;
}
`;

describe('the time of a copy', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-copies-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  /** Microseconds of a round, by launches of one and of 41. */
  function roundUs(bytes: number): number {
    writeFileSync(join(folder, 'k.ptx'), text(bytes));
    const [once, often] = [1, 41].map((rounds) => {
      const args = [{ buffer: { type: 'f32', count: 2048 } }, { u32: rounds }];
      const spec = { ptx: 'k.ptx', kernel: 'k', device: 'h200', grid: [1, 1, 1], block: [128, 1, 1], args };
      return runLaunchSpec(spec, folder).durationUs;
    });
    return (often - once) / 40;
  }

  it('is that of its memory, which the wait shows, and not that of the instructions that stand for it', () => {
    const [short, long] = [roundUs(512), roundUs(8192)];
    // An answer of L2 takes 0.14 us.
    expect(short).toBeGreaterThan(0.12);
    expect(long).toBeGreaterThan(short);
    // Sixteen times as many pieces: issued by a lane one by one they would take over 2 us more.
    expect(long).toBeLessThan(short + 0.3);
  });
});
