import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { IrFunction } from './index.js';
import { analyzeLiveness, operandTypes, parseModule, readRegisters, writtenRegisters } from './index.js';

const registers = `
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>;
  .reg .b8 %c<5>; .reg .v4 .f32 %v4; .reg .v2 .u32 %v2;`;
const wide = '.reg .b128 %q<4>;';

function parse(body: string, target = 'sm_90'): IrFunction {
  const text = `.version 9.0\n.target ${target}\n.address_size 64
    .global .align 16 .b8 gv[64]; .shared .align 16 .b8 sv[64];
    .func (.param .b32 r) g (.param .b32 a, .param .align 8 .b8 s[16]);
    .visible .entry k(.param .u64 kp)\n{ ${registers.replaceAll('\n', ' ')}${target === 'sm_90' ? wide : ''}\n${body}\n}\n`;
  const fn = parseModule(text, 'k.ptx').functions.at(-1);
  if (fn === undefined) throw new Error('no function');
  return fn;
}

function texts(fn: IrFunction): string[] {
  return fn.instructions.map(({ opcode, modifiers }) => [opcode, ...modifiers].join('.'));
}

describe('instruction forms', () => {
  it('take every spelling that the assembler takes, with types for each operand', () => {
    const text = readFileSync(new URL('fixtures/spellings.ptx', import.meta.url), 'utf8');
    const [fn] = parseModule(text, 'spellings.ptx').functions;
    expect(fn?.refusal).toBeUndefined();
    expect(fn?.instructions.length).toBeGreaterThan(280);
    for (const instruction of fn?.instructions ?? []) {
      const types = operandTypes(instruction);
      expect(types.sources.length, `line ${instruction.line}`).toBeGreaterThanOrEqual(
        instruction.sources.length,
      );
      expect(types.destinations, `line ${instruction.line}`).toHaveLength(instruction.destinations.length);
    }
  });

  it.each([
    ['add.f16 %h1, %h2, 0x3C00', 'an integer where .f16 is expected'],
    ['add.rz.f16 %h1, %h2, %h3', 'combination'],
    ['add.ftz.bf16 %h1, %h2, %h3', 'combination'],
    ['fma.rn.sat.relu.f16x2 %r1, %r2, %r3, %r4', 'combination'],
    ['ex2.approx.bf16 %h1, %h2', 'combination'],
    ['setp.lt.ftz.f16 %p1|%p2, %h1, %h2', 'a pair d|p is not expected here'],
    ['cvt.f32.f64 %f1, %d1', 'combination'],
    ['mad.wide.cc.u32 %rd1, %r2, %r3, %rd4', 'combination'],
    ['add.u32 %r1, %tid.x, 1', 'mov it to a register first'],
    ['mov.u64 %rd1, %tid.x', '%tid.x has 32 bits'],
    ['mov.u32 %r1, %clock64', '%clock64 has 64 bits'],
    ['bar.sync 0, 33', '33 threads: a barrier counts whole warps'],
    ['bar.red.and.pred %p1, 16, %p2', 'barrier 16: a block has the barriers 0 to 15'],
    ['shfl.up.b32 %r1|%p1, %r2, %r3, 0', 'write shfl.sync'],
    ['vote.ballot.b32 %r1, %p1', 'write vote.sync'],
    ['cp.async.cg.shared.global [%r1], [%rd2], 8', 'the size is one of 16 bytes'],
    [
      'cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%rd1], [%r1], 64, [%r2]',
      'does not go from',
    ],
    ['cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%rd1], 64', 'bulk copy is not supported'],
    ['cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd1], [%r1], 64', 'written with .noftz'],
    ['cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%rd1], [%r1], 64', 'no bulk .inc of .u64'],
    ['barrier.cluster.sync', 'of a cluster'],
    ['mapa.u32 %r1, %r2, 0', 'combination'],
    ['tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f1}]', 't is a texture or surface by name'],
    ['tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1}]', '.2d has 2 coordinates, 1 are given'],
    ['tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2,%f3}]', '.3d has 4 coordinates, 3 are given'],
    ['tex.2d.v4.f32.f32 {%f1,%f2}, [%rd1, {%f1,%f2}]', 'a vector of 4 is expected'],
    ['tex.2d.v2.f16x2.f32 {%r1,%r2}, [%rd1, {%f1,%f2}]', 'this combination of modifiers'],
    ['tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}], {%f1}, {%f2}', 'gradients of 2 elements'],
    ['tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%r1, {%f1,%f2}]', '%r1 is .b32, .u64 expected'],
    ['suld.b.2d.v4.b64.trap {%rd1,%rd2,%rd1,%rd2}, [%rd1, {%r1,%r2}]', 'more than 128 bits'],
    ['sust.p.2d.v4.b32.trap [%rd1, {%r1,%r2}], {%r1,%r2,%r1,%r2}', 'this combination of modifiers'],
    [
      'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%f1}, {%f1}, {%f1}',
      'D has 1 registers, 4 of .f32 expected',
    ],
    ['vmax4.u32.u32.u32 %r1.b01, %r2, %r3, %r4', '.b01 is no part that vmax4 can take'],
    ['vadd.s32.s32.s32 %r1, %r2, %r3, %r4', 'a second operation'],
    ['vadd.s32.s32.s32.add %r1, %r2, %r3', 'a third source is expected'],
    ['vadd.s32.s32.s32 %r1, -%r2, %r3', 'cannot be negated'],
    ['vshl.u32.u32.u32.sat.clamp %r1, %r2, %r3', 'vshl with .sat'],
    ['vadd.s32.s32.s32.sat %r1.h0, %r2, %r3, %r4', 'a written part of the destination'],
    ['vsub.u32.u32.u32.min %r1, %r2, %r3, %r4', 'for .s32 alone'],
    ['lop3.b32 %r1, %r2, %r3, %r4, 256', 'it has 8 bits'],
    ['atom.global.add.v2.f32 %f1, [%rd1], {%f1, %f2}', 'a vector of 2 is expected'],
    ['elect.sync %r1, -1', 'a pair d|p is expected'],
  ])('refuse %s', (text, reason) => {
    expect(parse(`${text};`).refusal).toMatchObject({
      line: 8,
      reason: expect.stringContaining(reason) as string,
    });
  });

  it('take shuffles and votes without .sync for machines whose warps run in step', () => {
    const fn = parse('shfl.up.b32 %r1|%p1, %r2, %r3, 0; vote.ballot.b32 %r1, !%p1;', 'sm_60');
    expect(fn.refusal).toBeUndefined();
  });
});

