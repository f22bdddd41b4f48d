import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule, PtxParseError, type IrModule } from './index.js';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';

/** A kernel around statements, with the names that the fixture's statements use. */
function kernel(body: string): string {
  return `.global .align 16 .b8 gv[64]; .global .u32 gm = 1; .shared .align 16 .b8 sv[64]; .const .align 4 .b8 cv[16];
.func (.param .b32 r) fn (.param .b32 a) { .reg .b32 %r1; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 kp) {
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>;
${body}\n}\n`;
}

function parse(text: string): IrModule {
  return parseModule(header + text, 'a.ptx');
}

/** Texts that ptxas of CUDA 13.0 assembles for sm_90: `=== m name` a module, `=== b name` statements of a kernel. */
const texts = readFileSync(new URL('fixtures/assembled.txt', import.meta.url), 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((part) => {
    const [head = '', ...lines] = part.split('\n');
    const text = lines.join('\n');
    return [head.slice(2), head.startsWith('m') ? text : kernel(text)] as const;
  });

/** The first source of each `mov` and the offset of each `ld`, as numbers. */
function constants(body: string): number[] {
  const fn = parse(kernel(body)).functions.at(-1);
  expect(fn?.refusal).toBeUndefined();
  return (fn?.instructions ?? []).flatMap(({ sources: [source] }) => {
    if (source?.kind === 'integer') return [Number((BigInt(source.high) << 32n) | BigInt(source.low >>> 0))];
    return source?.kind === 'address' ? [source.offset] : [];
  });
}

describe('texts that the assembler takes', () => {
  it.each(texts)('%s: loads, or is refused as unsupported', (_, text) => {
    try {
      parse(text);
    } catch (error) {
      expect(error).toBeInstanceOf(PtxParseError);
      expect((error as PtxParseError).code).toBe('unsupported');
    }
  });
});

describe('constant expressions', () => {
  it.each([
    ['(3+4)*5-1', 34],
    ['~5', -6],
    ['2+3*4', 14],
    ['1<<4|3', 19],
    ['17 % 5 - 1', 1],
    ['-7/2', -3],
    ['(2>3) ? 5 : 6', 6],
    ['0 ? 1 : 0 ? 2 : 3', 3],
    ['1&&0||1', 1],
    ['(.s64)-1 < 0', 1],
    ['(.u64)-1 < 1', 0],
    ['0-7>>1', -4],
    ['!5 + (1.0<2.0)', 1],
    ['WARP_SZ*2', 64],
    ['017 + 0b101 + 0x1FU', 51],
  ])('%s is %d', (text, value) => {
    expect(constants(`mov.s64 %rd1, ${text};`)).toEqual([value]);
  });

  it('stand in offsets, sizes and initial values', () => {
    expect(constants('ld.global.u32 %r1, [gv+8-4]; ld.global.u32 %r1, [%rd1 + (1 ? 4 : 8)*2];')).toEqual([
      4, 8,
    ]);
    const [a, , p] = parse(
      '.global .u8 a[6] = {1+1, ~0}; .global .u32 g[4]; .global .u64 p = generic(g)+4*2;',
    ).variables;
    expect([a?.bytes, ...(a?.initial ?? [])]).toEqual([6, 2, 255]);
    expect(p?.relocations).toMatchObject([{ symbol: 'g', addend: 8 }]);
  });

  it.each([
    '1/0',
    '1 % 0',
    '~1.0',
    '(1',
    '1 ? 2',
    '1.0 + 2',
    '-0f3F800000',
    '1.0 ? 2 : 3',
    `${'('.repeat(5000)}1${')'.repeat(5000)}`,
  ])('are refused with a place: %.20s', (text) => {
    expect(() => parse(kernel(`mov.s64 %rd1, ${text};`))).toThrow(PtxParseError);
  });
});

describe('variables of a kernel in shared memory spaces', () => {
  it('lie in the module under names of their own, by scope', () => {
    const module = parse(`.global .u32 g = 1;
.entry k() { .reg .u32 %r<4>; .global .u32 g = 2; .global .u64 p = g;
{ .const .u32 g = 3; ld.const.u32 %r1, [g]; } ld.global.u32 %r2, [g]; ret; }
.global .u32 k$g;`);
    expect(module.variables.map(({ name, space }) => [name, space])).toEqual([
      ['g', 'global'],
      ['k$g$2', 'global'],
      ['k$p', 'global'],
      ['k$g$3', 'const'],
      ['k$g', 'global'],
    ]);
    expect(module.variables[2]?.relocations).toMatchObject([{ symbol: 'k$g$2' }]);
    expect(module.functions[0]?.variables).toEqual([]);
    expect(module.functions[0]?.instructions.slice(0, 2).map(({ sources: [from] }) => from)).toMatchObject([
      { base: 'k$g$3' },
      { base: 'k$g$2' },
    ]);
  });
});

describe('functions of old PTX', () => {
  it('take vectors and predicates in registers', () => {
    const module =
      parse(`.func (.reg .pred q) f (.reg .pred p, .reg .v2 .u32 a) { setp.eq.and.u32 q, a.y, 1, p; ret; }
.func (.reg .pred q) g (.reg .pred p) { mov.pred q, p; ret; }
.entry k() { .reg .pred p, q; call (q), g, (p); ret; }`);
    expect(module.functions.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
    const opcodes = module.functions[2]?.instructions.map(({ opcode }) => opcode);
    expect(opcodes).toEqual(['selp', 'call', 'setp', 'ret']);
    expect(module.functions[0]?.parameters.map(({ offset, bytes }) => [offset, bytes])).toEqual([
      [0, 4],
      [8, 8],
    ]);
  });

  it('have textures by name', () => {
    const text = '.target sm_13\n.tex .u64 ta, tb;\n.entry k() { ret; }';
    expect(() => parseModule(`.version 1.4\n${text}`, 'a.ptx')).not.toThrow();
    expect(() => parseModule(`.version 1.5\n${text}`, 'a.ptx')).toThrow("expected '.global .texref'");
  });
});
