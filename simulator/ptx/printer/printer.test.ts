import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lowerModule, parseModule, type IrModule } from '../index.js';
import { printFunction, printInstruction, printModule } from './index.js';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';

/** The IR without the lines of the text that it came from, and without functions that are refused: of these a comment is printed. */
function withoutLines(ir: IrModule): string {
  const functions = ir.functions.filter(({ refusal }) => refusal === undefined);
  return JSON.stringify(
    { ...ir, functions },
    (key, value: unknown) => (key === 'line' ? undefined : value),
    1,
  );
}

/** What a module prints as, once that text has been found to parse to the same module. */
function printed(text: string, file = 'k.ptx'): string {
  const ir = parseModule(text, file);
  const found = printModule(ir);
  const again = parseModule(found, file);
  // Strings are compared first, since a deep comparison of large modules takes seconds.
  if (withoutLines(again) !== withoutLines(ir)) expect(withoutLines(again), found).toBe(withoutLines(ir));
  return found;
}

const root = new URL('../../../', import.meta.url);
const fixtures = ['simulator', 'containers'].flatMap((room) =>
  readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ptx'))
    .map((name) => `${room}/${name}`),
);

describe('printModule', () => {
  it('finds fixtures to print', () => {
    expect(fixtures.length).toBeGreaterThan(25);
  });

  it.each(fixtures)('prints %s as a text that parses to the same', (file) => {
    printed(readFileSync(new URL(file, root), 'utf8'), file);
  });

  it('keeps the order, linkage and values of variables', () => {
    const text = `${header}
.func first() { ret; }
.visible .global .align 16 .f32 a[3] = {0f3F800000, 0f7FC00001, 0f80000000};
.global .u64 table[3] = {first, generic(a)+4, 7};
.weak .const .align 8 .u8 bytes[16] = {1, 255, 0, 0xFF(a), 0xFF00(a), 0xFF0000(a), 0xFF000000(a), 0xFF00000000(a), 0xFF0000000000(a), 0xFF000000000000(a), 0xFF00000000000000(a)};
.global .f64 d = 0dBFF0000000000000;
.extern .shared .align 4 .b8 dynamic[];
.common .global .s16 c = -3;
`;
    const found = printed(text);
    expect(found).toContain('.visible .global .align 16 .f32 a[3] = {0f3F800000, 0f7FC00001, 0f80000000};');
    expect(found).toContain('.global .u64 table[3] = {first, generic(a)+4, 7};');
    expect(found).toContain('0xFF00(a)');
    expect(found).toContain('.global .f64 d = 0dBFF0000000000000;');
    expect(found).toContain('.extern .shared .align 4 .b8 dynamic[];');
    expect(found).toContain('.common .global .s16 c = -3;');
    expect(found.indexOf('.func first')).toBeLessThan(found.indexOf('table[3]'));
  });

  it('prints floats as their bits, integers as numbers, and addresses with their offsets', () => {
    const found = printed(`${header}
.visible .entry k(.param .u64 p) {
  .reg .f32 %f<4>; .reg .f64 %d<3>; .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [p];
  mov.f32 %f1, 0f7FC12345; mov.f64 %d1, 0.1; add.f32 %f2, %f1, 1.5;
  mov.u32 %r1, 0xFFFFFFFF; mov.s64 %rd2, -5; mov.u32 %r2, %tid.x;
  setp.lt.f32 %p1|%p2, %f1, %f2;
  @!%p1 st.global.v2.f32 [%rd1+-8], {%f1, %f2};
  atom.global.add.u32 _, [%rd1+4], 1;
  ret;
}`);
    for (const line of [
      'mov.f32 %f1, 0f7FC12345;',
      'mov.f64 %d1, 0d3FB999999999999A;',
      'add.f32 %f2, %f1, 0f3FC00000;',
      'mov.u32 %r1, 4294967295;',
      'mov.s64 %rd2, -5;',
      'mov.u32 %r2, %tid.x;',
      'setp.lt.f32 %p1|%p2, %f1, %f2;',
      '@!%p1 st.global.v2.f32 [%rd1+-8], {%f1, %f2};',
      'atom.global.add.u32 _, [%rd1+4], 1;',
    ])
      expect(found).toContain(`  ${line}\n`);
  });

  it('gives lists of targets and prototypes labels of their own', () => {
    const found = printed(`${header}
.func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u32 n) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .param .b32 x; .param .b32 y;
  ld.param.u32 %r1, [n];
  list: .branchtargets A, B, A;
  brx.idx %r1, list;
A: st.param.b32 [x], %r1; mov.u64 %rd1, f;
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (y), %rd1, (x), proto;
  list2: .calltargets f;
  call (y), %rd1, (x), list2;
  call.uni (y), f, (x);
B: ret;
}`);
    expect(found).toContain(': .branchtargets A, B, A;');
    expect(found).toContain(': .callprototype (.param .b32 _) _ (.param .b32 _);');
    expect(found).toContain(': .calltargets f;');
    expect(found).toContain('call.uni (y), f, (x);');
  });

  it('tells names of scopes apart', () => {
    const found = printed(`${header}
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<3>; .reg .pred %p1; mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 2;
  { .reg .b32 %r1; .shared .b32 s; L: mov.u32 %r1, 2; st.shared.u32 [s], %r1; @%p1 bra L; }
  { .shared .b32 s; L: st.shared.u32 [s], %r1; @%p1 bra L; }
  ret;
}`);
    expect(found).toContain('%r1$2');
    expect(found).toContain('s$2');
    expect(found).toContain('L$2:');
  });

  it('does not print the condition code', () => {
    const found = printed(`${header}
.visible .entry k() { .reg .b32 %r<9>; add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, %r6; ret; }`);
    expect(found).toContain('add.cc.u32 %r1, %r2, %r3;');
    expect(found).not.toContain('%cc');
  });

  it('says of a refused function why it is not there', () => {
    const text = `${header}
.visible .entry bad() { .reg .f32 %f<3>; wgmma.fence.sync.aligned; ret; }
.visible .entry good() { ret; }`;
    const ir = parseModule(text, 'k.ptx');
    const found = printModule(ir);
    expect(found).toMatch(/\/\/ bad cannot run: line 5, 'wgmma.fence.sync.aligned': /);
    expect(parseModule(found, 'k.ptx').functions.map(({ name }) => name)).toEqual(['good']);
    const [bad] = ir.functions;
    if (bad === undefined) throw new Error('no function');
    expect(() => printFunction(bad)).toThrow(/bad cannot be printed: line 5/);
  });
});

describe('printInstruction', () => {
  it('prints lowered code too', () => {
    const text = `${header}
.visible .entry k(.param .u64 p) {
  .reg .f32 %f<6>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; ld.global.f32 %f1, [%rd1];
  mul.f32 %f2, %f1, %f1; add.f32 %f3, %f2, 0f3F800000; st.global.f32 [%rd1], %f3; ret;
}`;
    const [fn] = lowerModule(parseModule(text, 'k.ptx')).functions;
    if (fn === undefined) throw new Error('no function');
    const fma = fn.instructions.find(({ opcode }) => opcode === 'fma');
    if (fma === undefined) throw new Error('no fma');
    expect(printInstruction(fma, fn)).toBe('fma.rn.f32 %f3, %f1, %f1, 0f3F800000;');
    expect(printFunction(fn)).toContain('fma.rn.f32 %f3, %f1, %f1, 0f3F800000;');
  });
});