describe('carry chains', () => {
  it('read and write one predicate register that no text names', () => {
    const fn = parse(`add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; madc.hi.u64 %rd1, %rd2, %rd3, %rd4;
      add.u32 %r1, %r2, %r3;`);
    expect(fn.refusal).toBeUndefined();
    const carry = fn.registers.findIndex((register) => register.name === '%cc');
    expect(fn.registers[carry]?.type).toBe('pred');
    expect(fn.instructions.slice(0, 4).map((each) => each.carry)).toEqual([
      { register: carry, reads: false, writes: true },
      { register: carry, reads: true, writes: true },
      { register: carry, reads: true, writes: false },
      undefined,
    ]);
    const [first, second, third] = fn.instructions;
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('no instructions');
    expect(writtenRegisters(first)).toContain(carry);
    expect(readRegisters(first)).not.toContain(carry);
    expect(readRegisters(third)).toContain(carry);
    const points = analyzeLiveness(fn).pointsOf(0);
    expect([...points].map((point) => [...point.members()].includes(carry)).filter(Boolean)).not.toHaveLength(
      0,
    );
  });
});

describe('indexed branches', () => {
  it('read their index, then the labels of their list, repetitions kept', () => {
    const fn = parse(`T: .branchtargets B, A, B;\n@%p1 brx.idx.uni %r1, T;\nret;\nA: ret;\nB: trap;`);
    expect(fn.refusal).toBeUndefined();
    const label = (block: number) => ({ kind: 'label', block });
    expect(fn.instructions[0]?.sources.slice(1)).toEqual([label(3), label(2), label(3)]);
    expect(fn.blocks[0]?.successors).toEqual([3, 2, 1]);
    expect(fn.blocks[3]?.predecessors).toEqual([0]);
  });

  it('need a list', () => {
    expect(() => parse('A: brx.idx %r1, A;')).toThrow(
      "k.ptx:8: expected a label of a .branchtargets list, found 'A'",
    );
    expect(() => parse('T: .branchtargets B;\nbrx.idx %r1, T;')).toThrow(
      "k.ptx:9: expected a label of this function, found 'B'",
    );
  });
});

