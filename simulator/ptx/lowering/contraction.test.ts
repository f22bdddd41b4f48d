import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule, type IrFunction, type IrInstruction, type IrOperand } from '../index.js';
import { contractModule } from './contraction.js';
import { storedValues } from './tests/symbolicValues.js';

const declarations =
  '.reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<12>; .reg .f64 %d<9>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; ' +
  'ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+8]; setp.gt.f32 %p1, %f1, %f2;';

function contracted(body: string, target = 'sm_90'): IrFunction {
  const text = `.version 9.0\n.target ${target}\n.address_size 64\n.visible .entry k(.param .u64 p) {\n${declarations}\n${body}\n}\n`;
  const [fn] = contractModule(parseModule(text, 'k.ptx')).functions;
  if (fn === undefined) throw new Error('no function');
  expect(fn.refusal).toBeUndefined();
  return fn;
}

/** The arithmetic that is left, as text: `fma.rn.f32 %f5, %f1, %f2, %f3`. */
function arithmetic(body: string, target?: string): string[] {
  const fn = contracted(body, target);
  return fn.instructions
    .filter(({ opcode }) => /^(mul|add|sub|fma|neg|mov)$/.test(opcode))
    .map((instruction) => written(instruction, fn));
}

function written({ guard, opcode, modifiers, destinations, sources }: IrInstruction, fn: IrFunction): string {
  const name = (operand: IrOperand): string =>
    operand.kind === 'register'
      ? (fn.registers[operand.register]?.name ?? '?')
      : operand.kind === 'float'
        ? (operand.low >>> 0).toString(16)
        : operand.kind;
  const operands = [...destinations, ...sources].map(name).join(' ');
  return `${guard === undefined ? '' : '@ '}${[opcode, ...modifiers].join('.')} ${operands}`;
}

const product = 'mul.f32 %f4, %f1, %f2;';
const end = 'st.global.f32 [%rd1], %f5; ret;';

