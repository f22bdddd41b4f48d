import type { AddressSpace } from '../types.js';

/** Remembers what global memory held before each write, to take all of them back. */
export class WriteJournal {
  private readonly addresses: number[] = [];
  private readonly before: Uint8Array[] = [];

  constructor(private readonly space: AddressSpace) {}

  /** Before a write of `bytes` bytes at a mapped device address. */
  remember(address: number, bytes: number): void {
    this.addresses.push(address);
    this.before.push(Uint8Array.from(this.space.view(address, bytes)));
  }

  /** Memory is again what it was. */
  rollBack(): void {
    for (let index = this.addresses.length - 1; index >= 0; index--) {
      const bytes = this.before[index];
      if (bytes !== undefined) this.space.view(this.addresses[index] ?? 0, bytes.length).set(bytes);
    }
    this.addresses.length = 0;
    this.before.length = 0;
  }
}
