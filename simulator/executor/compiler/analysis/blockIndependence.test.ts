import { describe, expect, it } from 'vitest';
import { parseModule, type IrFunction } from '../../../ptx/index.js';
import { blockIndependence } from './blockIndependence.js';

function kernel(body: string): IrFunction {
  const text = `.version 9.0
.target sm_90
.address_size 64
.global .align 4 .b8 table[64];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n) {
.reg .pred %p<4>;
.reg .f32 %f<8>;
.reg .b32 %r<8>;
.reg .b64 %rd<12>;
.shared .align 4 .b8 tile[256];
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [n];
cvta.to.global.u64 %rd4, %rd1;
cvta.to.global.u64 %rd5, %rd2;
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %rd6, %r1, 4;
add.s64 %rd7, %rd4, %rd6;
add.s64 %rd8, %rd5, %rd6;
${body}
ret;
}
`;
  const fn = parseModule(text, 'k.ptx').functions.find(({ isEntry }) => isEntry);
  if (fn === undefined) throw new Error('no kernel');
  return fn;
}

const refusal = (body: string): string | undefined => blockIndependence(kernel(body)).refusal;

describe('what blocks may do at once', () => {
  it('names the parameters that a kernel reads and writes through', () => {
    const {
      refusal: why,
      reads,
      writes,
    } = blockIndependence(kernel('ld.global.f32 %f1, [%rd7];\nst.global.f32 [%rd8+4], %f1;'));
    expect(why).toBeUndefined();
    expect(reads).toEqual([new Set(['param 0'])]);
    expect(writes).toEqual([new Set(['param 8'])]);
  });

  it('leaves out what a thread reads where it writes, and what is read as constant', () => {
    const body = 'ld.global.f32 %f1, [%rd8];\nld.global.nc.f32 %f2, [%rd7];\nst.global.f32 [%rd8], %f1;';
    expect(blockIndependence(kernel(body)).reads).toEqual([]);
    const moved = 'ld.global.f32 %f1, [%rd8];\nadd.s64 %rd8, %rd8, 4;\nst.global.f32 [%rd8], %f1;';
    expect(blockIndependence(kernel(moved)).reads).toEqual([new Set(['param 8'])]);
    const wider = 'ld.global.u64 %rd9, [%rd8];\nst.global.f32 [%rd8], %f1;';
    expect(blockIndependence(kernel(wider)).reads).toHaveLength(1);
  });

  it('does not know where a pointer leads that was loaded or put together', () => {
    const loaded = 'ld.global.u64 %rd9, [%rd7];\nst.global.f32 [%rd9], %f1;';
    expect(blockIndependence(kernel(loaded)).writes).toEqual(['any']);
    const halves = 'mov.b64 %rd9, {%r1, %r2};\nld.global.f32 %f1, [%rd9];';
    expect(blockIndependence(kernel(halves)).reads).toEqual(['any']);
    const either = 'setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd9, %rd7, %rd8, %p1;\nld.global.f32 %f1, [%rd9];';
    expect(blockIndependence(kernel(either)).reads).toEqual([new Set(['param 0', 'param 8'])]);
    // An index is no pointer.
    const index = `ld.global.u64 %rd9, [%rd7];
shl.b64 %rd10, %rd9, 2;
add.s64 %rd11, %rd5, %rd10;
st.global.f32 [%rd11], %f1;`;
    expect(blockIndependence(kernel(index)).writes).toEqual([new Set(['param 8'])]);
  });

  it('follows a pointer through a sum that takes in a carry', () => {
    const body = 'add.cc.u64 %rd9, %rd3, %rd6;\naddc.u64 %rd10, %rd7, 0;\nst.global.f32 [%rd10], %f1;';
    expect(blockIndependence(kernel(body)).writes).toEqual([new Set(['param 0'])]);
    const product =
      'mad.lo.cc.u64 %rd9, %rd3, %rd6, %rd3;\nmadc.hi.u64 %rd10, %rd3, %rd6, %rd8;\nst.global.f32 [%rd10], %f1;';
    expect(blockIndependence(kernel(product)).writes).toEqual([new Set(['param 8'])]);
  });

  it('takes no notice of memory that belongs to a block', () => {
    const body = `mov.u32 %r2, tile;
st.shared.f32 [%r2], %f1;
atom.shared.add.f32 %f2, [%r2], %f1;
cvta.shared.u64 %rd9, %rd3;
st.f32 [%rd9], %f1;`;
    expect(blockIndependence(kernel(body))).toEqual({ reads: [], writes: [] });
  });

  it.each([
    ['atom.global.add.u32 %r2, [%rd7], 1;\nst.global.u32 [%rd8], %r2;', /result of an atomic/],
    ['red.global.add.f32 [%rd7], %f1;', /f32/],
    ['atom.global.exch.b32 %r2, [%rd7], 1;', /order may show/],
    ['atom.global.cas.b32 %r2, [%rd7], 1, 2;', /order may show/],
    ['red.global.inc.u32 [%rd7], 7;', /order may show/],
    ['ld.volatile.global.u32 %r2, [%rd7];', /ld\.volatile/],
    ['st.release.gpu.global.u32 [%rd7], %r1;', /st\.release/],
    ['membar.gl;', /fence/],
    ['fence.acq_rel.gpu;', /fence/],
    ['mov.u32 %r2, %smid;', /%smid/],
    ['mov.u64 %rd9, %clock64;', /%clock64/],
  ])('refuses %s', (body, why) => {
    expect(refusal(body)).toMatch(why);
  });

  it.each([
    'red.global.add.u32 [%rd7], 1;',
    'atom.global.add.u32 %r2, [%rd7], 1;',
    'red.global.max.s32 [%rd7], %r1;',
    'red.global.add.u64 [%rd7], %rd3;',
    'membar.cta;',
    'bar.sync 0;',
  ])('allows %s', (body) => {
    expect(refusal(body)).toBeUndefined();
  });
});
