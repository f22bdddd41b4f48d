import type { IrInstruction } from '../../../../ptx/index.js';
import type { LibraryFunction } from '../../library.js';
import type { VectorEmitter } from '../vectorOperands.js';
import { finishSingle, useFloat } from './floatOperands.js';

/** A function of the library over whole vectors. */
function called(name: LibraryFunction, isFlushed = false): VectorEmitter {
  return (v, instruction) => {
    for (let group = 0; group < v.groups; group++) {
      for (const source of instruction.sources) useFloat(v, instruction, source, group);
      v.f.call(v.library.index(name));
      finishSingle(v, instruction, group, isFlushed);
    }
  };
}

/** The `.approx` and `.full` forms of f32. */
export function specialVector(instruction: IrInstruction): VectorEmitter | undefined {
  const { opcode, modifiers } = instruction;
  const flushes = modifiers.includes('ftz');
  switch (opcode) {
    case 'ex2':
      return called('exponential2Lanes');
    case 'rsqrt':
      return called('approximateReciprocalRootLanes');
    case 'rcp':
      return modifiers.includes('approx') ? called('approximateReciprocalLanes') : undefined;
    case 'sqrt':
      return modifiers.includes('approx') ? called('approximateRootLanes') : undefined;
    case 'div':
      if (modifiers.includes('full'))
        return flushes ? called('divideFullyFlushedLanes', true) : called('divideFullyLanes');
      if (!modifiers.includes('approx')) return undefined;
      return flushes ? called('divideApproximatelyFlushedLanes', true) : called('divideApproximatelyLanes');
    default:
      return undefined;
  }
}
