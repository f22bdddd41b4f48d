import { describe, expect, it } from 'vitest';
import { laterFamilies } from './laterArchitectures.js';
import { parseModule } from './index.js';

const registers =
  '.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %q<3>; .reg .f32 %f<9>; .reg .b16 %h<9>; .reg .pred %p<3>;';

/** The refusal of a kernel with this instruction on its third line. */
function refusalOf(instruction: string) {
  const text = `.version 9.0\n.target sm_100a\n.address_size 64\n.entry k() { ${registers}\n\n${instruction}\nret; }\n.entry other() { ret; }`;
  const [k, other] = parseModule(text, 'k.ptx').functions;
  expect(other?.refusal).toBeUndefined();
  return k?.refusal;
}

describe('instructions of later architectures', () => {
  it.each(laterFamilies.map((family) => [family.example, family] as const))(
    'names %s by what it is, who has it and what to do',
    (example, { what, targets, instead }) => {
      expect(refusalOf(`${example} %r1, %r2;`)).toMatchObject({
        line: 6,
        instruction: example,
        reason: `${what}: cards of ${targets} have it, none here; ${instead}`,
      });
    },
  );

  it.each([
    'tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%rd1], %r1;',
    'tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;',
    'tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;',
    'tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];',
    'tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r3, [%r4];',
    'tcgen05.st.sync.aligned.16x64b.x1.b32 [%r3], {%r1};',
    'tcgen05.wait::ld.sync.aligned;',
    'tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b4x16_p64 [%r1], %rd1;',
    'tcgen05.shift.cta_group::1.down [%r1];',
    'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;',
    'tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r3], %r2, %p1;',
    'tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;',
    '@%p1 tcgen05.fence::before_thread_sync;',
    'tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];',
    'clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;',
    'mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, {0,1}, %r8, {0,1};',
    'stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%rd1], {%r1};',
    'sub.f32.bf16 %f1, %h1, %f2;',
    'fma.rn.f32.f16 %f1, %h1, %h2, %f2;',
    'max.NaN.f32 %f1, %f2, %f3, %f4;',
    'cvt.rn.bf16x2.ue8m0x2 %r1, %h1;',
    'cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1,%f2,%f3,%f4}, %r2;',
    'ld.global.L1::no_allocate.L2::evict_first.v4.u64 {%rd1,%rd2,%rd3,%rd4}, [%rd1];',
    'ld.global.v4.b64 {%rd1,%rd2,%rd3,%rd4}, [%rd1];',
  ])('has cards of later architectures in its reason for %s', (instruction) => {
    expect(refusalOf(instruction)?.reason).toMatch(/sm_1[02][03]a? (?:and|have|have,)|sm_1\d\da/);
  });

  it.each([
    'ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd1];',
    'cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;',
    'ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%rd1];',
    'max.f32 %f1, %f2, %f3;',
    'cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];',
    'multimem.st.relaxed.sys.global.f32 [%rd1], %f1;',
  ])('has no such reason for %s', (instruction) => {
    expect(refusalOf(instruction)?.reason ?? '').not.toContain('none here');
  });

  it('says of addresses of several GPUs which cards have them', () => {
    expect(refusalOf('multimem.ld_reduce.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];')?.reason).toMatch(
      /sm_90 .*each GPU by itself/,
    );
  });
});
