import { describe, expect, it } from 'vitest';
import { estimateRegistersPerThread, parseModule, type IrFunction } from '../../index.js';
import { lowerCalls, type CallLoweringOptions } from './index.js';

const HEAD = '.version 9.0\n.target sm_90\n.address_size 64\n';
const REGISTERS = '.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;';

function lowered(text: string, options: CallLoweringOptions = {}, name = 'k'): IrFunction {
  const ir = lowerCalls(parseModule(HEAD + text, 'calls.ptx'), options);
  const fn = ir.functions.find((each) => each.name === name);
  if (fn === undefined) throw new Error(`no ${name}`);
  return fn;
}

const count = (fn: IrFunction, opcode: string): number =>
  fn.instructions.filter((instruction) => instruction.opcode === opcode).length;

/** A chain: each function calls the one before twice; `k` calls the last. */
function chain(length: number): string {
  const functions = Array.from({ length }, (_, index) =>
    index === 0
      ? `.func (.param .b32 r) f0(.param .b32 a) { ${REGISTERS} .local .align 4 .b8 own[8];
ld.param.b32 %r1, [a]; add.s32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }`
      : `.func (.param .b32 r) f${index}(.param .b32 a) { ${REGISTERS}
ld.param.b32 %r1, [a]; call (%r2), f${index - 1}, (%r1); call (%r3), f${index - 1}, (%r2); st.param.b32 [r], %r3; ret; }`,
  );
  return `${functions.join('\n')}
.visible .entry k(.param .b32 n) { ${REGISTERS} ld.param.b32 %r1, [n]; call (%r2), f${length - 1}, (%r1); ret; }`;
}

const recursive = `.func (.param .b32 r) f(.param .b32 a) { ${REGISTERS} .local .align 16 .b8 own[32];
ld.param.b32 %r1, [a]; setp.eq.s32 %p1, %r1, 0; @%p1 bra out;
sub.s32 %r2, %r1, 1; st.local.b32 [own], %r1; call (%r3), f, (%r2); add.s32 %r1, %r3, %r1;
out: st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .b32 n) { ${REGISTERS} ld.param.b32 %r1, [n]; call (%r2), f, (%r1); ret; }`;

describe('lowering of calls', () => {
  it('leaves modules without calls as they are', () => {
    const ir = parseModule(`${HEAD}.visible .entry k() { ret; }`, 'calls.ptx');
    expect(lowerCalls(ir)).toBe(ir);
  });

  it('copies functions, whose variables all copies share', () => {
    const kernel = lowered(chain(5));
    expect(count(kernel, 'call')).toBe(0);
    expect(count(kernel, 'brx')).toBe(0);
    expect(count(kernel, 'add')).toBe(16);
    expect(kernel.variables.map(({ bytes }) => bytes)).toEqual([8]);
    expect(kernel.registers.length).toBeGreaterThan(80);
    expect(kernel.callParameters).toEqual([]);
  });

  it('lets copies share registers when there would be too many', () => {
    expect(lowered(chain(5), { mostRegisters: 50 }).registers.length).toBeLessThan(150);
  });

  it('keeps to a budget by bodies that calls share', () => {
    const budget = 400;
    expect(lowered(chain(10)).instructions.length).toBeGreaterThan(2000);
    const kernel = lowered(chain(10), { budget });
    expect(kernel.instructions.length).toBeLessThan(budget);
    expect(count(kernel, 'brx')).toBeGreaterThan(0);
    // Without recursion nothing needs a stack.
    expect(kernel.variables.map(({ bytes }) => bytes)).toEqual([8]);
  });

  it('gives recursion a stack, with variables and saved registers in its frames', () => {
    const kernel = lowered(recursive);
    expect(count(kernel, 'call')).toBe(0);
    expect(count(kernel, 'brx')).toBe(1);
    const [stack, ...others] = kernel.variables;
    expect(others).toEqual([]);
    // 16 KiB and eight frames: 32 bytes of variables, a value and the place to return to.
    expect(stack?.bytes).toBe(16 * 1024 + 8 * 48);
    expect(kernel.instructions.some(({ modifiers }) => modifiers.includes('stackOverflow'))).toBe(true);
    expect(estimateRegistersPerThread(kernel)).toBeLessThan(40);
  });

  it('keeps lines, and numbers blocks and instructions anew', () => {
    const kernel = lowered(chain(3));
    expect(kernel.instructions.map(({ index }) => index)).toEqual([...kernel.instructions.keys()]);
    const add = kernel.instructions.find(({ opcode }) => opcode === 'add');
    expect(add?.line).toBe(5);
    for (const block of kernel.blocks) {
      for (const next of block.successors) expect(kernel.blocks[next]?.predecessors).toContain(block.index);
    }
  });

  it('refuses kernels that reach what is not there, through recursion too', () => {
    const text = `.extern .func (.param .b32 r) away(.param .b32 a);
.func (.param .b32 r) g(.param .b32 a);
.func (.param .b32 r) f(.param .b32 a) { ${REGISTERS} call (%r1), g, (%r2); st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) g(.param .b32 a) { ${REGISTERS} call (%r1), f, (%r2);
call (%r1), away, (%r2); st.param.b32 [r], %r1; ret; }
.visible .entry k() { ${REGISTERS} call (%r1), f, (%r2); ret; }
.visible .entry k2() { ${REGISTERS} call (%r1), g, (%r2); ret; }
.visible .entry k3() { ${REGISTERS} add.s32 %r1, %r2, 1; ret; }`;
    for (const name of ['k', 'k2']) {
      const { refusal } = lowered(text, {}, name);
      expect(refusal).toMatchObject({ line: 8, instruction: 'call' });
      expect(refusal?.reason).toMatch(/away is not defined in this module.*in g/);
    }
    expect(lowered(text, {}, 'k3').refusal).toBeUndefined();
  });

  it.each([
    ['__nv_sinf', 'libdevice.10.bc'],
    ['_Z13get_global_idj', 'libclc'],
    ['omp_get_thread_num', 'OpenMP'],
    ['other', 'link it in, or leave out what calls it'],
  ])('tells of %s, which compilers leave open, where it is', (name, where) => {
    const text = `.extern .func (.param .b32 r) ${name}(.param .b32 a);
.visible .entry k() { ${REGISTERS} call.uni (%r1), ${name}, (%r2); ret; }`;
    expect(lowered(text, {}, 'k').refusal?.reason).toContain(`${name} is not defined in this module; `);
    expect(lowered(text, {}, 'k').refusal?.reason).toContain(where);
  });
});
