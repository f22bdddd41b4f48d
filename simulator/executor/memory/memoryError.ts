export type MemoryErrorCode =
  /** No segment starts (free) or lies (view) at the address. */
  | 'unmapped'
  /** The range starts inside a segment and leaves it. */
  | 'outOfBounds'
  /** The node's WebAssembly memory has no room; the device's declared memory is a different limit. */
  | 'outOfBackingMemory'
  /** The context's 47-bit address window has no gap of that size. */
  | 'addressSpaceExhausted'
  | 'invalidSize'
  | 'invalidSnapshot';

/** A refusal of node memory: allocation, mapping, view or snapshot. */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;

  constructor(code: MemoryErrorCode, message: string) {
    super(message);
    this.name = 'MemoryError';
    this.code = code;
  }
}
