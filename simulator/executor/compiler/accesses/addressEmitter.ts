import { isLoad, isStore, isUpdate } from '../../../ptx/index.js';
import {
  makesGenericParams,
  countsDynamically,
  type DynamicBytes,
  accessBytes,
  spaceOf,
  type AccessSpace,
} from '../instructions/index.js';
import type { IrInstruction, IrOperand } from '../../../ptx/index.js';
import {
  CLUSTER_RANK_SHIFT,
  CLUSTER_RANK_STEP,
  LOCAL_WINDOW_HIGH,
  PARAM_WINDOW_HIGH,
  SHARED_WINDOW_HIGH,
} from '../../memory/index.js';
import type { LocalLayout, SharedLayout } from '../../module/index.js';
import type { FaultCode } from '../../types.js';
import type { AccessGroup } from '../analysis/index.js';
import type { FoundCaches } from './accessCaches.js';
import { loadCache, placeOf, placesIn } from './accessWindows.js';
import { AREA, faultNumber, RECORD } from '../area/index.js';
import type { JournalKind } from './journalEmitter.js';
import { NO_OFFSET_HIGH } from '../library/index.js';
import type { OperandEmitter } from '../scalar/index.js';

/** What the function around the memory accesses provides. */
export interface MemorySurroundings {
  readonly sharedLayout: SharedLayout;
  readonly localLayout: LocalLayout;
  /** See KernelPlan. */
  readonly meetsInCluster: boolean;
  readonly caches: FoundCaches;
  /** Local with the address of the thread's local memory. */
  localBase(): number;
  /**
   * Adds the bytes of an access that not every thread at this place makes, or that may be in any space.
   * @param bytes their number, or what leaves it.
   */
  countBytes(what: DynamicBytes, bytes: number | (() => void)): void;
  /** Leaves the thread at this instruction; the fault is in the launch record. */
  leaveWithFault(instruction: IrInstruction): void;
  /**
   * Before an access to global memory that is allowed: writes it to the journal of observed code. Its place in the node's
   * memory is on the stack and stays there.
   */
  recordAccess(instruction: IrInstruction, kind: JournalKind, bytes: number, pushAddress: () => void): void;
  /** A write that others may wait for; `pushChanged` leaves 1 when it changed anything. */
  noteWrite(pushChanged?: () => void): void;
}

/** Ranks from here on have no bit that tells whether their block is there. */
const WORD_BITS = 32;

/** Addresses of loads, stores and atomics: each is checked and translated where it is used. */
export class AddressEmitter {
  private readonly hasGenericParams: boolean;

  constructor(
    private readonly emit: OperandEmitter,
    private readonly around: MemorySurroundings,
  ) {
    this.hasGenericParams = makesGenericParams(emit.fn);
  }

  /** Leaves the i32 address in the node's memory; @returns what to add to it. */
  push(instruction: IrInstruction, operand: IrOperand | undefined): number {
    if (operand?.kind !== 'address') throw new RangeError(`line ${instruction.line}: an address is missing`);
    const space = spaceOf(instruction.modifiers);
    if (space !== 'generic' && countsDynamically(instruction)) this.count(instruction, space);
    switch (space) {
      case 'shared':
        return this.sharedAddress(instruction, operand);
      case 'local':
        return this.localAddress(instruction, operand);
      case 'param':
        return this.paramAddress(instruction, operand);
      case 'global':
      case 'const':
        this.pushWide(operand);
        this.globalAddress(instruction);
        return 0;
      case 'generic':
        this.genericAddress(instruction, operand);
        return 0;
    }
  }

  /** Of a copy: leaves the i32 address of its global source; @param group the cache to use. */
  pushGlobal(instruction: IrInstruction, operand: IrOperand | undefined, group?: AccessGroup): void {
    if (operand?.kind !== 'address') throw new RangeError(`line ${instruction.line}: an address is missing`);
    this.pushWide(operand);
    this.globalAddress(instruction, group);
  }

