import { isSignedType, typeBits } from '../../../../ptx/index.js';
import type { OpName, SimdName } from '../../../../wasm/index.js';
import type { VectorOperands } from '../operands/index.js';
import type { ChunkAccess } from './chunkAccess.js';

/** An atomic without a result, as lanes of a chunk do it. */
export interface ChunkUpdate {
  /** Whether the values of all lanes can be made one first. */
  readonly foldsLanes: boolean;
  /** Brings one lane's value to the address in a local. */
  ofLane(at: number, lane: number): void;
  /** Brings the values of all active lanes to one address. */
  once(at: number, offset: number): void;
}

const operations = ['add', 'and', 'or', 'xor', 'min', 'max'] as const;
type Operation = (typeof operations)[number];

const names: Readonly<Record<Operation, string>> = {
  add: 'Add',
  and: 'And',
  or: 'Or',
  xor: 'Xor',
  min: 'Min',
  max: 'Max',
};

/** @returns nothing for what is not done here: results, exchanges, floats; and memory that several threads write. */
export function updateOf(access: ChunkAccess, v: VectorOperands): ChunkUpdate | undefined {
  const { instruction, type, elements } = access;
  const operation = operations.find((each) => instruction.modifiers.includes(each));
  if (operation === undefined || elements.length !== 1 || !/^[bus](?:32|64)$/.test(type)) return undefined;
  if (instruction.destinations.some(({ kind }) => kind !== 'sink')) return undefined;
  if (v.library.isThreaded && access.space !== 'shared') return undefined;
  return typeBits(type) === 32 ? narrowUpdate(access, v, operation) : wideUpdate(access, v, operation);
}

function narrowUpdate({ type, elements }: ChunkAccess, v: VectorOperands, operation: Operation): ChunkUpdate {
  const { f } = v;
  const [value] = elements;
  const isSigned = isSignedType(type);
  const [old, next] = [v.temporary('old word', 'i32'), v.temporary('next word', 'i32')];
  /** Takes two words. */
  const combine = (): void => {
    if (operation !== 'min' && operation !== 'max') {
      f.op(`i32${names[operation]}` as OpName);
      return;
    }
    f.set(next).tee(old).get(next).get(old).get(next);
    f.op(`i32${operation === 'min' ? 'Lt' : 'Gt'}${isSigned ? 'S' : 'U'}`).op('select');
  };
  const update = (at: number, offset: number, push: () => void): void => {
    f.get(at).get(at).memory('i32Load', offset);
    push();
    combine();
    f.memory('i32Store', offset);
  };
  return {
    foldsLanes: true,
    ofLane: (at, lane) => {
      update(at, 0, () => v.useLane(value, type, lane, true));
    },
    once: (at, offset) => {
      const all = v.temporary('folded', 'v128');
      const fold: SimdName =
        operation === 'add'
          ? 'i32x4Add'
          : operation === 'min' || operation === 'max'
            ? (`i32x4${names[operation]}${isSigned ? 'S' : 'U'}` as SimdName)
            : (`v128${names[operation]}` as SimdName);
      for (let group = 0; group < v.groups; group++) {
        if (group > 0) f.get(all);
        v.use(value, type, group, 0, true);
        if (v.isMasked) {
          const neutral = neutralOf(operation, isSigned);
          f.v128(neutral, neutral, neutral, neutral);
          v.pushMask(group);
          f.simd('v128Bitselect');
        }
        if (group > 0) f.simd(fold);
        f.set(all);
      }
      f.get(all).get(all).get(all).shuffleWords(2, 3, 0, 1).simd(fold).set(all);
      f.get(all).get(all).get(all).shuffleWords(1, 0, 3, 2).simd(fold).set(all);
      update(at, offset, () => f.get(all).simdLane('i32x4ExtractLane', 0));
    },
  };
}

/** The value that changes nothing. */
function neutralOf(operation: Operation, isSigned: boolean): number {
  switch (operation) {
    case 'and':
      return -1;
    case 'min':
      return isSigned ? 0x7fffffff : -1;
    case 'max':
      return isSigned ? -0x80000000 : 0;
    case 'add':
    case 'or':
    case 'xor':
      return 0;
  }
}

function wideUpdate({ type, elements }: ChunkAccess, v: VectorOperands, operation: Operation): ChunkUpdate {
  const { f } = v;
  const [value] = elements;
  const isSigned = isSignedType(type);
  const [old, next] = [v.temporary('old pair', 'i64'), v.temporary('next pair', 'i64')];
  return {
    foldsLanes: false,
    ofLane: (at, lane) => {
      f.get(at).get(at).memory('i64Load', 0);
      v.useLane(value, type, lane, true);
      if (operation === 'min' || operation === 'max') {
        f.set(next).tee(old).get(next).get(old).get(next);
        f.op(`i64${operation === 'min' ? 'Lt' : 'Gt'}${isSigned ? 'S' : 'U'}`).op('select');
      } else f.op(`i64${names[operation]}` as OpName);
      f.memory('i64Store', 0);
    },
    once: () => {
      throw new RangeError('pairs of words are not folded');
    },
  };
}
