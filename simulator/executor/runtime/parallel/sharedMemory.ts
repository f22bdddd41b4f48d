import type { AreaMemory } from '../launchArea.js';

/** A node's memory as a worker sees it: it reads and writes what others have laid out. */
export class SharedMemory implements AreaMemory {
  private view: Uint8Array;

  constructor(private readonly memory: WebAssembly.Memory) {
    this.view = new Uint8Array(memory.buffer);
  }

  get buffer(): ArrayBufferLike {
    return this.memory.buffer;
  }

  get bytes(): Uint8Array {
    if (this.view.buffer !== this.memory.buffer) this.view = new Uint8Array(this.memory.buffer);
    return this.view;
  }

  space(): undefined {
    return undefined;
  }

  allocate(): never {
    throw new RangeError('a worker allocates nothing');
  }

  release(): void {}
}
