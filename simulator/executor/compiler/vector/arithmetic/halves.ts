import type { IrInstruction, ScalarType } from '../../../../ptx/index.js';
import { halfForm, roundedHalf, writeHalves, type HalfSurroundings } from '../../scalar/index.js';
import type { VectorEmitter } from '../operands/index.js';
import { keep } from './parts.js';

function lanes(
  from: ScalarType,
  to: ScalarType,
  write: (around: HalfSurroundings, operands: readonly number[]) => void,
): VectorEmitter {
  return (v, instruction) => {
    const { f, library } = v;
    for (let group = 0; group < v.groups; group++) {
      const operands = instruction.sources.map((source, index) => {
        v.use(source, from, group);
        return keep(v, `half operand ${index}`);
      });
      write({ f, library, temporary: (name) => v.temporary(name, 'v128') }, operands);
      v.assign(instruction.destinations[0], to, group);
    }
  };
}

/** Arithmetic of f16 and bf16, one or two to a register. */
export function halfVector(instruction: IrInstruction): VectorEmitter | undefined {
  const form = halfForm(instruction);
  if (form === undefined) return undefined;
  const bits = form.isPacked ? 'b32' : 'b16';
  return lanes(bits, bits, (around, operands) => {
    writeHalves(around, form, operands);
  });
}

/** f32 rounded to f16 or bf16. */
export function roundedHalfVector(instruction: IrInstruction): VectorEmitter | undefined {
  const form = roundedHalf(instruction);
  return form && lanes('f32', form.isPacked ? 'b32' : 'b16', form.write);
}
