import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { laneInstruction, type MemoryContext } from './laneInstructions.js';
import { RegisterFile, lanesPerWarp } from './registerFile.js';
import { wordEffect } from './wordEffects.js';

const EDGES = [0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x9e3779b1];
const NO_SYMBOLS = (): undefined => undefined;

/** Only registers: what these operations know of a warp. */
function contextOf(registers: RegisterFile): MemoryContext {
  return { registers, lane: 0 } as unknown as MemoryContext;
}

/** @param isFlag whether a register is a predicate, which is 0 or 1 */
function filled(count: number, turn: number, isFlag: (register: number) => boolean): RegisterFile {
  const file = new RegisterFile(count);
  for (let at = 0; at < file.words.length; at += 2) {
    const register = Math.floor(at / (2 * lanesPerWarp));
    const edge = EDGES[(at * 7 + register * 3 + turn) % EDGES.length] | 0;
    file.words[at] = isFlag(register) ? edge & 1 : edge;
  }
  return file;
}

describe('operations on words and predicates', () => {
  it.each([
    'mov.pred %p0, -1;',
    'mov.pred %p0, 0;',
    'mov.pred %p0, %p1;',
    'and.pred %p0, %p1, %p2;',
    'and.pred %p0, %p1, -1;',
    'or.pred %p0, %p1, %p2;',
    'xor.pred %p0, %p1, %p2;',
    'selp.u32 %r0, %r1, 7, %p1;',
    'selp.b32 %r0, 1, 0, %p1;',
    'setp.lt.s32 %p0, %r0, %r1;',
    'setp.lt.u32 %p0, %r0, %r1;',
    'setp.le.s32 %p0, %r0, -2;',
    'setp.ge.u32 %p0, %r0, 0x80000000;',
    'setp.gt.s32 %p0, %r0, %r1;',
    'setp.eq.b32 %p0, %r0, %r1;',
    'setp.ne.s32 %p0, %r0, 1;',
    'mov.u32 %r0, -1;',
    'add.s32 %r0, %r0, %r1;',
    'sub.u32 %r0, %r1, 3;',
    'mul.lo.s32 %r0, %r0, %r1;',
    'mad.lo.u32 %r0, %r0, %r1, %r2;',
    'and.b32 %r0, %r1, %r2;',
    'or.b32 %r0, %r1, -8;',
    'xor.b32 %r0, %r1, %r2;',
  ])('%s is what lanes by themselves make of it', (text) => {
    const [fn] = parseModule(
      `.version 9.0
.target sm_90
.address_size 64
.visible .entry k() { .reg .b32 %r<3>; .reg .pred %p<3>; ${text} ret; }`,
      'k.ptx',
    ).functions;
    const [instruction] = fn.instructions;
    const together = wordEffect(instruction, fn);
    const each = laneInstruction(instruction, fn, NO_SYMBOLS);
    expect(together).toBeDefined();
    expect(each).toBeDefined();
    const isFlag = (register: number): boolean => fn.registers[register]?.type === 'pred';
    for (let turn = 0; turn < EDGES.length; turn++) {
      for (const lanes of [-1, 0x7fffffff, 0x80000001 | 0, 0x00f0ff00]) {
        const found = filled(fn.registers.length, turn, isFlag);
        const wanted = filled(fn.registers.length, turn, isFlag);
        together?.(contextOf(found), lanes);
        for (let lane = 0; lane < lanesPerWarp; lane++)
          if (((lanes >>> lane) & 1) !== 0) each?.(contextOf(wanted), lane);
        expect(found.words).toEqual(wanted.words);
      }
    }
  });
});
