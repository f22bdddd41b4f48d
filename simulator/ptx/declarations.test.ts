import { describe, expect, it } from 'vitest';
import { type IrModule, parseModule } from './index.js';

const header = '.version 9.0\n.target sm_90, texmode_independent, debug\n.address_size 64\n';

function parse(text: string): IrModule {
  return parseModule(header + text, 'd.ptx');
}

describe('declarations', () => {
  it('keep linkage, and heads of functions without a body', () => {
    const module = parse(`.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.weak .func g(.param .b32 a) .noreturn;
.common .global .u32 c;
.extern .global .u32 e;
.visible .global .align 8 .b8 v[8];
.weak .func g(.param .b32 a) .noreturn { trap; }
.visible .entry k() .maxntid 256, 1, 1 .pragma "nounroll", "x"; .maxnreg 32 { ret; }`);
    expect(module.declarations.map(({ name, linkage }) => [name, linkage])).toEqual([
      ['vprintf', 'extern'],
      ['g', 'weak'],
    ]);
    expect(module.externalFunctions).toEqual(['vprintf']);
    expect(module.functions.map(({ name, linkage }) => [name, linkage])).toEqual([
      ['g', 'weak'],
      ['k', 'visible'],
    ]);
    expect(module.functions[0]?.directives).toEqual({ noreturn: [] });
    expect(module.functions[1]?.directives).toEqual({ maxntid: [256, 1, 1], maxnreg: [32] });
    expect(module.variables.map(({ linkage, isExtern }) => [linkage, isExtern])).toEqual([
      ['common', false],
      ['extern', true],
      ['visible', false],
    ]);
  });

  it('resolve aliases', () => {
    const module = parse(`.func f() { ret; }
.func other();
.entry k() { .reg .b64 %rd; call other; mov.u64 %rd, other; ret; }
.alias other, f;`);
    expect(module.externalFunctions).toEqual([]);
    expect(module.declarations).toEqual([]);
    const k = module.functions[1];
    expect(k?.instructions.slice(0, 2).map(({ sources }) => sources[0])).toEqual([
      { kind: 'symbol', name: 'f', offset: 0 },
      { kind: 'symbol', name: 'f', offset: 0 },
    ]);
  });

  it('turn parameters in registers into parameters that are loaded and stored', () => {
    const module = parse(`.func (.reg .u32 %out) f (.reg .u32 %a, .reg .f64 %b)
{ .reg .pred %p; add.u32 %out, %a, 1; @%p ret; add.u32 %out, %out, 1; }
.entry k() { .reg .u32 %r<3>; call (%r1), f, (%r2, 0d0000000000000000); }`);
    const [f, k] = module.functions;
    expect([f?.refusal, k?.refusal]).toEqual([undefined, undefined]);
    expect(f?.parameters.map(({ name, offset }) => [name, offset])).toEqual([
      ['%a$value', 0],
      ['%b$value', 8],
    ]);
    expect(f?.instructions.map(({ opcode, modifiers }) => [opcode, ...modifiers].join('.'))).toEqual([
      'ld.param.u32',
      'ld.param.f64',
      'add.u32',
      'st.param.u32',
      'ret',
      'add.u32',
      'st.param.u32',
      'ret',
    ]);
    expect(f?.instructions[3]?.guard).toEqual(f?.instructions[4]?.guard);
  });

  it('read debug directives in the middle of a line, preprocessor lines and escaped names', () => {
    const module = parse(`.file 1 "a\\"b.cu", 1700000000, 1234
#line 7
.entry k()
{ .reg .b32 %r; .loc 1 10 44, function_name $L__info + 4, inlined_at 1 5 3 mov.u32 %r, 1; .loc 1 2 3
ret; }
# 3 "a.cu"
.section .debug_str { info: .b8 1, 2 .b64 info+5 .b32 info-info }`);
    expect(module.functions[0]?.instructions.map(({ line }) => line)).toEqual([7, 8]);
  });

  it('put addresses that are written byte by byte together', () => {
    const parts = [...Array(8).keys()].map((byte) => `0x${'FF' + '00'.repeat(byte)}(generic(g)+4)`);
    const module = parse(`.global .u32 g[2];\n.global .align 1 .u8 t[10] = {1, ${parts.join(', ')}, 2};`);
    expect(module.variables[1]?.relocations).toEqual([{ offset: 1, symbol: 'g', addend: 4, generic: true }]);
    expect([...(module.variables[1]?.initial ?? [])]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
  });

  it('hold a word or a byte of an address where that is what is written', () => {
    const module = parse(
      '.global .u32 g[2];\n.global .u32 t[3] = {g, 7, g+4};\n.global .u8 b[2] = {0xFF00(g), 1};\n.global .u32 m = 0xFF(generic(g));',
    );
    expect(module.variables.slice(1).map(({ relocations }) => relocations)).toEqual([
      [
        { offset: 0, symbol: 'g', addend: 0, generic: false, part: { shift: 0, bytes: 4 } },
        { offset: 8, symbol: 'g', addend: 4, generic: false, part: { shift: 0, bytes: 4 } },
      ],
      [{ offset: 0, symbol: 'g', addend: 0, generic: false, part: { shift: 8, bytes: 1 } }],
      [{ offset: 0, symbol: 'g', addend: 0, generic: true, part: { shift: 0, bytes: 1 } }],
    ]);
  });

  it('refuse only the entry whose parameter is a texture, or whose grid counts clusters', () => {
    const module = parse(`.global .texref t;
.global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };
.entry a(.param .texref t0) { ret; }
.entry b(.param .u64 .ptr .surfref s0) { ret; }
.entry c() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.entry d() .maxclusterrank 8 { ret; }
.entry e() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }`);
    expect(module.functions.map(({ refusal }) => refusal?.instruction)).toEqual([
      '.param t0',
      undefined,
      undefined,
      undefined,
      '.blocksareclusters',
    ]);
  });

  it.each([
    ['.func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }', 5, 'f as it was declared before'],
    ['.func f();\n.alias f, g;', 5, 'a function with a body'],
    ['.alias f, g;', 4, 'a function that is declared without a body'],
    ['.entry k(.reg .u32 %a) { ret; }', 4, 'parameters of an entry in .param'],
    ['.global .u32 g;\n.global .u8 t[8] = {0xFFFF(g)};', 5, 'a mask of one byte'],
    ['.global .u32 g;\n.global .u16 t = g;', 5, 'a variable of .u64 or .u32 for an address'],
    ['.global .u32 g;\n.global .s64 t = g;', 5, 'a variable of .u64 or .u32 for an address'],
    ['.global .u32 g;\n.global .b64 t = generic(g);', 5, 'a variable of .u64 or .u32 for an address'],
    ['.global .u32 g;\n.global .b32 t = g;', 5, 'a variable of .u64 or .u32 for an address'],
    ['.global .u32 g;\n.global .f64 t = g;', 5, 'a variable of .u64 or .u32 for an address'],
    ['.global .u32 g;\n.global .b8 t[8] = {0xFF(g)};', 5, 'a variable of .u8 for a byte of an address'],
    ['.global .u32 g;\n.global .u64 t = g-4;', 5, "'+' before an offset"],
    ['.global .u32 g;\n.global .u64 t = generic(g+4);', 5, "')'"],
    ['.shared .u32 g;\n.global .u64 t = g;', 5, 'a variable in .global or .const'],
    ['.global .u64 t = g;\n.global .u32 g;', 4, 'a declared variable'],
    ['.global .u64 t = t;', 4, 'a declared variable'],
    ['.global .u32 t = 1.5;', 4, 'a value of the type .u32'],
    ['.global .f32 t = 1;', 4, 'a value of the type .f32'],
    ['.file "a.cu"', 4, 'the number of a file'],
    ['#define X 1', 4, 'PTX text'],
  ])('name line and expectation of the malformed text %j', (text, line, expected) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ line, expected: expect.stringContaining(expected) as string }),
    );
  });
});
