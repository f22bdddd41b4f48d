import type { IrFunction, IrInstruction, MatrixExchange } from '../../ptx/index.js';
import { matrixOperation, ROW_ALIGNMENT } from '../matrixExchanges/index.js';
import { LaneFault } from './faults.js';
import type { MemoryContext } from './laneInstructions.js';
import { operandReader, operandWriter, type SymbolAddress } from './operands.js';
import { lanesPerWarp } from './registerFile.js';
import { forEachLane } from './warp.js';

/** What lanes of a warp make together of matrices in their registers. Lanes that are not there have noughts. */
export function matrixExchange(
  instruction: IrInstruction,
  opcode: MatrixExchange,
  fn: IrFunction,
  symbols: SymbolAddress,
): (context: MemoryContext, group: number) => void {
  const { inputs, outputs, isWide, pointing = 0, compute } = matrixOperation(instruction, opcode);
  const kind = isWide ? 'b64' : 'u32';
  const readers = inputs.map((operand) => operandReader(operand, kind, symbols));
  const writers = outputs.map((operand) => operandWriter(operand, kind, fn));
  const span = isWide ? 2 : 1;
  return (context, group) => {
    const words = new Uint32Array(readers.length * lanesPerWarp * span);
    readers.forEach((read, register) =>
      forEachLane(group, (lane) => {
        const at = (register * lanesPerWarp + lane) * span;
        const value = read(context, lane);
        if (typeof value === 'bigint') {
          words[at] = Number(value & 0xffff_ffffn);
          words[at + 1] = Number(value >> 32n);
        } else words[at] = value;
      }),
    );
    for (let lane = 0; lane < pointing; lane++) checkRow(words, lane, group);
    const results = compute(words);
    writers.forEach((write, register) =>
      forEachLane(group, (lane) => {
        const at = (register * lanesPerWarp + lane) * span;
        const low = results[at] ?? 0;
        write(context, lane, isWide ? (BigInt(results[at + 1] ?? 0) << 32n) | BigInt(low) : low);
      }),
    );
  };
}

function checkRow(words: Uint32Array, lane: number, group: number): void {
  const address = words[lane] ?? 0;
  if (((group >>> lane) & 1) === 0 || address % ROW_ALIGNMENT === 0) return;
  const fault = new LaneFault(
    'misalignedAddress',
    `a row of a matrix at 0x${address.toString(16)} is not at a multiple of ${ROW_ALIGNMENT} bytes`,
    address,
  );
  fault.lane = lane;
  throw fault;
}
