import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { laneInstruction, type MemoryContext } from './laneInstructions.js';
import { RegisterFile, lanesPerWarp } from './registerFile.js';
import { wideEffect } from './wideEffects.js';

const EDGES = [
  0, 1, 2, 3, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0x9e3779b1,
];
const NO_SYMBOLS = (): undefined => undefined;

/** Only registers: what these operations know of a warp. */
function contextOf(registers: RegisterFile): MemoryContext {
  return { registers, lane: 0 } as unknown as MemoryContext;
}

function filled(count: number, turn: number): RegisterFile {
  const file = new RegisterFile(count);
  for (let at = 0; at < file.words.length; at++) {
    file.words[at] = EDGES[(at * 7 + Math.floor(at / lanesPerWarp) * 3 + turn) % EDGES.length] | 0;
  }
  return file;
}

describe('64-bit operations by words', () => {
  it.each([
    'mul.wide.s32 %rd0, %r0, %r1;',
    'mul.wide.u32 %rd0, %r0, %r1;',
    'mul.wide.s32 %rd0, %r0, -3;',
    'mul.wide.u32 %rd0, %r0, 0xffffffff;',
    'mad.wide.s32 %rd0, %r0, %r1, %rd1;',
    'mad.wide.u32 %rd0, %r0, %r1, %rd1;',
    'add.s64 %rd0, %rd1, %rd2;',
    'sub.s64 %rd0, %rd1, %rd0;',
    'add.u64 %rd1, %rd1, -1;',
    'shl.b64 %rd0, %rd1, 33;',
    'shl.b64 %rd0, %rd1, 5;',
    'cvt.s64.s32 %rd0, %r0;',
    'cvt.u64.u32 %rd0, %r0;',
    'mov.b64 %rd0, %rd1;',
  ])('%s is what lanes by themselves make of it', (text) => {
    const [fn] = parseModule(
      `.version 9.0
.target sm_90
.address_size 64
.visible .entry k() { .reg .b32 %r<2>; .reg .b64 %rd<3>; ${text} ret; }`,
      'k.ptx',
    ).functions;
    const [instruction] = fn.instructions;
    const together = wideEffect(instruction, fn, NO_SYMBOLS);
    const each = laneInstruction(instruction, fn, NO_SYMBOLS);
    expect(together).toBeDefined();
    expect(each).toBeDefined();
    for (let turn = 0; turn < EDGES.length; turn++) {
      for (const lanes of [-1, 0x7fffffff, 0x80000001 | 0, 0x00f0ff00]) {
        const found = filled(fn.registers.length, turn);
        const wanted = filled(fn.registers.length, turn);
        together?.(contextOf(found), lanes);
        for (let lane = 0; lane < lanesPerWarp; lane++)
          if (((lanes >>> lane) & 1) !== 0) each?.(contextOf(wanted), lane);
        expect(found.words).toEqual(wanted.words);
      }
    }
  });
});
