import type { IrInstruction } from '../../../ptx/index.js';
import { accessBytes } from '../instructions/index.js';
import type { AddressEmitter, MemorySurroundings } from './addressEmitter.js';
import { faultNumber, RECORD } from '../area/index.js';
import type { OperandEmitter } from '../scalar/index.js';

/**
 * `cp.async`: copies from global to shared memory where it is issued. A source size below the copy's fills the rest with
 * zeros; one of nothing reads nothing.
 */
export class CopyEmitter {
  constructor(
    private readonly emit: OperandEmitter,
    private readonly addresses: AddressEmitter,
    private readonly around: MemorySurroundings,
  ) {}

  copy(instruction: IrInstruction): void {
    const f = this.emit.f;
    const [target, source, , size] = instruction.sources;
    const bytes = accessBytes(instruction);
    const to = this.emit.temporary('target', 'i32');
    const from = this.emit.temporary('address', 'i32');
    const base = this.addresses.pushShared(instruction, target);
    f.set(to);
    this.around.countBytes('shared', bytes);
    this.around.noteWrite();
    const copyWhole = (): void => {
      this.addresses.pushGlobal(instruction, source);
      f.set(from);
      for (let at = 0; at < bytes; at += 4)
        f.get(to)
          .get(from)
          .memory('i32Load', at)
          .memory('i32Store', base + at);
    };
    if (size === undefined) {
      this.around.countBytes('globalLoad', bytes);
      copyWhole();
      return;
    }
    const wanted = this.emit.temporary('wanted', 'i32');
    this.emit.use(size, 'u32');
    f.set(wanted);
    f.get(wanted).i32(bytes).get(wanted).i32(bytes).op('i32LtU').op('select').set(wanted);
    this.around.countBytes('globalLoad', () => f.get(wanted));
    f.get(wanted).i32(bytes).op('i32Eq').if();
    copyWhole();
    f.else();
    this.copyPart(instruction, to, base, wanted);
    f.end();
  }

  /** Byte after byte: each is checked, since those behind the part may lie where nothing is mapped. */
  private copyPart(instruction: IrInstruction, to: number, base: number, wanted: number): void {
    const f = this.emit.f;
    const source = instruction.sources[1];
    const bytes = accessBytes(instruction);
    const first = this.emit.temporary('generic', 'i64');
    if (source?.kind !== 'address') throw new RangeError(`line ${instruction.line}: an address is missing`);
    this.addresses.pushWide(source);
    f.tee(first)
      .i64(bytes - 1)
      .op('i64And')
      .op('i64Eqz')
      .op('i32Eqz')
      .if();
    f.area().i32(faultNumber('misalignedAddress')).memory('i32Store', RECORD.faultCode);
    f.area().get(first).memory('i64Store', RECORD.faultAddress);
    this.around.leaveWithFault(instruction);
    f.end();
    const group = this.around.caches.byteGroupOf(instruction);
    for (let at = 0; at < bytes; at++) {
      f.get(to).i32(at).get(wanted).op('i32LtU').if('i32');
      this.addresses.pushGlobal(instruction, { ...source, offset: source.offset + at }, group);
      f.memory('i32Load8U', 0).else().i32(0).end();
      f.memory('i32Store8', base + at);
    }
  }
}
