import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule, PtxParseError } from './index.js';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';
const kernels = new URL('../gpu/reference/kernels/', import.meta.url);

function parseBody(body: string) {
  const module = parseModule(
    `${header}.visible .entry k(.param .u64 k_0, .param .u32 k_1)\n{\n${body}\n}\n`,
    'k.ptx',
  );
  const fn = module.functions[0];
  if (fn === undefined) throw new Error('no function');
  return fn;
}

function parseError(text: string): PtxParseError {
  try {
    parseModule(text, 'bad.ptx');
  } catch (error) {
    if (error instanceof PtxParseError) return error;
    throw error;
  }
  throw new Error('parsed, though it should not');
}

describe('parseModule', () => {
  it.each(readdirSync(kernels).filter((name) => name.endsWith('.ptx')))(
    'reads %s without a refusal',
    (name) => {
      const module = parseModule(readFileSync(new URL(name, kernels), 'utf8'), name);
      expect(module.ptxVersion).toBe('9.0');
      expect(module.targets).toEqual(['sm_90']);
      expect(module.functions.map((fn) => [fn.isEntry, fn.refusal])).toEqual([[true, undefined]]);
    },
  );

  it('lays parameters out at their alignment', () => {
    const module = parseModule(
      `${header}.entry k(.param .u32 a, .param .u64 .ptr .global .align 4 b, .param .align 8 .b8 c[12], .param .u16 d)\n{ ret; }`,
      'k.ptx',
    );
    expect(module.functions[0]?.parameters.map(({ name, offset, bytes }) => [name, offset, bytes])).toEqual([
      ['a', 0, 4],
      ['b', 8, 8],
      ['c', 16, 12],
      ['d', 28, 2],
    ]);
    expect(module.functions[0]?.parameterBytes).toBe(30);
  });

  it('reads variables with initial values, addresses and open extents', () => {
    const module = parseModule(
      `${header}
.global .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 255};
.global .align 8 .u64 pointers[2] = {generic(table)+8, table};
.const .f32 c[2][2] = {{0f3F800000, -2.5}, {3.0, 0d4010000000000000}};
.global .u32 open[] = {7, 010, 0x10, 0b11U};
.extern .shared .align 16 .b8 s[];
`,
      'v.ptx',
    );
    const [table, pointers, c, open, s] = module.variables;
    expect([...(table?.initial ?? [])]).toEqual([1, 0, 0, 0, 2, 0, 0, 0, 255]);
    expect(table?.bytes).toBe(16);
    expect(pointers?.relocations).toEqual([
      { offset: 0, symbol: 'table', addend: 8, generic: true },
      { offset: 8, symbol: 'table', addend: 0, generic: false },
    ]);
    expect([...new Float32Array(c?.initial?.slice().buffer ?? new ArrayBuffer(0))]).toEqual([1, -2.5, 3, 4]);
    expect([...new Int32Array(open?.initial?.slice().buffer ?? new ArrayBuffer(0))]).toEqual([7, 8, 16, 3]);
    expect(s).toMatchObject({ bytes: 0, align: 16, isExtern: true, space: 'shared' });
  });

  it('reads every kind of operand', () => {
    const fn = parseBody(`
      .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<3>; .shared .align 4 .b8 sh[128];
      ld.param.u64 %rd1, [k_0+0];
      setp.lt.and.s32 %p1|%p2, %r1, -7, !%p0;
      ld.global.v4.f32 {%f0, %f1, %f2, _}, [%rd1+-16];
      mov.b64 {%r1, %r2}, %rd1;
      @!%p1 mov.f32 %f1, 1.5;
      mov.u32 %r3, sh;
      mov.u32 %r4, %tid.x;
      mov.u32 %r5, WARP_SZ;
      ld.shared.u32 %r6, [sh+4];
      add.s64 %rd2, %rd1, 0x1FFFFFFFF;`);
    expect(fn.refusal).toBeUndefined();
    const names = fn.registers.map((register) => register.name);
    const register = (name: string) => ({ kind: 'register', register: names.indexOf(name) });
    expect(fn.instructions[0]?.sources).toEqual([{ kind: 'address', base: 'k_0', offset: 0 }]);
    expect(fn.instructions[1]?.destinations).toEqual([
      { kind: 'pair', first: register('%p1'), second: register('%p2') },
    ]);
    expect(fn.instructions[1]?.sources.slice(1)).toEqual([
      { kind: 'integer', low: -7, high: -1 },
      { kind: 'negatedPredicate', register: names.indexOf('%p0') },
    ]);
    expect(fn.instructions[2]?.sources).toEqual([
      { kind: 'address', base: names.indexOf('%rd1'), offset: -16 },
    ]);
    expect(fn.instructions[2]?.destinations[0]).toMatchObject({
      kind: 'vector',
      elements: { 3: { kind: 'sink' } },
    });
    expect(fn.instructions[4]?.guard).toEqual({ register: names.indexOf('%p1'), negated: true });
    expect(fn.instructions[4]?.sources).toEqual([{ kind: 'float', width: 32, low: 0x3fc00000, high: 0 }]);
    expect(fn.instructions[5]?.sources).toEqual([{ kind: 'symbol', name: 'sh', offset: 0 }]);
    expect(fn.instructions[6]?.sources).toEqual([{ kind: 'special', name: 'tid.x' }]);
    expect(fn.instructions[7]?.sources).toEqual([{ kind: 'integer', low: 32, high: 0 }]);
    expect(fn.instructions[9]?.sources[1]).toEqual({ kind: 'integer', low: -1, high: 1 });
    expect(fn.instructions.at(-1)?.opcode).toBe('ret');
  });

  it('gives shadowed registers and labels of inner scopes their own identity', () => {
    const fn = parseBody(`
      .reg .b32 %r<3>; .reg .pred %p;
      mov.u32 %r1, 1;
      { .reg .b64 %r1; mov.u64 %r1, 2; L: setp.eq.u64 %p, %r1, 2; @%p bra L; }
      { L: @%p bra L; }
      mov.u32 %r2, %r1;`);
    expect(fn.refusal).toBeUndefined();
    expect(fn.registers.map(({ name, type }) => `${name}:${type}`)).toEqual([
      '%r1:b32',
      '%r1$2:b64',
      '%p:pred',
      '%r2:b32',
    ]);
    expect(fn.instructions.at(-2)?.sources).toEqual([{ kind: 'register', register: 0 }]);
    const loops = fn.blocks.filter((block) => block.successors.includes(block.index));
    expect(loops).toHaveLength(2);
  });

  it('builds blocks with the target of a branch before the next block', () => {
    const fn = parseBody(`
      .reg .pred %p<2>;
      @%p1 bra B;
      bra.uni C;
      B: @%p1 ret;
      C: ret;`);
    expect(fn.blocks.map(({ successors }) => successors)).toEqual([[2, 1], [3], [3], []]);
    expect(fn.blocks[3]?.predecessors).toEqual([1, 2]);
    expect(fn.blocks[2]?.label).toBe('B');
  });

  it('refuses only the function whose instruction is not supported', () => {
    const module = parseModule(
      `${header}.entry a() { .reg .b32 %r<2>;\n tcgen05.fence::before_thread_sync {%r0, %r1}, [t, {%r0, %r1}];\n ret; }
.entry b() { .reg .b32 %r<2>;\n add.f32 %r0, %r1, %r1; wgmma.fence.sync.aligned; }
.entry c() { .reg .b64 %rd<2>; add.s32 %rd0, %rd1, 1; }
.entry d() { ret; }`,
      'm.ptx',
    );
    expect(module.functions.map((fn) => fn.refusal?.instruction)).toEqual([
      'tcgen05.fence::before_thread_sync',
      'wgmma.fence.sync.aligned',
      'add.s32',
      undefined,
    ]);
    expect(module.functions[0]?.refusal?.line).toBe(5);
    expect(module.functions[2]?.refusal?.reason).toContain('%rd0 is .b64, .s32 expected');
  });

  it.each([
    ['bar.sync 16', '16'],
    ['bar.sync 77', '77'],
    ['barrier.sync.aligned 16', '16'],
    ['bar.sync -1', '-1'],
    ['bar.sync 0x100000000', '4294967296'],
  ])('refuses %s, a barrier that no block has', (text, barrier) => {
    const [fn] = parseModule(`${header}.entry k() {\n ${text};\n ret; }`, 'k.ptx').functions;
    expect(fn?.refusal).toMatchObject({
      line: 5,
      reason: `barrier ${barrier}: a block has the barriers 0 to 15`,
    });
  });

  it.each(['bar.sync 0', 'bar.sync 15', 'bar.warp.sync 0xffffffff'])('takes %s', (text) => {
    const [fn] = parseModule(`${header}.entry k() { ${text}; ret; }`, 'k.ptx').functions;
    expect(fn?.refusal).toBeUndefined();
  });

  it.each([
    ['', 1, "'.version'"],
    ['.version nine', 1, 'a PTX version'],
    ['.version 9.0\n.target sm_90\n.address_size 32', 3, '64 after .address_size'],
    [`${header}.entry k( { ret; }`, 4, '.param'],
    [`${header}.entry k() {\n ret`, 5, "';'"],
    [`${header}.entry k() {\n mov.u32 %r1, 1;\n}`, 5, 'a declared register'],
    [`${header}.entry k() {\n bra NOWHERE;\n}`, 5, 'a label of this function'],
    [`${header}.entry k() {\n A: A: ret;\n}`, 5, 'not yet taken'],
    [`${header}/* never closed`, 4, "'*/'"],
    [`${header}.global .u32 x = 12abc;`, 4, 'a PTX number'],
    [`${header}.global .u32 x[];`, 4, 'an extent'],
    [`${header}.global .u32 x[2] = {1,2,3};`, 4, "'}' after 2 initial values"],
    [`${header}.global .align 3 .u32 x;`, 4, 'power of two'],
    [`${header}.entry k() { \u0001 }`, 4, 'PTX text'],
    [`${header}.global .u64 p = nothing;`, 4, 'a declared variable'],
  ])('names line and expectation of the malformed text %j', (text, line, expected) => {
    const error = parseError(text);
    expect(error.file).toBe('bad.ptx');
    expect(error.line).toBe(line);
    expect(error.expected).toContain(expected);
    expect(error.message).toBe(`bad.ptx:${line}: expected ${error.expected}, found ${error.found}`);
  });
});
