import type { IrInstruction } from '../../../../ptx/index.js';
import { lastType } from '../../instructions/index.js';
import type { VectorEmitter } from '../operands/index.js';
import { bitVector } from './bits.js';
import { carryVector } from './carries.js';
import { comparisonVector } from './comparisons.js';
import { conversionVector } from './conversions.js';
import { divisionVector } from './divisions.js';
import { doubleVector } from './doubles.js';
import { singleVector } from './floats.js';
import { halfComparisonVector } from './halfComparisons.js';
import { halfVector, roundedHalfVector } from './halves.js';
import { integerVector } from './integers.js';
import { logicVector } from './logic.js';
import { rareIntegerVector } from './rareIntegers.js';
import { specialVector } from './specialFunctions.js';

const integerTypes = /^(?:pred|[bus](?:8|16|32|64))$/;

/**
 * What writes an instruction for all lanes of a chunk at once, with registers that differ between lanes as its
 * destinations; undefined where lanes are better taken one by one.
 * @param fusesMultiplyAdd whether the machine's multiply-add rounds once.
 */
export function vectorEmitter(
  instruction: IrInstruction,
  fusesMultiplyAdd = false,
): VectorEmitter | undefined {
  const { opcode, modifiers } = instruction;
  if (instruction.carry !== undefined) return carryVector(instruction);
  if (opcode === 'cvt') return conversionVector(instruction) ?? roundedHalfVector(instruction);
  const type = lastType(instruction);
  if (/^(?:setp|set|selp|slct|mov)$/.test(opcode))
    return type === 'b128' ? undefined : (comparisonVector(instruction) ?? halfComparisonVector(instruction));
  if (type === 'f32') return singleVector(instruction) ?? specialVector(instruction);
  if (type === 'f64') return doubleVector(instruction, fusesMultiplyAdd);
  if (!integerTypes.test(type)) return halfVector(instruction);
  if (modifiers.some((each) => each === 'sat' || each === 'relu')) return rareIntegerVector(instruction);
  return (
    integerVector(instruction) ??
    logicVector(instruction) ??
    bitVector(instruction) ??
    divisionVector(instruction) ??
    rareIntegerVector(instruction)
  );
}
