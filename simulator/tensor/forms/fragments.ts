import { elementBits, type ElementType } from './elementTypes.js';
import { inRegisters, type Operand } from './operand.js';

/** Extents of a product: D (m × n) = A (m × k) · B (k × n) + C. */
export interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

export type Layout = 'row' | 'col';

/**
 * Fragments of `mma` as the PTX ISA draws them (9.7.14.5, "Matrix multiply-accumulate operation using mma instruction"), with g the
 * lane's group of four and t its place there. A register has E elements, neighbours along k. Registers of A go first down (rows g and
 * g + 8), then along k in steps of 4 · E; those of B along k; those of C and D hold columns 2t and 2t + 1 of rows g and g + 8.
 */
export function fragmentA(type: ElementType, m: number, k: number): Operand {
  const elements = perRegister(type);
  const down = m / 8;
  return inRegisters({ type, rows: m, columns: k }, (m * k) / (32 * elements), (lane, register, slot) => ({
    row: (lane >> 2) + 8 * (register % down),
    column: (lane & 3) * elements + slot + Math.floor(register / down) * 4 * elements,
  }));
}

export function fragmentB(type: ElementType, n: number, k: number): Operand {
  const elements = perRegister(type);
  return inRegisters({ type, rows: k, columns: n }, (k * n) / (32 * elements), (lane, register, slot) => ({
    row: (lane & 3) * elements + slot + register * 4 * elements,
    column: lane >> 2,
  }));
}

export function fragmentC(type: ElementType, m: number, n: number): Operand {
  const isPacked = type === 'f16';
  return inRegisters(
    { type, rows: m, columns: n },
    (m * n) / (isPacked ? 64 : 32),
    (lane, register, slot) => ({
      row: (lane >> 2) + 8 * (isPacked ? register : register >> 1),
      column: (lane & 3) * 2 + (isPacked ? slot : register & 1),
    }),
  );
}

/**
 * `m8n8k4` of f16 (9.7.14.5.1): four products at once, each of a quad pair, lanes 4q … 4q + 3 and 16 + 4q … 16 + 4q + 3.
 */
export function quadFragmentA(layout: Layout): Operand {
  return inRegisters({ type: 'f16', rows: 8, columns: 4, batches: 4 }, 2, (lane, register, slot) => {
    const [own, other] = [quadRow(lane), register * 2 + slot];
    return layout === 'row'
      ? { batch: quadOf(lane), row: own, column: other }
      : { batch: quadOf(lane), row: other + (lane < 16 ? 0 : 4), column: lane & 3 };
  });
}

export function quadFragmentB(layout: Layout): Operand {
  return inRegisters({ type: 'f16', rows: 4, columns: 8, batches: 4 }, 2, (lane, register, slot) => {
    const [own, other] = [quadRow(lane), register * 2 + slot];
    return layout === 'col'
      ? { batch: quadOf(lane), row: other, column: own }
      : { batch: quadOf(lane), row: lane & 3, column: other + (lane < 16 ? 0 : 4) };
  });
}

export function quadFragmentC(type: 'f16' | 'f32'): Operand {
  const extents = { type, rows: 8, columns: 8, batches: 4 };
  if (type === 'f16')
    return inRegisters(extents, 4, (lane, register, slot) => ({
      batch: quadOf(lane),
      row: quadRow(lane),
      column: register * 2 + slot,
    }));
  return inRegisters(extents, 8, (lane, register) => ({
    batch: quadOf(lane),
    row: (lane & 1) + (register & 2) + (lane < 16 ? 0 : 4),
    column: (register & 4) + (lane & 2) + (register & 1),
  }));
}

function quadOf(lane: number): number {
  return (lane >> 2) & 3;
}

function quadRow(lane: number): number {
  return (lane & 3) + (lane < 16 ? 0 : 4);
}

function perRegister(type: ElementType): number {
  return Math.max(1, 32 / elementBits(type));
}
