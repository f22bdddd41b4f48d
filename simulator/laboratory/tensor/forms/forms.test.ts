import { describe, expect, it } from 'vitest';
import { attemptedMoveForms, moveForms, readAssembled, tileForms } from './index.js';
import type { Operand } from '../../../tensor/index.js';

const assembled = readAssembled();
const attempted = [...tileForms, ...attemptedMoveForms].map(({ name }) => name);

/** Whether every element lies in one place. */
function isOnce({ map, rows, columns, batches }: Operand): boolean {
  const found = map.filter((element) => element >= 0);
  const count = rows * columns * batches;
  return found.length === count && new Set(found).size === count && found.every((element) => element < count);
}

describe('forms of warp matrix instructions', () => {
  it('have names of their own', () => {
    expect(new Set(attempted).size).toBe(attempted.length);
  });

  it('were each given to the assembler', () => {
    expect([...assembled.accepted, ...Object.keys(assembled.refused)].sort()).toEqual([...attempted].sort());
  });

  it('exist for sm_90a in these numbers', () => {
    const count = (start: string): number =>
      assembled.accepted.filter((name) => name.startsWith(start)).length;
    expect({
      dense: count('mma.sync'),
      sparse: count('mma.sp'),
      wmma: count('wmma.mma'),
      wgmma: count('wgmma'),
      moves: moveForms.length,
    }).toEqual({ dense: 110, sparse: 152, wmma: 138, wgmma: 21, moves: 709 });
  });

  it('hold every element of every matrix once', () => {
    for (const form of tileForms) {
      for (const operand of [form.a, form.b, form.c, form.d])
        expect(isOnce(operand), `${form.name}, ${operand.type}`).toBe(true);
    }
  });

  // Figures of the PTX ISA, 9.7.14.5.
  it.each([
    ['mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32', 'a', 5, 2, 1, { row: 1, column: 11 }],
    ['mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32', 'b', 5, 1, 0, { row: 10, column: 1 }],
    ['mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32', 'd', 5, 3, 0, { row: 9, column: 3 }],
    ['mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16', 'd', 5, 1, 1, { row: 9, column: 3 }],
    ['mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32', 'a', 31, 3, 3, { row: 15, column: 31 }],
    ['mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32', 'b', 6, 0, 7, { row: 23, column: 1 }],
    ['mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64', 'a', 1, 5, 0, { row: 8, column: 9 }],
    ['mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc', 'a', 4, 2, 31, { row: 1, column: 159 }],
  ] as const)('%s has %s of lane %i, register %i, slot %i at %o', (name, which, lane, register, slot, at) => {
    const operand = tileForms.find((form) => form.name === name)?.[which];
    const element = operand?.map[(register * 32 + lane) * operand.slots + slot];
    expect(element).toBe(at.row * (operand?.columns ?? 0) + at.column);
  });
});
