import type { IrInstruction, ScalarType } from '../../../../ptx/index.js';
import { halfTypes, widen } from '../../scalar/index.js';
import type { HalfType } from '../../library/index.js';
import { lastType } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { compareSingles, join } from './comparisons.js';
import { keep, pushWord } from './parts.js';

/** Comparisons of f16 and bf16, which are exact as f32. */

const ONES: Readonly<Record<HalfType, number>> = { f16: 0x3c00, bf16: 0x3f80 };

/** Leaves the mask of a group's lanes where the lower or the upper halves of the first two sources compare as said. */
function compareHalves(
  v: VectorOperands,
  instruction: IrInstruction,
  type: HalfType,
  group: number,
  part: 'lower' | 'upper',
): void {
  const { f, library } = v;
  const isPacked = lastType(instruction).endsWith('x2');
  const around = { f, library, temporary: (name: string) => v.temporary(name, 'v128') };
  for (const source of instruction.sources.slice(0, 2)) {
    v.use(source, isPacked ? 'b32' : 'b16', group);
    if (isPacked && part === 'upper') f.i32(16).simd('i32x4ShrU');
    else if (isPacked) {
      pushWord(v, 0xffff);
      f.simd('v128And');
    }
    widen(around, type);
  }
  compareSingles(v, instruction);
}

/** Of packed halves `p|q` are the comparisons of the lower and upper ones; of a single one q is that p's opposite. */
function setPredicate(type: HalfType): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    const [destination] = instruction.destinations;
    const isPacked = lastType(instruction).endsWith('x2');
    for (let group = 0; group < v.groups; group++) {
      compareHalves(v, instruction, type, group, 'lower');
      if (destination?.kind !== 'pair') {
        join(v, instruction, group);
        v.assign(destination, 'pred', group);
        continue;
      }
      // Both results are computed before either is written: the third source may be a destination.
      const holds = v.temporary('holds', 'v128');
      f.tee(holds);
      join(v, instruction, group);
      if (isPacked) compareHalves(v, instruction, type, group, 'upper');
      else f.get(holds).simd('v128Not');
      join(v, instruction, group);
      v.assign(destination.second, 'pred', group);
      v.assign(destination.first, 'pred', group);
    }
  };
}

/** What is written where a comparison holds. */
function whenTrue(to: ScalarType): number {
  const type = halfTypes[to];
  return type === undefined ? -1 : ONES[type];
}

function set(type: HalfType): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    const to = instruction.types[0] ?? 'u16';
    const isPacked = lastType(instruction).endsWith('x2');
    const push = (group: number, part: 'lower' | 'upper'): void => {
      compareHalves(v, instruction, type, group, part);
      join(v, instruction, group);
      pushWord(v, isPacked ? whenTrue(to) & 0xffff : whenTrue(to));
      f.simd('v128And');
    };
    for (let group = 0; group < v.groups; group++) {
      push(group, 'lower');
      if (isPacked) {
        const lower = keep(v, 'lower');
        push(group, 'upper');
        f.i32(16).simd('i32x4Shl').get(lower).simd('v128Or');
      }
      v.assign(instruction.destinations[0], isPacked || to.endsWith('32') ? 'b32' : 'b16', group);
    }
  };
}

export function halfComparisonVector(instruction: IrInstruction): VectorEmitter | undefined {
  const type = halfTypes[lastType(instruction)];
  if (type === undefined || instruction.modifiers.includes('ftz')) return undefined;
  if (instruction.opcode === 'setp') return setPredicate(type);
  return instruction.opcode === 'set' ? set(type) : undefined;
}
