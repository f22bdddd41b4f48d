import type { IrInstruction } from '../../../../ptx/index.js';
import type { LibraryFunction } from '../../library/index.js';
import type { VectorEmitter } from '../operands/index.js';
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

/** Two groups at a time where there are two. */
function paired(single: LibraryFunction, pair: LibraryFunction): VectorEmitter {
  return (v, instruction) => {
    const { f, groups, library } = v;
    if (groups === 1) {
      called(single)(v, instruction);
      return;
    }
    const second = v.temporary('second group', 'v128');
    for (let group = 0; group < groups; group += 2) {
      for (const each of [group, group + 1])
        for (const source of instruction.sources) useFloat(v, instruction, source, each);
      f.call(library.index(pair)).set(second);
      finishSingle(v, instruction, group);
      f.get(second);
      finishSingle(v, instruction, group + 1);
    }
  };
}

/** The `.approx` and `.full` forms of f32. */
export function specialVector(instruction: IrInstruction): VectorEmitter | undefined {
  const { opcode, modifiers } = instruction;
  const flushes = modifiers.includes('ftz');
  switch (opcode) {
    case 'sin':
      return paired('sineLanes', 'sinePairLanes');
    case 'cos':
      return paired('cosineLanes', 'cosinePairLanes');
    case 'lg2':
      return paired('logarithm2Lanes', 'logarithm2PairLanes');
    case 'ex2':
      return paired('exponential2Lanes', 'exponential2PairLanes');
    case 'rsqrt':
      return paired('approximateReciprocalRootLanes', 'approximateReciprocalRootPairLanes');
    case 'rcp':
      return modifiers.includes('approx') ? called('approximateReciprocalLanes') : undefined;
    case 'sqrt':
      return modifiers.includes('approx')
        ? paired('approximateRootLanes', 'approximateRootPairLanes')
        : undefined;
    case 'div':
      if (modifiers.includes('full'))
        return flushes ? called('divideFullyFlushedLanes', true) : called('divideFullyLanes');
      if (!modifiers.includes('approx')) return undefined;
      return flushes ? called('divideApproximatelyFlushedLanes', true) : called('divideApproximatelyLanes');
    default:
      return undefined;
  }
}
