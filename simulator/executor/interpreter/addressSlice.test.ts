import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { FuzzBench, generateKernel } from '../../laboratory/fuzz/index.js';
import { ReferenceInterpreter, addressSlice, type InterpreterObserver } from './index.js';

function partsOf(body: string): Map<string, string> {
  const [fn] = parseModule(
    `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 at, .param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
  .shared .align 4 .b8 counts[128];
  ${body}
}`,
    'k.ptx',
  ).functions;
  const parts = addressSlice(fn);
  return new Map(
    fn.instructions.map(({ opcode, modifiers }, index) => {
      const space = modifiers.find((modifier) => modifier === 'global' || modifier === 'shared');
      return [space === undefined ? opcode : `${opcode}.${space}`, parts[index]];
    }),
  );
}

const PLACE =
  'ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.param.u64 %rd4, [out];';

/** What an observer hears of a run, lane by lane whichever way it is told. */
function heard(seed: number, generation: 1 | 2, sliced: boolean): { steps: number; digest: string } {
  const bench = new FuzzBench(generateKernel(seed, { generation }));
  const hash = createHash('sha256');
  let steps = 0;
  const byLane: InterpreterObserver = {
    onStep: (warp, pc, lanes, active) => {
      steps += 1;
      hash.update(`step ${warp.block} ${warp.index} ${pc} ${lanes} ${active}\n`);
    },
    onAccess: (_warp, _pc, lane, space, address, bytes, kind) =>
      hash.update(`${lane} ${space} ${address} ${bytes} ${kind}\n`),
  };
  const together: InterpreterObserver = {
    ...byLane,
    onAccesses: (_warp, _pc, lanes, space, addresses, bytes, kind) => {
      for (let lane = 0; lane < 32; lane++)
        if (((lanes >>> lane) & 1) !== 0)
          hash.update(`${lane} ${space} ${addresses[lane]} ${bytes} ${kind}\n`);
    },
  };
  const blocks = Array.from({ length: bench.blocks }, (_, block) => block);
  const options = sliced ? { observer: together, slice: addressSlice } : { observer: byLane };
  const { status } = new ReferenceInterpreter(options).runBlocks(bench.launch, blocks, 10_000_000);
  bench.close();
  hash.update(status);
  return { steps, digest: hash.digest('hex') };
}

describe('the slice that decides paths and addresses', () => {
  it('leaves out arithmetic whose results are only stored, and moves nothing', () => {
    const parts = partsOf(
      `${PLACE} ld.global.f32 %f1, [%rd3]; fma.rn.f32 %f2, %f1, %f1, %f1; st.global.f32 [%rd4], %f2; ret;`,
    );
    expect(parts.get('fma')).toBe('nothing');
    expect(parts.get('ld.global')).toBe('place');
    expect(parts.get('st.global')).toBe('place');
    expect(parts.get('add')).toBe('whole');
  });

  it('keeps what comes back as an address, by way of memory too', () => {
    const parts = partsOf(
      `${PLACE} ld.global.u32 %r2, [%rd3]; shl.b32 %r3, %r2, 2; st.shared.u32 [counts], %r3; bar.sync 0;
       ld.volatile.shared.u32 %r4, [counts]; cvt.u64.u32 %rd5, %r4; add.s64 %rd6, %rd4, %rd5;
       mul.lo.u32 %r5, %r4, %r2; st.global.u32 [%rd6], %r5; ret;`,
    );
    for (const name of ['ld.global', 'shl', 'st.shared', 'ld.shared', 'cvt'])
      expect(parts.get(name), name).toBe('whole');
    // What is stored might be what another thread loads as an address.
    expect(parts.get('mul')).toBe('whole');
    expect(parts.get('st.global')).toBe('whole');
  });

  it('keeps what decides a branch', () => {
    const parts = partsOf(
      `${PLACE} ld.global.f32 %f1, [%rd3]; mul.f32 %f2, %f1, %f1; setp.gt.f32 %p1, %f2, 0f00000000; @%p1 bra $out;
       neg.f32 %f3, %f2; st.shared.f32 [counts], %f3; $out: ret;`,
    );
    expect([parts.get('ld.global'), parts.get('mul'), parts.get('setp')]).toEqual([
      'whole',
      'whole',
      'whole',
    ]);
    expect([parts.get('neg'), parts.get('st.shared')]).toEqual(['nothing', 'place']);
  });

  it.each([1, 2] as const)(
    'shows the same steps and accesses of random kernels (generation %i)',
    (generation) => {
      for (let seed = 3001; seed <= 3012; seed++) {
        const whole = heard(seed, generation, false);
        expect(whole.steps).toBeGreaterThan(0);
        expect(heard(seed, generation, true), `seed ${seed}`).toEqual(whole);
      }
    },
  );
});
