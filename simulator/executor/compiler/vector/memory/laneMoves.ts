import { typeBits, type ScalarType } from '../../../../ptx/index.js';
import type { FunctionBuilder } from '../../../../wasm/index.js';
import { loadName } from '../../instructions/index.js';

/** What every lane of a chunk moves. */
export interface LaneMove {
  readonly type: ScalarType;
  /** Elements of one lane. */
  readonly count: number;
  readonly groups: number;
  /** A v128 local of that name. */
  readonly temporary: (name: string) => number;
}

/** One v128: an element of four lanes, or of two when it has 64 bits. */
export interface Part {
  readonly element: number;
  readonly group: number;
  readonly half: 0 | 1;
}

/** Pushes what a lane's address is made of; @returns the constant that is added to it. */
export type PushAddress = (lane: number) => number;

export function elementBytes(type: ScalarType): number {
  return typeBits(type) / 8;
}

/** All parts, element by element. */
export function eachPart({ type, count, groups }: LaneMove, visit: (part: Part) => void): void {
  const halves = elementBytes(type) === 8 ? ([0, 1] as const) : ([0] as const);
  for (let element = 0; element < count; element++)
    for (let group = 0; group < groups; group++) for (const half of halves) visit({ element, group, half });
}

/** Loads lane by lane from wherever each lane's bytes lie. @param put takes each part from the stack. */
export function loadLanes(
  f: FunctionBuilder,
  move: LaneMove,
  address: PushAddress,
  put: (part: Part) => void,
): void {
  const bytes = elementBytes(move.type);
  const whole = move.temporary('whole');
  eachPart(move, (part) => {
    const { element, group, half } = part;
    const [first, lanes] = bytes === 8 ? [4 * group + 2 * half, 2] : [4 * group, 4];
    for (let lane = 0; lane < lanes; lane++) {
      const isFirst = lane === 0;
      if (!isFirst) f.set(whole);
      if (bytes < 4 && !isFirst) f.get(whole);
      const offset = address(first + lane) + element * bytes;
      if (bytes < 4) {
        f.memory(loadName(move.type), offset);
        if (isFirst) f.simd('i32x4Splat');
        else f.simdLane('i32x4ReplaceLane', lane);
      } else if (isFirst) f.simdMemory(bytes === 8 ? 'v128Load64Zero' : 'v128Load32Zero', offset);
      else f.get(whole).simdMemoryLane(bytes === 8 ? 'v128Load64Lane' : 'v128Load32Lane', offset, lane);
    }
    put(part);
  });
}

/** Stores one lane. @param get pushes each part. */
export function storeLane(
  f: FunctionBuilder,
  { type, count }: LaneMove,
  lane: number,
  address: PushAddress,
  get: (part: Part) => void,
): void {
  const bytes = elementBytes(type);
  const group = lane >> 2;
  for (let element = 0; element < count; element++) {
    const offset = address(lane) + element * bytes;
    get({ element, group, half: bytes === 8 && (lane & 2) !== 0 ? 1 : 0 });
    const place = lane & 3;
    if (bytes === 8) f.simdMemoryLane('v128Store64Lane', offset, lane & 1);
    else if (bytes === 4) f.simdMemoryLane('v128Store32Lane', offset, place);
    else if (bytes === 2) f.simdMemoryLane('v128Store16Lane', offset, 2 * place);
    else f.simdMemoryLane('v128Store8Lane', offset, 4 * place);
  }
}
