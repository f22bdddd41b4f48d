import { describe, expect, it } from 'vitest';
import { LaunchBench } from './tests/launchBench.js';
import { leftWords, WAYS } from './tests/everyWay.js';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';
const registers = `.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1;`;

/** A kernel that stores %r1 of each of its threads. */
function kernel(body: string, outside = ''): string {
  return `${header}${outside}
.visible .entry k(.param .u64 out) { ${registers}
${body}
st.global.u32 [%rd1], %r1; ret; }`;
}

const lanes = [...Array(32).keys()];

describe.each(WAYS)('variables inside of a kernel: %s', (way) => {
  it('have their values, whatever their space, type and shape', () => {
    const text = kernel(`.const .u32 table[2][2] = {{10, 20}, {30, 40}};
.global .align 8 .v2 .u32 pair = {100, 200};
.global .u16 narrow[] = {1000, 2000};
.const .b32 bits = 1.5;
and.b32 %r2, %r0, 3; mul.wide.u32 %rd2, %r2, 4; mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2;
ld.const.u32 %r1, [%rd3];
ld.global.v2.u32 {%r3, %r4}, [pair]; ld.global.u16 %r5, [narrow+2]; ld.const.u32 %r6, [bits];
add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;`);
    const left = lanes.map((lane) => 10 * ((lane & 3) + 1) + 300 + 2000 + 0x3fc00000);
    expect(leftWords(way, text, 32)).toEqual(left);
  });

  it('hold the addresses of one another, and hide those of outer scopes', () => {
    const text = kernel(
      `.global .u32 g = 2;
.global .u64 where[2] = {g, generic(g)};
{ .const .u32 g = 3; ld.const.u32 %r1, [g]; }
ld.global.u64 %rd2, [where]; ld.global.u32 %r2, [%rd2];
ld.global.u64 %rd2, [where+8]; ld.u32 %r3, [%rd2];
mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3;`,
      '.global .u32 g = 1;',
    );
    expect(leftWords(way, text, 32)).toEqual(lanes.map(() => 322));
  });

  it('are numbered when one declaration makes many', () => {
    const text = kernel(`.global .u32 a<3>, b = 7; .shared .u32 s<2>;
st.global.u32 [a2], 5; st.shared.u32 [s1], 6; ld.global.u32 %r1, [a2]; ld.global.u32 %r2, [a1];
ld.global.u32 %r3, [b]; ld.shared.u32 %r4, [s1];
mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10, %r4;`);
    expect(leftWords(way, text, 32)).toEqual(lanes.map(() => 5076));
  });

  it('are shared by all calls of the function they stand in', () => {
    const text = kernel(
      `.param .b32 r; call (r), f; call (r), f; ld.param.u32 %r1, [r]; min.u32 %r1, %r1, 64;`,
      `.func (.param .b32 r) f() { .reg .b32 %r; .global .u32 calls; atom.global.add.u32 %r, [calls], 1;
add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }`,
    );
    const left = leftWords(way, text, 32);
    expect(Math.max(...left)).toBe(64);
    expect(Math.min(...left)).toBeGreaterThan(1);
  });

  it('take registers of 128 bits as arguments', () => {
    const text = kernel(
      `.reg .b128 q; mov.b64 %rd2, 5; cvt.u64.u32 %rd3, %r0; mov.b128 q, {%rd2, %rd3};
call (q), swap, (q); mov.b128 {%rd2, %rd3}, q; cvt.u32.u64 %r1, %rd2; cvt.u32.u64 %r2, %rd3;
mad.lo.u32 %r1, %r1, 10, %r2;`,
      `.func (.reg .b128 b) swap (.reg .b128 a) { .reg .b64 x, y; mov.b128 {x, y}, a; mov.b128 b, {y, x}; ret; }`,
    );
    expect(leftWords(way, text, 32)).toEqual(lanes.map((lane) => lane * 10 + 5));
  });
});

describe('variables inside of a kernel', () => {
  it('keep what a launch leaves for the next', () => {
    const bench = new LaunchBench();
    const out = bench.buffer(64);
    const { launch, range } = bench.place(
      kernel('.global .u32 seen = 100; atom.global.add.u32 %r1, [seen], 1;'),
      { values: [out] },
    );
    for (const first of [100, 132]) {
      expect(bench.executor.run(launch, range, 'fast', 1e6).status).toBe('done');
      expect(bench.words(out, 32).sort((a, b) => a - b)).toEqual(lanes.map((lane) => first + lane));
    }
  });
});
