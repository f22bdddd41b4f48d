import type {
  AccessKind,
  AddressSpace,
  InterpreterObserver,
  Location,
  ResolvedSpace,
  Warp,
} from '../executor/index.js';
import { reservedSharedMemory } from '../ptx/index.js';
import { count, type Allocations } from './allocations.js';
import { BlockTable } from './blockTable.js';
import { ByteSet } from './byteSet.js';
import type { FindingLog } from './findingLog.js';
import type { LaunchCode } from './launchCode.js';

/** Shared memory of a block. */
export interface InitcheckShared {
  readonly bytes: number;
  /** Where the part is that belongs to the driver, of kernels that use it: it holds what the driver's libraries expect. */
  readonly reservedAt: number | undefined;
}

/** Reads of global and shared memory that nothing has written. */
export class Initcheck implements InterpreterObserver {
  /** Written bytes of each allocation that did not start out written, by its address. */
  private readonly written = new Map<number, ByteSet>();
  private readonly shared: BlockTable<ByteSet>;

  constructor(
    private readonly code: LaunchCode,
    private readonly log: FindingLog,
    private readonly allocations: Allocations,
    private readonly space: AddressSpace,
    { bytes, reservedAt }: InitcheckShared,
  ) {
    this.shared = new BlockTable(() => {
      const written = new ByteSet(bytes);
      if (reservedAt !== undefined) written.add(reservedAt, reservedSharedMemory.bytes);
      return written;
    });
  }

  /** An allocation whose bytes hold nothing yet. */
  startUnwritten(address: number, bytes: number): void {
    this.written.set(address, new ByteSet(bytes));
  }

  /** A chunk of the device heap holds nothing yet, whatever lay there before. */
  onHeap(
    _warp: Warp,
    _pc: number,
    _lane: number,
    what: 'malloc' | 'free',
    address: number,
    bytes: number,
  ): void {
    if (what === 'free' || address === 0) return;
    const heap = this.space.find(address);
    if (heap === undefined) return;
    let written = this.written.get(heap.virtualAddress);
    if (written === undefined) {
      written = new ByteSet(heap.bytes);
      this.written.set(heap.virtualAddress, written);
    }
    written.remove(address - heap.virtualAddress, bytes);
  }

  onBlockEnd(block: number): void {
    this.shared.end(block);
  }

  onAccess(
    warp: Warp,
    pc: number,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    _location: Location,
  ): void {
    if (space === 'shared') {
      this.touch(this.shared.of(warp.block), address, warp, pc, lane, { space, address, bytes, kind });
    } else if (space === 'global' && this.written.size > 0) {
      const base = this.space.find(address)?.virtualAddress ?? -1;
      const written = this.written.get(base);
      if (written === undefined) return;
      this.touch(written, address - base, warp, pc, lane, { space, address, bytes, kind });
    }
  }

  onRemoteAccess(
    warp: Warp,
    pc: number,
    lane: number,
    block: number,
    address: number,
    bytes: number,
    kind: AccessKind,
  ): void {
    this.touch(this.shared.of(block), address, warp, pc, lane, { space: 'shared', address, bytes, kind });
  }

  private touch(
    written: ByteSet,
    offset: number,
    warp: Warp,
    pc: number,
    lane: number,
    access: { space: 'global' | 'shared'; address: number; bytes: number; kind: AccessKind },
  ): void {
    const { space, address, bytes, kind } = access;
    if (kind !== 'store') {
      const missing = bytes - written.countIn(offset, bytes);
      if (missing > 0) {
        const nothing =
          missing === bytes ? 'nothing has written them' : `nothing has written ${missing} of them`;
        // The zeros that a launch spec promises are enough for a sum that atomics build up, as a program clears such memory.
        const isAccumulation =
          kind === 'atomic' && space === 'global' && !this.allocations.heap.holds(address);
        this.log.add({
          checker: 'initcheck',
          severity: isAccumulation ? 'info' : 'error',
          kind: 'uninitialized',
          title: `Uninitialized ${space} ${kind === 'atomic' ? 'atomic' : 'read'} of ${count(bytes)}`,
          pc,
          ...this.code.thread(warp, lane),
          access,
          detail:
            space === 'global'
              ? `address ${this.allocations.describe(address, bytes)}; ${nothing}${isAccumulation ? ', and a program has to clear them first' : ''}`
              : `shared offset 0x${address.toString(16)}; ${nothing} in this block`,
        });
      }
    }
    if (kind !== 'load') written.add(offset, bytes);
  }
}