  /** Of a copy: leaves the i32 address of its place in shared memory; @returns what to add to it. */
  pushShared(instruction: IrInstruction, operand: IrOperand | undefined): number {
    if (operand?.kind !== 'address') throw new RangeError(`line ${instruction.line}: an address is missing`);
    return this.sharedAddress(instruction, operand);
  }

  private count(instruction: IrInstruction, space: AccessSpace): void {
    const bytes = accessBytes(instruction);
    if (space === 'shared') this.around.countBytes('shared', bytes);
    if (space !== 'global' && space !== 'const') return;
    if (!isStore(instruction.opcode)) this.around.countBytes('globalLoad', bytes);
    if (!isLoad(instruction.opcode)) this.around.countBytes('globalStore', bytes);
  }

  private sharedAddress(
    instruction: IrInstruction,
    operand: Extract<IrOperand, { kind: 'address' }>,
  ): number {
    const { sharedLayout } = this.around;
    const bytes = accessBytes(instruction);
    const constant = this.constantAddress(operand, sharedLayout.offsets);
    if (
      constant !== undefined &&
      constant >= 0 &&
      constant % bytes === 0 &&
      constant + bytes <= sharedLayout.staticBytes
    ) {
      return this.ownShared(constant);
    }
    if (constant !== undefined) {
      this.emit.f.i32(constant);
      this.checkShared(instruction);
      const offset = this.ownShared(0);
      this.emit.f.op('i32Add');
      return offset;
    }
    this.pushNarrow(operand);
    return this.sharedPlace(instruction, instruction.modifiers.includes('shared::cluster'));
  }

  /** Leaves where the block's shared memory begins; @returns what to add. */
  private ownShared(offset: number): number {
    const f = this.emit.f;
    f.area();
    if (!this.around.meetsInCluster) return AREA.shared + offset;
    f.memory('i32Load', RECORD.ownShared);
    return offset;
  }

  /** Takes an i32 shared address that is allowed; leaves it in the node's memory. @returns what to add to it */
  private sharedPlace(instruction: IrInstruction, isInCluster: boolean): number {
    const f = this.emit.f;
    if (!this.around.meetsInCluster) {
      this.checkShared(instruction);
      f.area().op('i32Add');
      return AREA.shared;
    }
    const address = this.emit.temporary('ranked', 'i32');
    const rank = this.emit.temporary('rank', 'i32');
    f.tee(address).i32(CLUSTER_RANK_SHIFT).op('i32ShrU').set(rank);
    if (isInCluster) {
      f.get(rank)
        .i32(WORD_BITS)
        .op('i32LtU')
        .area()
        .memory('i32Load', RECORD.clusterAlive)
        .get(rank)
        .op('i32ShrU')
        .op('i32And');
    } else f.get(rank).area().memory('i32Load', RECORD.clusterRank).op('i32Eq');
    f.op('i32Eqz').if();
    f.area()
      .i32(faultNumber(isInCluster ? 'clusterBlockNotPresent' : 'sharedOutOfBounds'))
      .memory('i32Store', RECORD.faultCode);
    f.area().get(address).op('i64ExtendI32U').memory('i64Store', RECORD.faultAddress);
    this.around.leaveWithFault(instruction);
    f.end();
    f.get(address)
      .i32(CLUSTER_RANK_STEP - 1)
      .op('i32And');
    this.checkShared(instruction);
    f.get(rank).area().memory('i32Load', RECORD.clusterStride).op('i32Mul').op('i32Add');
    f.area().memory('i32Load', RECORD.clusterShared).op('i32Add');
    return 0;
  }