describe('calls', () => {
  const declared = '.param .b32 p; .param .align 8 .b8 s[16]; .param .b32 q;';

  it('write their return parameters and read their target and arguments', () => {
    const fn = parse(`{ ${declared} call.uni (q), g, (p, s); }`);
    expect(fn.refusal).toBeUndefined();
    const symbol = (name: string) => ({ kind: 'symbol', name, offset: 0 });
    expect(fn.instructions[0]?.destinations).toEqual([symbol('q')]);
    expect(fn.instructions[0]?.sources).toEqual([symbol('g'), symbol('p'), symbol('s')]);
  });

  it('through a register carry what its target takes, by prototype or by a list of functions', () => {
    const fn = parse(`{ ${declared}
      P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;
      call (q), %rd1, (%r1, s), P;
      F: .calltargets g;
      call (%r2), %rd1, (7, s), F; }`);
    expect(fn.refusal).toBeUndefined();
    const shape = { returns: [{ bytes: 4 }], parameters: [{ bytes: 4 }, { bytes: 16, align: 8 }] };
    expect(fn.instructions[0]?.prototype).toMatchObject(shape);
    expect(fn.instructions[1]?.prototype).toMatchObject({ ...shape, targets: ['g'] });
  });

  it.each([
    ['call (q), g, (p);', 'the call has 1 arguments, 2 expected'],
    ['call g, (p, s);', 'the call has 0 returned values, 1 expected'],
    ['call (q), g, (s, s);', 'argument 1 has 16 bytes, 4 expected'],
    ['call (q), gv, (p, s);', 'gv is no function'],
    ['call (q), k, (p, s);', 'k is no function'],
    ['call (q), %r1, (p, s);', 'the address of a function is a 64-bit register'],
    ['call (q), %rd1, (p, s);', 'a call through a register needs a .callprototype or .calltargets'],
  ])('refuse %s', (text, reason) => {
    expect(parse(`{ ${declared}\n${text} }`).refusal?.reason).toBe(reason);
  });
});

