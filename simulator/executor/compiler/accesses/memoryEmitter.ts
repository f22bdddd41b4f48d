import { typeBits, type IrInstruction, type IrOperand, type ScalarType } from '../../../ptx/index.js';
import {
  CLUSTER_RANK_SHIFT,
  CLUSTER_RANK_STEP,
  LOCAL_WINDOW_HIGH,
  PARAM_WINDOW_HIGH,
  SHARED_WINDOW_HIGH,
} from '../../memory/index.js';
import { RECORD } from '../area/index.js';
import { AddressEmitter, type MemorySurroundings } from './addressEmitter.js';
import { AtomicEmitter } from './atomicEmitter.js';
import { emitFetch } from './fetchEmitter.js';
import { CopyEmitter } from './copyEmitter.js';
import type { ImportedOperations } from '../hostCalls/index.js';
import { spaceOf, lastType, loadName, registerView, storeName, WINDOW_HIGHS } from '../instructions/index.js';
import type { OperandEmitter } from '../scalar/index.js';

/** Loads, stores and conversions of addresses; atomics and copies are emitters of their own. */
export class MemoryEmitter {
  private readonly addresses: AddressEmitter;
  private readonly atomics: AtomicEmitter;
  private readonly copies: CopyEmitter;

  constructor(
    private readonly emit: OperandEmitter,
    private readonly around: MemorySurroundings,
  ) {
    this.addresses = new AddressEmitter(emit, around);
    this.atomics = new AtomicEmitter(emit, this.addresses, around);
    this.copies = new CopyEmitter(emit, this.addresses, around);
  }

  load(instruction: IrInstruction): void {
    const f = this.emit.f;
    const [address] = instruction.sources;
    const [destination] = instruction.destinations;
    const type = lastType(instruction);
    const offset = this.addresses.push(instruction, address);
    if (destination?.kind !== 'vector') {
      const effective = this.registerView(destination, type);
      f.memory(loadName(effective), offset);
      this.emit.assign(destination, effective);
      return;
    }
    const at = this.emit.temporary('address', 'i32');
    f.set(at);
    destination.elements.forEach((element, index) => {
      const effective = this.registerView(element, type);
      f.get(at).memory(loadName(effective), offset + (index * typeBits(type)) / 8);
      this.emit.assign(element, effective);
    });
  }

  store(instruction: IrInstruction): void {
    const f = this.emit.f;
    const [address, value] = instruction.sources;
    const type = lastType(instruction);
    const space = spaceOf(instruction.modifiers);
    if (space !== 'local' && space !== 'param') this.around.noteWrite();
    const offset = this.addresses.push(instruction, address);
    if (value?.kind !== 'vector') {
      const effective = this.registerView(value, type);
      this.emit.use(value, effective, true);
      f.memory(storeName(effective), offset);
      return;
    }
    const at = this.emit.temporary('address', 'i32');
    f.set(at);
    value.elements.forEach((element, index) => {
      const effective = this.registerView(element, type);
      f.get(at);
      this.emit.use(element, effective, true);
      f.memory(storeName(effective), offset + (index * typeBits(type)) / 8);
    });
  }

  atomic(instruction: IrInstruction, imported: ImportedOperations): void {
    this.atomics.atomic(instruction, imported);
  }

  fetch(instruction: IrInstruction, imported: ImportedOperations): void {
    emitFetch(this.emit, this.around, instruction, imported);
  }

  copy(instruction: IrInstruction): void {
    this.copies.copy(instruction);
  }

  /** Between kinds of addresses, and what they tell. */
  address(instruction: IrInstruction): void {
    switch (instruction.opcode) {
      case 'isspacep':
        this.isInSpace(instruction);
        return;
      case 'mapa':
        this.mapRank(instruction);
        return;
      case 'getctarank':
        this.rankOf(instruction);
        return;
      default:
        this.convertAddress(instruction);
    }
  }

  /** The same place in the shared memory of the block of another rank. */
  private mapRank(instruction: IrInstruction): void {
    const f = this.emit.f;
    const type = lastType(instruction) === 'u32' ? 'u32' : 'u64';
    const [address, rank] = instruction.sources;
    this.emit.use(address, type);
    if (type === 'u32') f.i32(CLUSTER_RANK_STEP - 1).op('i32And');
    else f.i64Halves(CLUSTER_RANK_STEP - 1, -1).op('i64And');
    this.emit.use(rank, 'u32');
    f.i32(CLUSTER_RANK_SHIFT).op('i32Shl');
    if (type === 'u32') f.op('i32Or');
    else f.op('i64ExtendI32U').op('i64Or');
    this.emit.assign(instruction.destinations[0], type);
  }

  /** The rank of the block whose shared memory an address is of. */
  private rankOf(instruction: IrInstruction): void {
    const f = this.emit.f;
    const isWide = lastType(instruction) !== 'u32';
    this.emit.use(instruction.sources[0], isWide ? 'u64' : 'u32');
    if (isWide) f.op('i32WrapI64');
    f.i32(CLUSTER_RANK_SHIFT).op('i32ShrU');
    this.emit.assign(instruction.destinations[0], 'u32');
  }

  /** Leaves 1 when a generic address lies in the space. */
  private isInSpace(instruction: IrInstruction): void {
    const f = this.emit.f;
    const high = this.emit.temporary('high', 'i32');
    this.emit.use(instruction.sources[0], 'u64');
    f.i64(32).op('i64ShrU').op('i32WrapI64').set(high);
    switch (spaceOf(instruction.modifiers)) {
      case 'shared':
        f.get(high).i32(SHARED_WINDOW_HIGH).op('i32Eq');
        if (this.around.meetsInCluster && !instruction.modifiers.includes('shared::cluster')) {
          this.emit.use(instruction.sources[0], 'u64');
          f.op('i32WrapI64').i32(CLUSTER_RANK_SHIFT).op('i32ShrU');
          f.area().memory('i32Load', RECORD.clusterRank).op('i32Eq').op('i32And');
        }
        break;
      case 'local':
        f.get(high).i32(LOCAL_WINDOW_HIGH).op('i32Eq');
        break;
      case 'global':
        f.get(high)
          .i32(SHARED_WINDOW_HIGH)
          .op('i32Ne')
          .get(high)
          .i32(LOCAL_WINDOW_HIGH)
          .op('i32Ne')
          .op('i32And');
        f.get(high).i32(PARAM_WINDOW_HIGH).op('i32Ne').op('i32And');
        break;
      case 'param':
        f.get(high).i32(PARAM_WINDOW_HIGH).op('i32Eq');
        break;
      case 'const':
      case 'generic':
        f.i32(0);
    }
    this.emit.assign(instruction.destinations[0], 'pred');
  }

  /** Between an address of a space and the generic address. */
  private convertAddress(instruction: IrInstruction): void {
    const f = this.emit.f;
    const space = spaceOf(instruction.modifiers);
    this.emit.use(instruction.sources[0], 'u64');
    const high = WINDOW_HIGHS[space] ?? 0;
    if (high !== 0) {
      f.i64Halves(0, high).op(instruction.modifiers.includes('to') ? 'i64Sub' : 'i64Add');
    }
    this.emit.assign(instruction.destinations[0], 'u64');
  }

  private registerView(operand: IrOperand | undefined, type: ScalarType): ScalarType {
    return registerView(operand, type, (register) => this.emit.typeOf(register));
  }
}
