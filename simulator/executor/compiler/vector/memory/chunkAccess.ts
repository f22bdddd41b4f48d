import {
  type IrInstruction,
  type IrOperand,
  isLoad,
  isStore,
  type ScalarType,
  typeBits,
} from '../../../../ptx/index.js';
import { accessBytes, type DynamicBytes, spaceOf, type AccessSpace } from '../../instructions/index.js';
import type { AccessGroup } from '../../analysis/index.js';
import type { MemorySurroundings } from '../../accesses/index.js';
import type { REACH_TO } from '../../library/index.js';
import { strideOf } from '../shapes/index.js';
import type { VectorOperands } from '../operands/index.js';
import { findIndexedAddress, type IndexedAddress } from './indexedAddress.js';

/** What the function around a chunk's memory accesses provides. */
export interface ChunkMemory extends Pick<
  MemorySurroundings,
  'sharedLayout' | 'localLayout' | 'caches' | 'countBytes'
> {
  /** Whether lanes side by side in memory are loaded and stored as whole vectors. */
  readonly joinsNeighbours: boolean;
  /** Whether loads at constant distances from one pointer are checked once. */
  readonly bundlesLoads: boolean;
  /** Local with the address of the local memory of the chunk's first lane. */
  localBase(): number;
  /**
   * Leaves the chunk at this instruction; the fault is in the launch record.
   * @param lane local with the number, in the chunk, of the lane that it is of.
   */
  leaveLaneWithFault(instruction: IrInstruction, lane: number): void;
}

export type AddressOperand = Extract<IrOperand, { kind: 'address' }>;

/** A load, store or atomic as all lanes of a chunk make it. */
export interface ChunkAccess {
  readonly instruction: IrInstruction;
  readonly address: AddressOperand;
  readonly space: AccessSpace;
  readonly purpose: keyof typeof REACH_TO;
  /** Of one element. */
  readonly type: ScalarType;
  /** What is loaded to or stored from: one, or the elements of a vector. */
  readonly elements: readonly (IrOperand | undefined)[];
  /** Bytes of one lane. */
  readonly bytes: number;
  /** Bytes between the addresses of neighbouring lanes; undefined when they lie anyhow. */
  readonly stride: number | undefined;
  /** Of varying addresses of 64 bits that lie side by side as long as lanes do not part. */
  readonly isLikelyBeside: boolean;
  /** Of varying addresses of 64 bits that can be told by an index of 32. */
  readonly indexed: IndexedAddress | undefined;
  /** Of accesses that may reach global memory. */
  readonly group: AccessGroup | undefined;
}

/** Reaches beyond this leave the stride aside, so that the last lane's offset never wraps. */
const MOST_REACH = 2 ** 30;

/** @returns nothing for what has no form here. */
export function describeAccess(
  v: VectorOperands,
  around: ChunkMemory,
  instruction: IrInstruction,
): ChunkAccess | undefined {
  const { opcode } = instruction;
  const loads = isLoad(opcode);
  const [address] = instruction.sources;
  const value = loads ? instruction.destinations[0] : instruction.sources[1];
  const type = instruction.types.at(-1) ?? 'b32';
  if (address?.kind !== 'address' || typeBits(type) > 64 || typeBits(type) < 8) return undefined;
  const space = spaceOf(instruction.modifiers);
  const mayBeGlobal = space === 'global' || space === 'const' || space === 'generic';
  const stride = strideOfAddress(v, address, mayBeGlobal);
  if (space === 'param' && stride !== 0) return undefined;
  const bytes = accessBytes(instruction);
  return {
    instruction,
    address,
    space,
    purpose: loads ? 'load' : isStore(opcode) ? 'store' : 'update',
    type,
    elements: value?.kind === 'vector' ? value.elements : [value],
    bytes,
    stride,
    isLikelyBeside: space === 'global' && stride === undefined && isLikelyBeside(v, address, bytes),
    indexed: mayBeGlobal && stride === undefined ? indexedAddress(v, instruction, address) : undefined,
    group: mayBeGlobal ? around.caches.groupOf(instruction) : undefined,
  };
}

/** With few groups the range of the index costs more than it saves. */
const LEAST_INDEXED_GROUPS = 4;

function indexedAddress(
  v: VectorOperands,
  instruction: IrInstruction,
  { base }: AddressOperand,
): IndexedAddress | undefined {
  if (typeof base !== 'number' || v.groups < LEAST_INDEXED_GROUPS) return undefined;
  const found = findIndexedAddress(v, instruction, base);
  // Every index is aligned when the base is.
  return found !== undefined && 2 ** found.log2Scale % accessBytes(instruction) === 0 ? found : undefined;
}

/** The counters that an access to global memory adds its bytes to. */
export function globalCounters({ purpose }: ChunkAccess): readonly DynamicBytes[] {
  if (purpose === 'update') return ['globalLoad', 'globalStore'];
  return [purpose === 'load' ? 'globalLoad' : 'globalStore'];
}

function isLikelyBeside(v: VectorOperands, { base }: AddressOperand, bytes: number): boolean {
  return typeof base === 'number' && typeBits(v.typeOf(base)) === 64 && v.likelyStrideOf(base) === bytes;
}

function strideOfAddress(v: VectorOperands, { base }: AddressOperand, isWide: boolean): number | undefined {
  if (typeof base !== 'number') return 0;
  const stride = strideOf(v.shapeOfRegister(base));
  if (stride === undefined || stride === 0) return stride;
  // A narrow register may wrap between two lanes before it becomes an address.
  if (isWide && typeBits(v.typeOf(base)) < 64) return undefined;
  return Math.abs(stride) * v.width <= MOST_REACH ? stride : undefined;
}
