import { typeBits, type IrInstruction, type IrOperand, type ScalarType } from '../../../ptx/index.js';
import { LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH, SHARED_WINDOW_HIGH } from '../../memory/index.js';
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

  /** Leaves 1 when a generic address lies in the space. */
  isInSpace(instruction: IrInstruction): void {
    const f = this.emit.f;
    const high = this.emit.temporary('high', 'i32');
    this.emit.use(instruction.sources[0], 'u64');
    f.i64(32).op('i64ShrU').op('i32WrapI64').set(high);
    switch (spaceOf(instruction.modifiers)) {
      case 'shared':
        f.get(high).i32(SHARED_WINDOW_HIGH).op('i32Eq');
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
  convertAddress(instruction: IrInstruction): void {
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
