import type { IrInstruction } from '../../../../ptx/index.js';
import { LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH, SHARED_WINDOW_HIGH } from '../../../memory/index.js';
import { spaceOf, WINDOW_HIGHS } from '../../instructions/index.js';
import type { VectorOperands } from '../operands/index.js';

/** Between addresses of a space and generic addresses. */
export function convertAddress(v: VectorOperands, instruction: IrInstruction): void {
  const { f } = v;
  const high = WINDOW_HIGHS[spaceOf(instruction.modifiers)] ?? 0;
  const [source] = instruction.sources;
  const [destination] = instruction.destinations;
  for (let group = 0; group < v.groups; group++) {
    for (const half of [0, 1] as const) {
      v.use(source, 'u64', group, half);
      if (high !== 0)
        f.v128(0, high, 0, high).simd(instruction.modifiers.includes('to') ? 'i64x2Sub' : 'i64x2Add');
      f.set(v.temporary(`converted ${half}`, 'v128'));
    }
    for (const half of [0, 1] as const) {
      f.get(v.temporary(`converted ${half}`, 'v128'));
      v.assign(destination, 'u64', group, half);
    }
  }
}

/** Whether generic addresses lie in the space. */
export function isInSpace(v: VectorOperands, instruction: IrInstruction): void {
  const { f } = v;
  const space = spaceOf(instruction.modifiers);
  const highs = v.temporary('high words', 'v128');
  const own = [SHARED_WINDOW_HIGH, LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH];
  for (let group = 0; group < v.groups; group++) {
    for (const half of [0, 1] as const) v.use(instruction.sources[0], 'u64', group, half);
    f.shuffleWords(1, 3, 5, 7).set(highs);
    const high = WINDOW_HIGHS[space];
    if (space === 'global') {
      own.forEach((each, index) => {
        f.get(highs).v128(each, each, each, each).simd('i32x4Ne');
        if (index > 0) f.simd('v128And');
      });
    } else if (high === undefined) f.v128(0, 0, 0, 0);
    else f.get(highs).v128(high, high, high, high).simd('i32x4Eq');
    v.assign(instruction.destinations[0], 'pred', group);
  }
}