  private localAddress(instruction: IrInstruction, operand: Extract<IrOperand, { kind: 'address' }>): number {
    const constant = this.constantAddress(operand, this.around.localLayout.offsets);
    const bytes = accessBytes(instruction);
    const f = this.emit.f;
    if (
      constant !== undefined &&
      constant >= 0 &&
      constant % bytes === 0 &&
      constant + bytes <= this.around.localLayout.bytes
    ) {
      f.get(this.around.localBase());
      return constant;
    }
    if (constant !== undefined) f.i32(constant);
    else this.pushNarrow(operand);
    this.checkLocal(instruction);
    return 0;
  }

  private paramAddress(instruction: IrInstruction, operand: Extract<IrOperand, { kind: 'address' }>): number {
    const f = this.emit.f;
    const { fn } = this.emit;
    const offsets = new Map(fn.parameters.map((parameter) => [parameter.name, parameter.offset]));
    const constant = this.constantAddress(operand, offsets);
    const bytes = accessBytes(instruction);
    if (constant !== undefined && constant >= 0 && constant + bytes <= fn.parameterBytes) {
      f.area();
      return AREA.params + constant;
    }
    if (constant !== undefined) f.i32(constant);
    else this.pushNarrow(operand);
    this.checkRange(instruction, 'illegalAddress', () => f.i32(placesIn(fn.parameterBytes, bytes)));
    f.area().op('i32Add');
    return AREA.params;
  }

  /** Takes an i32 offset; leaves it when the access lies inside the block's shared memory. */
  private checkShared(instruction: IrInstruction): void {
    const f = this.emit.f;
    const log2 = Math.log2(accessBytes(instruction));
    this.checkRange(instruction, 'sharedOutOfBounds', () => f.get(this.around.caches.sharedLimit(log2)));
  }

  private checkLocal(instruction: IrInstruction): void {
    const f = this.emit.f;
    const limit = placesIn(this.around.localLayout.bytes, accessBytes(instruction));
    this.checkRange(instruction, 'localOutOfBounds', () => f.i32(limit));
    f.get(this.around.localBase()).op('i32Add');
  }

  /** Takes an i32 offset; leaves it when its place is below the limit. */
  private checkRange(instruction: IrInstruction, code: FaultCode, pushLimit: () => void): void {
    const f = this.emit.f;
    const bytes = accessBytes(instruction);
    const at = this.emit.temporary('window', 'i32');
    placeOf(f.tee(at), bytes, 'i32');
    pushLimit();
    f.op('i32GeU').if();
    // Out of bounds goes before misaligned.
    f.area().i32(faultNumber(code)).i32(faultNumber('misalignedAddress'));
    f.get(at).i32(Math.log2(bytes)).op('i32ShrU');
    pushLimit();
    f.op('i32GeU').op('select').memory('i32Store', RECORD.faultCode);
    f.area().get(at).op('i64ExtendI32U').memory('i64Store', RECORD.faultAddress);
    this.around.leaveWithFault(instruction);
    f.end().get(at);
  }

  /** Takes an i64 address; leaves the i32 address in the node's memory. */
  private globalAddress(instruction: IrInstruction, group = this.around.caches.groupOf(instruction)): void {
    const f = this.emit.f;
    const cache = this.around.caches.cacheLocals(group);
    const offset = this.emit.temporary('offset', 'i64');
    f.get(cache.base).op('i64Sub').tee(offset);
    placeOf(f, group.bytes, 'i64').get(cache.limit).op('i64GeU').if();
    f.get(offset)
      .get(cache.base)
      .op('i64Add')
      .area()
      .i32(group.cacheAt)
      .op('i32Add')
      .i32(group.bytes)
      .i32(group.writes ? 1 : 0);
    f.call(this.emit.library.index('locate')).tee(offset).i64Halves(0, NO_OFFSET_HIGH).op('i64Eq').if();
    this.around.leaveWithFault(instruction);
    f.end();
    loadCache(f, group, cache);
    f.end();
    f.get(offset).op('i32WrapI64').get(cache.offset).op('i32Add');
    if (spaceOf(instruction.modifiers) === 'const') return;
    this.around.recordAccess(instruction, accessKind(instruction), group.bytes, () =>
      f.get(offset).get(cache.base).op('i64Add'),
    );
  }

