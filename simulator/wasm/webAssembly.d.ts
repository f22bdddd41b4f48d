/** What the executor uses of the host's WebAssembly; the compiler's libraries declare it only along with the whole DOM. */
declare namespace WebAssembly {
  interface MemoryDescriptor {
    initial: number;
    maximum?: number;
    shared?: boolean;
  }

  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBufferLike;
    /** @returns the former size in pages. @throws RangeError when it cannot grow so far. */
    grow(pages: number): number;
  }

  class Module {
    constructor(bytes: Uint8Array);
  }

  type ImportValue = Memory | number | ((...values: number[]) => number | void);

  class Instance {
    constructor(module: Module, imports?: Record<string, Record<string, ImportValue>>);
    readonly exports: Record<string, unknown>;
  }
}