describe('contraction', () => {
  it.each([
    ['a sum', `${product} add.f32 %f5, %f4, %f3; ${end}`, ['fma.rn.f32 %f5 %f1 %f2 %f3']],
    ['the other order', `${product} add.f32 %f5, %f3, %f4; ${end}`, ['fma.rn.f32 %f5 %f1 %f2 %f3']],
    [
      'a product less something',
      `${product} sub.f32 %f5, %f4, %f3; ${end}`,
      ['neg.f32 %contracted0 %f3', 'fma.rn.f32 %f5 %f1 %f2 %contracted0'],
    ],
    [
      'something less a product',
      `${product} sub.f32 %f5, %f3, %f4; ${end}`,
      ['neg.f32 %contracted0 %f1', 'fma.rn.f32 %f5 %contracted0 %f2 %f3'],
    ],
    [
      'something less a multiple',
      `mul.f32 %f4, %f1, 0f40000000; sub.f32 %f5, %f3, %f4; ${end}`,
      ['fma.rn.f32 %f5 %f1 c0000000 %f3'],
    ],
    [
      'a guarded sum',
      `${product} mov.f32 %f5, %f3; @%p1 add.f32 %f5, %f4, %f3; ${end}`,
      ['mov.f32 %f5 %f3', '@ fma.rn.f32 %f5 %f1 %f2 %f3'],
    ],
    [
      'equal .ftz, and .sat of the sum',
      `mul.ftz.f32 %f4, %f1, %f2; add.ftz.sat.f32 %f5, %f4, %f3; ${end}`,
      ['fma.rn.ftz.sat.f32 %f5 %f1 %f2 %f3'],
    ],
    [
      'copies and negations',
      `${product} mov.b32 %r1, %f4; mov.b32 %f6, %r1; neg.f32 %f7, %f6; add.f32 %f5, %f7, %f3; ${end}`,
      ['neg.f32 %contracted0 %f1', 'fma.rn.f32 %f5 %contracted0 %f2 %f3'],
    ],
    [
      'several sums',
      `${product} add.f32 %f6, %f4, %f3; sub.f32 %f5, %f4, %f6; ${end}`,
      ['fma.rn.f32 %f6 %f1 %f2 %f3', 'neg.f32 %contracted0 %f6', 'fma.rn.f32 %f5 %f1 %f2 %contracted0'],
    ],
    [
      'across barriers and other accesses',
      `${product} bar.sync 0; ld.volatile.global.f32 %f6, [%rd1]; add.f32 %f5, %f4, %f6; ${end}`,
      ['fma.rn.f32 %f5 %f1 %f2 %f6'],
    ],
    [
      'across a label that nothing jumps to, and a plain branch',
      `${product} bra A; A: B: add.f32 %f5, %f4, %f3; ${end}`,
      ['fma.rn.f32 %f5 %f1 %f2 %f3'],
    ],
    [
      'of two products the first',
      `${product} mul.f32 %f6, %f2, %f3; add.f32 %f5, %f6, %f4; ${end}`,
      ['mul.f32 %f4 %f1 %f2', 'fma.rn.f32 %f5 %f2 %f3 %f4'],
    ],
    [
      'of two products the one that can',
      `${product} mul.f32 %f6, %f2, %f3; st.global.f32 [%rd1+4], %f4; add.f32 %f5, %f4, %f6; ${end}`,
      ['mul.f32 %f4 %f1 %f2', 'fma.rn.f32 %f5 %f2 %f3 %f4'],
    ],
    [
      'of two products the one that nothing else reads',
      `${product} mul.f32 %f6, %f2, %f3; add.f32 %f7, %f3, %f4; add.f32 %f8, %f4, %f6; add.f32 %f5, %f7, %f8; ${end}`,
      ['mul.f32 %f4 %f1 %f2', 'add.f32 %f7 %f3 %f4', 'fma.rn.f32 %f8 %f2 %f3 %f4', 'add.f32 %f5 %f7 %f8'],
    ],
    [
      'beside a use whose result nothing needs',
      `${product} abs.f32 %f6, %f4; add.f32 %f5, %f4, %f3; ${end}`,
      ['fma.rn.f32 %f5 %f1 %f2 %f3'],
    ],
    [
      'a quotient',
      `div.approx.ftz.f32 %f4, %f1, %f2; add.ftz.f32 %f5, %f4, %f3; ${end}`,
      ['fma.rn.ftz.f32 %f5 %f1 %contracted0 %f3'],
    ],
    [
      'a multiple by a divisor that is known',
      `div.full.f32 %f4, %f1, 0f40800000; sub.f32 %f5, %f3, %f4; ${end}`,
      ['fma.rn.f32 %f5 %f1 be800000 %f3'],
    ],
    [
      'doubles',
      'mul.f64 %d4, %d1, %d2; add.f64 %d5, %d4, %d3; st.global.f64 [%rd1], %d5; ret;',
      ['fma.rn.f64 %d5 %d1 %d2 %d3'],
    ],
  ])('makes an fma of %s', (_, body, expected) => {
    expect(arithmetic(body)).toEqual(expected);
  });

  it('keeps factors that are overwritten before the sum', () => {
    expect(
      arithmetic(`${product} ld.volatile.global.f32 %f1, [%rd1]; add.f32 %f5, %f4, %f1; ${end}`),
    ).toEqual(['mov.f32 %contracted0 %f1', 'fma.rn.f32 %f5 %contracted0 %f2 %f1']);
    expect(arithmetic(`mul.f32 %f1, %f1, %f2; add.f32 %f5, %f1, %f3; ${end}`)).toEqual([
      'fma.rn.f32 %f5 %f1 %f2 %f3',
    ]);
  });

  it.each([
    ['a written rounding of the product', `mul.rn.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; ${end}`],
    ['a written rounding of the sum', `${product} add.rn.f32 %f5, %f4, %f3; ${end}`],
    ['.ftz of one of them', `mul.ftz.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; ${end}`],
    ['a product that saturates', `mul.sat.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; ${end}`],
    ['a product that is stored', `${product} add.f32 %f5, %f4, %f3; st.global.f32 [%rd1+4], %f4; ${end}`],
    [
      'a product that is compared',
      `${product} add.f32 %f5, %f4, %f3; setp.lt.f32 %p2, %f4, %f3; @%p2 st.global.f32 [%rd1+4], %f3; ${end}`,
    ],
    [
      'a negated product that is stored',
      `${product} neg.f32 %f6, %f4; add.f32 %f5, %f6, %f3; st.global.f32 [%rd1+4], %f6; ${end}`,
    ],
    [
      'a product that an fma multiplies',
      `${product} fma.rn.f32 %f6, %f4, %f3, %f1; add.f32 %f7, %f4, %f3; add.f32 %f5, %f6, %f7; ${end}`,
    ],
    ['a guarded product', `mov.f32 %f4, %f3; @%p1 mul.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; ${end}`],
    [
      'a product that a guarded write may leave',
      `${product} @%p1 mov.f32 %f4, %f3; add.f32 %f5, %f4, %f3; ${end}`,
    ],
    [
      'a conditional branch between them',
      `${product} @%p1 bra A; st.global.f32 [%rd1+4], %f3; A: add.f32 %f5, %f4, %f3; ${end}`,
    ],
    ['a guarded return between them', `${product} @%p1 ret; add.f32 %f5, %f4, %f3; ${end}`],
    [
      'a sum in a loop',
      `${product} mov.f32 %f5, %f3; A: add.f32 %f5, %f4, %f5; setp.lt.f32 %p2, %f5, %f3; @%p2 bra A; ${end}`,
    ],
    [
      'a product read by a later block',
      `${product} add.f32 %f5, %f4, %f3; @%p1 bra A; st.global.f32 [%rd1+4], %f4; A: ${end}`,
    ],
    ['a product doubled', `${product} add.f32 %f5, %f4, %f4; ${end}`],
    ['two equal products', `${product} mul.f32 %f6, %f2, %f1; add.f32 %f5, %f4, %f6; ${end}`],
    [
      'a product of constants',
      `mov.f32 %f6, 0f40490FDB; mul.f32 %f4, %f6, 0f3DCCCCCD; add.f32 %f5, %f4, %f3; ${end}`,
    ],
  ])('leaves alone: %s', (_, body) => {
    const before = arithmetic(body, 'sm_90, debug');
    expect(arithmetic(body)).toEqual(before);
    expect(before.some((text) => /mul\./.test(text))).toBe(true);
  });

  it('leaves quotients that are needed rounded, or whose rounding is written', () => {
    for (const body of [
      `div.rn.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; ${end}`,
      `div.approx.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; st.global.f32 [%rd1+4], %f4; ${end}`,
      `div.approx.ftz.f32 %f4, %f1, %f2; add.f32 %f5, %f4, %f3; ${end}`,
    ])
      expect(arithmetic(body)).toEqual(['add.f32 %f5 %f4 %f3']);
  });

  it('contracts nothing for a debugger', () => {
    expect(arithmetic(`${product} add.f32 %f5, %f4, %f3; ${end}`, 'sm_90, debug')).toEqual([
      'mul.f32 %f4 %f1 %f2',
      'add.f32 %f5 %f4 %f3',
    ]);
  });

  it('keeps lines, numbers instructions in order and leaves blocks whole', () => {
    const fn = contracted(
      `${product}\nadd.f32 %f5, %f4, %f3;\n@%p1 bra A;\nst.global.f32 [%rd1+4], %f3;\nA: ${end}`,
    );
    expect(fn.instructions.map(({ index }) => index)).toEqual(fn.instructions.map((_, index) => index));
    const fma = fn.instructions.find(({ opcode }) => opcode === 'fma');
    const sum = contracted(`${product}\nadd.rn.f32 %f5, %f4, %f3;\n${end}`).instructions.find(
      ({ opcode }) => opcode === 'add',
    );
    expect(fma?.line).toBe(sum?.line);
    let next = 0;
    for (const { first, last } of fn.blocks) {
      expect(first).toBe(next);
      expect(last).toBeGreaterThanOrEqual(first);
      next = last + 1;
    }
    expect(next).toBe(fn.instructions.length);
  });

  it('does to random kernels what ptxas does', () => {
    const read = (name: string): string => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
    const expected = JSON.parse(read('contraction.json')) as Record<string, Record<string, string>>;
    const { functions } = contractModule(parseModule(read('contraction.ptx'), 'contraction.ptx'));
    expect(Object.keys(expected).length).toBeGreaterThanOrEqual(40);
    for (const fn of functions) expect(storedValues(fn), fn.name).toEqual(expected[fn.name]);
  });
});