  private genericAddress(instruction: IrInstruction, operand: Extract<IrOperand, { kind: 'address' }>): void {
    const f = this.emit.f;
    const wide = this.emit.temporary('generic', 'i64');
    const high = this.emit.temporary('high', 'i32');
    this.pushWide(operand);
    f.tee(wide).i64(32).op('i64ShrU').op('i32WrapI64').tee(high);
    f.i32(SHARED_WINDOW_HIGH).op('i32Eq').if('i32');
    this.count(instruction, 'shared');
    f.get(wide).op('i32WrapI64');
    if (this.around.meetsInCluster) this.sharedPlace(instruction, true);
    else {
      this.checkShared(instruction);
      f.i32(AREA.shared).op('i32Add').area().op('i32Add');
    }
    f.else();
    f.get(high).i32(LOCAL_WINDOW_HIGH).op('i32Eq').if('i32');
    f.get(wide).op('i32WrapI64');
    this.checkLocal(instruction);
    f.else();
    if (this.hasGenericParams) {
      f.get(high).i32(PARAM_WINDOW_HIGH).op('i32Eq').if('i32');
      this.genericParam(instruction, wide);
      f.else();
    }
    this.count(instruction, 'global');
    f.get(wide);
    this.globalAddress(instruction);
    if (this.hasGenericParams) f.end();
    f.end().end();
  }

  /** Parameters can be read. */
  private genericParam(instruction: IrInstruction, wide: number): void {
    const f = this.emit.f;
    if (accessKind(instruction) !== 'load') {
      f.area().i32(faultNumber('writeToReadOnly')).memory('i32Store', RECORD.faultCode);
      f.area().get(wide).memory('i64Store', RECORD.faultAddress);
      this.around.leaveWithFault(instruction);
      return;
    }
    const limit = placesIn(this.emit.fn.parameterBytes, accessBytes(instruction));
    f.get(wide).op('i32WrapI64');
    this.checkRange(instruction, 'illegalAddress', () => f.i32(limit));
    f.i32(AREA.params).op('i32Add').area().op('i32Add');
  }

  /** The address when no register is in it. */
  private constantAddress(
    operand: Extract<IrOperand, { kind: 'address' }>,
    offsets: ReadonlyMap<string, number>,
  ): number | undefined {
    if (typeof operand.base === 'number') return undefined;
    if (operand.base === undefined) return operand.offset;
    const offset = offsets.get(operand.base);
    return offset === undefined ? undefined : offset + operand.offset;
  }

  private pushNarrow(operand: Extract<IrOperand, { kind: 'address' }>): void {
    const f = this.emit.f;
    if (typeof operand.base === 'number') {
      this.emit.use({ kind: 'register', register: operand.base }, 'u32');
      if (operand.offset !== 0) f.i32(operand.offset).op('i32Add');
    } else {
      this.emit.use({ kind: 'symbol', name: operand.base ?? '', offset: operand.offset }, 'u32');
    }
  }

  /** Leaves the 64-bit address of an operand. */
  pushWide(operand: Extract<IrOperand, { kind: 'address' }>): void {
    const f = this.emit.f;
    if (typeof operand.base === 'number') {
      this.emit.use({ kind: 'register', register: operand.base }, 'u64');
      if (operand.offset !== 0) f.i64(operand.offset).op('i64Add');
    } else if (operand.base === undefined) f.i64(operand.offset);
    else this.emit.use({ kind: 'symbol', name: operand.base, offset: operand.offset }, 'u64');
  }
}

function accessKind({ opcode }: IrInstruction): JournalKind {
  return isStore(opcode) ? 'store' : isUpdate(opcode) ? 'atomic' : 'load';
}
