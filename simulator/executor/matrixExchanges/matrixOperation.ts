import {
  productName,
  registersOf,
  type IrInstruction,
  type IrOperand,
  type MatrixExchange,
} from '../../ptx/index.js';
import { computeTile, fittedModel, productForm, turnedHalves, type TileForm } from '../../tensor/index.js';

const LANES = 32;

/** Bytes of a row of `ldmatrix` and `stmatrix`, which begins at a multiple of them. */
export const ROW_ALIGNMENT = 16;

/** What lanes of a warp make together of matrices that they hold in registers. */
export interface MatrixOperation {
  /** Registers of a lane that go in, in order; those of absent lanes count as nought. */
  readonly inputs: readonly IrOperand[];
  /** Registers of a lane that come out. */
  readonly outputs: readonly IrOperand[];
  /** Registers have 64 bits, not 32. */
  readonly isWide: boolean;
  /** Of a product. */
  readonly form?: TileForm;
  /** Lanes that point to rows; the others' operand does not matter. */
  readonly pointing?: number;
  /** @param words registers by lanes: of register r lane l's at 32 r + l, two words each where they are wide */
  readonly compute: (words: Uint32Array) => Uint32Array;
}

const known = new WeakMap<IrInstruction, MatrixOperation>();

/** @throws RangeError of a product that sm_90 has not, which the parser refuses */
export function matrixOperation(instruction: IrInstruction, opcode: MatrixExchange): MatrixOperation {
  let found = known.get(instruction);
  if (found === undefined) known.set(instruction, (found = makers[opcode](instruction)));
  return found;
}

const makers: Readonly<Record<MatrixExchange, (instruction: IrInstruction) => MatrixOperation>> = {
  mma: product,
  movmatrix: ({ sources, destinations }) => ({
    inputs: sources,
    outputs: destinations,
    isWide: false,
    compute: turnedHalves,
  }),
  matrixrows: rows,
};

function product(instruction: IrInstruction): MatrixOperation {
  const name = productName(instruction);
  const form = productForm(name);
  if (form === undefined) throw new RangeError(`line ${instruction.line}: no product ${name}`);
  const model = fittedModel(form);
  // Behind the matrices of a sparse product comes its metadata; the selector is part of its name.
  const inputs = instruction.sources.slice(0, 4).flatMap(registersOf);
  const outputs = instruction.destinations.flatMap(registersOf);
  return {
    inputs,
    outputs,
    isWide: form.d.type === 'f64',
    form,
    compute: (words) => computeTile({ form, model }, words),
  };
}

/** Of `matrixrows`: results a matrix. Turned, a lane has halves of two rows. */
export function rowsPerPart({ modifiers }: Pick<IrInstruction, 'modifiers'>): 1 | 2 {
  return modifiers.includes('trans') ? 2 : 1;
}

/** Bytes from the beginning of a row to a lane's part of it. */
export function columnStep(lane: number, isTurned: boolean): number {
  return isTurned ? 2 * (lane >> 2) : 4 * (lane & 3);
}

function rows(instruction: IrInstruction): MatrixOperation {
  const outputs = instruction.destinations.flatMap(registersOf);
  const each = rowsPerPart(instruction);
  const isTurned = each === 2;
  return {
    inputs: instruction.sources,
    outputs,
    isWide: false,
    pointing: (outputs.length / each) * 8,
    compute: (words) =>
      Uint32Array.from({ length: outputs.length * LANES }, (_, at) => {
        const [part, lane] = [Math.floor(at / LANES), at % LANES];
        const row = isTurned ? 2 * (lane & 3) + (part & 1) : lane >> 2;
        const matrix = Math.floor(part / each);
        return (words[matrix * 8 + row] ?? 0) + columnStep(lane, isTurned);
      }),
  };
}