describe('rewriting', () => {
  it('moves vectors by component, as if all at once', () => {
    const fn = parse(
      'mov.v2.u32 %v2, {%v2.y, %v2.x}; mov.v4.f32 {%f1, _, %f2, %f3}, %v4; mov.b128 {%rd1, %rd2}, %q1;',
    );
    expect(fn.refusal).toBeUndefined();
    expect(texts(fn)).toEqual([
      ...Array<string>(4).fill('mov.u32'),
      ...Array<string>(3).fill('mov.f32'),
      'mov.b64',
      'mov.b64',
      'ret',
    ]);
    const names = fn.registers.map((register) => register.name);
    expect(names).toEqual(expect.arrayContaining(['%v2$x', '%v2$y']));
    const [keepY, keepX, setX, setY] = fn.instructions;
    expect(setX?.sources).toEqual(keepY?.destinations);
    expect(setY?.sources).toEqual(keepX?.destinations);
  });

  it('drops what only caches follow', () => {
    const fn = parse(`createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;
      ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd3; st.global.L2::cache_hint.f32 [%rd1], %f1, %rd3;
      atom.global.add.L2::cache_hint.u32 %r1, [%rd1], %r2, %rd3;`);
    expect(fn.refusal).toBeUndefined();
    expect(texts(fn)).toEqual(['mov.b64', 'ld.global.f32', 'st.global.f32', 'atom.global.add.u32', 'ret']);
    expect(fn.instructions[3]?.sources).toHaveLength(2);
    expect(parse('ld.global.L2::cache_hint.f32 %f1, [%rd1];').refusal).toBeDefined();
  });

  it('moves special registers and variables to registers where only those are operands', () => {
    const fn = parse(
      'cvt.u64.u32 %rd1, %tid.x; cvta.global.u64 %rd1, gv+4; @!%p1 cp.async.ca.shared.global [%r1], [%rd2], 8, %p2;',
    );
    expect(fn.refusal).toBeUndefined();
    expect(texts(fn)).toEqual([
      'mov.u32',
      'cvt.u64.u32',
      'mov.u64',
      'cvta.global.u64',
      'selp.b32',
      'cp.async.ca.shared.global',
      'ret',
    ]);
    expect(fn.instructions[4]?.guard?.negated).toBe(true);
  });

  it('gives registers of the performance monitor and of reserved memory their value', () => {
    const fn = parse(
      'mov.u32 %r1, %clusterid.x; mov.u32 %r2, %tid.w; mov.u64 %rd1, %pm3_64; mov.u64 %rd2, %current_graph_exec;',
    );
    expect(fn.refusal).toBeUndefined();
    expect(fn.instructions.slice(0, 4).map(({ sources }) => sources[0])).toEqual([
      { kind: 'special', name: 'clusterid.x' },
      { kind: 'integer', low: 0, high: 0 },
      { kind: 'integer', low: 0, high: 0 },
      { kind: 'integer', low: 0, high: 0 },
    ]);
  });

  it('makes the memory that the driver reserves a variable of the module', () => {
    const module = parseModule(
      `.version 9.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .b32 %r<4>; .reg .b64 %rd;
        mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, %reserved_smem_offset_cap; cvt.u64.u32 %rd, %reserved_smem_offset_begin; }`,
      'k.ptx',
    );
    const [fn] = module.functions;
    expect(fn?.refusal).toBeUndefined();
    expect(module.variables).toMatchObject([{ space: 'shared', bytes: 1024 }]);
    const name = module.variables[0]?.name;
    expect(fn?.instructions.slice(0, 3).map(({ sources }) => sources[0])).toEqual([
      { kind: 'symbol', name, offset: 0 },
      { kind: 'symbol', name, offset: 1024 },
      { kind: 'symbol', name, offset: 0 },
    ]);
  });

  it('knows the instructions of clusters', () => {
    const texts = `isspacep.shared::cluster %p1, %rd1; ld.shared::cluster.u32 %r1, [%rd1]; st.shared::cluster.v2.f32 [%r1], {%f1, %f2};
      mapa.shared::cluster.u32 %r1, %r2, %r3; mapa.u64 %rd1, %rd2, 3; getctarank.shared::cluster.u32 %r1, %r2; getctarank.u64 %r1, %rd2;
      atom.shared::cluster.add.u32 %r1, [%r2], 1; red.relaxed.cluster.shared::cluster.add.u32 [%r2], 1;
      barrier.cluster.arrive; barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire; barrier.cluster.wait.aligned;`;
    expect(parse(texts).refusal).toBeUndefined();
  });

  it('allocates on the stack by arithmetic on its top', () => {
    const fn = parse('stacksave.u64 %rd1; L: alloca.u64 %rd2, %rd3, 16; @%p1 bra L; stackrestore.u64 %rd1;');
    expect(fn.refusal).toBeUndefined();
    expect(fn.variables.find(({ space }) => space === 'local')).toMatchObject({ bytes: 4096, align: 16 });
    expect(texts(fn)[0]).toBe('mov.u64');
    expect(texts(fn)).toContain('trap.stackOverflow');
    const loop = fn.blocks.find(({ label }) => label === 'L');
    expect(loop?.first).toBe(2);
    expect(parse('alloca.u64 %rd2, %rd3, 32;').refusal?.reason).toContain('at most 16 bytes');
  });

  it('keeps the parts that video instructions take', () => {
    const fn = parse(
      'vmad.s32.s32.u32.sat %r1, %r2.h0, -%r3.b1, %r4; vadd4.u32.u32.u32 %r1.b31, %r2, %r3.b7654, %r4;',
    );
    expect(fn.refusal).toBeUndefined();
    expect(fn.instructions.map((each) => each.selectors)).toEqual([
      ['', 'h0', '-b1', ''],
      ['b31', '', 'b7654', ''],
      undefined,
    ]);
  });
});
