import { productName, type IrInstruction } from '../../ptx/index.js';
import { elementBits, productForm, type TileForm } from '../../tensor/index.js';
import type { MachineCost } from './machineCosts.js';

/**
 * A product of matrices as an H200 was measured to take it: cycles of one of an SM's four tensor cores (16 warps that do nothing
 * else), and cycles until its sum may be the next one's. Bits of a row of A that are held say it, whatever their type.
 */
const CORE = {
  short: { cycles: 4.1, sparse: 6.12, latency: 17.3 },
  long: { cycles: 6.14, sparse: 8.16, latency: 24.4 },
} as const;
/** Of 8 rows. */
const LOW_LATENCY = 14.1;
const LONG_BITS = 256;

/** What the assembler makes of products that sm_90 has no instruction for: issue slots and latency, as measured. */
const quad = { f16: [91, 155], f32: [84, 136], mixed: [105, 208] } as const;
const nibbles = { 1: [60, 134], 2: [75, 140], 4: [85, 161] } as const;
const sparseNibbles = { 2: [78, 146], 4: [105, 172] } as const;
const exclusive = { 1: [27, 90], 2: [37, 98], 4: [42, 112] } as const;

/** Cycles of half of the units for doubles, by multiply-adds over those of m8n8k4. */
const doubles: Readonly<Record<number, readonly [operations: number, latency: number]>> = {
  1: [8, 26],
  2: [8.65, 34],
  4: [16.1, 53],
  8: [34, 119],
};

/** Eighths become halves, a register of four in two instructions, and two sums are added to the accumulator. */
const EIGHTHS_LATENCY = 9;

/** @throws RangeError of a product that sm_90 has not */
export function matrixCost(instruction: IrInstruction): MachineCost {
  const form = productForm(productName(instruction));
  if (form === undefined) throw new RangeError(`line ${instruction.line}: no such product`);
  const { m, n, k } = form.shape;
  const { type } = form.a;
  const bits = form.a.columns * elementBits(type);
  // Wider ones are made of those of 16 by 8, or of 8 by 8.
  const pieces = m === 8 && n === 8 ? 1 : (m * n) / 128;
  if (type === 'f64') {
    const [operations, latencyCycles] = doubles[(m * n * k) / 256] ?? [(m * n * k) / 32, 119];
    return { slots: 1, pipe: 'float64', pipeOps: operations, latencyCycles };
  }
  if (type === 'f16' && k === 4) return made(quad[quadKind(form)], 'float32');
  const quarters = pieces === 1 && m === 8 ? 1 : bits === LONG_BITS ? 4 : 2;
  if (type === 's4' || type === 'u4')
    return made(
      form.sparse === undefined ? nibbles[quarters] : sparseNibbles[quarters === 4 ? 4 : 2],
      'integer',
    );
  if (form.bitOperation === 'xor') return made(exclusive[quarters], 'integer');
  if (type === 'e4m3' || type === 'e5m2') {
    const core = bits >= LONG_BITS ? CORE.long : CORE.short;
    const registers = (form.a.registers ?? 0) + (form.b.registers ?? 0);
    const cycles = form.sparse === undefined ? core.cycles : core.sparse;
    return tensor(2 + 2 * registers + (form.d.registers ?? 0), 2 * cycles, EIGHTHS_LATENCY);
  }
  // A row of tf32 of `wmma` is taken in two steps.
  const steps = form.kind === 'wmma' && type === 'tf32' ? 2 : 1;
  const core = bits / steps >= LONG_BITS ? CORE.long : CORE.short;
  const cycles = form.sparse === undefined ? core.cycles : core.sparse;
  const latency = m === 8 && pieces === 1 ? LOW_LATENCY : core.latency;
  const count = pieces * steps;
  return tensor(count, count * cycles, steps * latency + (pieces - 1) * cycles);
}

function quadKind({ c, d }: TileForm): keyof typeof quad {
  if (c.type !== d.type) return 'mixed';
  return d.type === 'f16' ? 'f16' : 'f32';
}

function made([slots, latencyCycles]: readonly [number, number], pipe: 'float32' | 'integer'): MachineCost {
  return { slots, pipe, pipeOps: slots / 2, latencyCycles };
}

function tensor(slots: number, pipeOps: number, latencyCycles: number): MachineCost {
  return { slots, pipe: 'tensor', pipeOps, latencyCycles };
}
