import { createHash } from 'node:crypto';
import { parseModule } from '../../ptx/index.js';
import {
  type DeviceAddressSpace,
  type ExecutorLaunch,
  loadModule,
  NodeMemory,
} from '../../executor/index.js';
import type { FuzzCase } from './fuzzCase.js';
import { doublesDumpBytes, doublesDumpOffset, threadBytes } from './fuzzCase.js';

/** A random case on a device of its own. */
export class FuzzBench {
  readonly memory: NodeMemory;
  readonly launch: ExecutorLaunch;
  readonly blocks: number;
  private readonly space: DeviceAddressSpace;
  private readonly output: { readonly address: number; readonly bytes: number };
  private readonly counters: { readonly address: number; readonly bytes: number };

  /**
   * @param memory the node that an executor under test serves; a fresh one by default
   * @param ir the case's module, when it has been parsed before
   */
  constructor(
    fuzz: FuzzCase,
    memory = new NodeMemory({ backingBytes: 32 * 2 ** 20 }),
    ir = parseModule(fuzz.text, `fuzz-${fuzz.seed}.ptx`),
  ) {
    this.memory = memory;
    this.space = memory.createSpace();
    const module = loadModule(ir, this.space);
    const kernel = module.ir.functions.find((fn) => fn.name === 'fuzz');
    if (kernel === undefined) throw new Error('the generated module has no kernel');
    this.output = { address: this.place(new Uint8Array(fuzz.outputBytes)), bytes: fuzz.outputBytes };
    this.counters = {
      address: this.place(new Uint8Array(fuzz.counters.buffer)),
      bytes: fuzz.counters.byteLength,
    };
    const params = new DataView(new ArrayBuffer(kernel.parameterBytes));
    params.setBigUint64(0, BigInt(this.place(new Uint8Array(fuzz.input.buffer))), true);
    params.setBigUint64(8, BigInt(this.output.address), true);
    params.setBigUint64(16, BigInt(this.counters.address), true);
    params.setUint32(24, fuzz.n, true);
    params.setFloat32(28, fuzz.scale, true);
    this.blocks = fuzz.grid[0] * fuzz.grid[1] * fuzz.grid[2];
    this.launch = {
      module,
      kernel,
      shape: {
        grid: fuzz.grid,
        block: fuzz.block,
        dynamicSharedBytes: fuzz.dynamicSharedBytes,
        cluster: fuzz.cluster,
      },
      params: new Uint8Array(params.buffer),
    };
  }

  private place(bytes: Uint8Array): number {
    const { virtualAddress } = this.space.map(bytes.byteLength, 'readWrite');
    this.space.view(virtualAddress, bytes.byteLength).set(bytes);
    return virtualAddress;
  }

  /** All memory that the launch can see, segment by segment. */
  contents(): { readonly address: number; readonly bytes: Uint8Array }[] {
    return this.space.segments().map(({ virtualAddress, bytes }) => ({
      address: virtualAddress,
      bytes: Uint8Array.from(this.space.view(virtualAddress, bytes)),
    }));
  }

  /** Copy of what the threads wrote, a piece for each. */
  outputBytes(): Uint8Array {
    return Uint8Array.from(this.space.view(this.output.address, this.output.bytes));
  }

  /**
   * Short digest of output and counters, as a card's were recorded.
   * @param withDoubles false leaves the final f64 registers out
   */
  digest(withDoubles = true): string {
    const output = this.outputBytes();
    for (let at = 0; at < output.length && !withDoubles; at += threadBytes) {
      output.fill(0, at + doublesDumpOffset, at + doublesDumpOffset + doublesDumpBytes);
    }
    const counters = Uint8Array.from(this.space.view(this.counters.address, this.counters.bytes));
    return createHash('sha256').update(output).update(counters).digest('hex').slice(0, 12);
  }

  /** Gives the memory back. */
  close(): void {
    this.memory.destroySpace(this.space);
  }
}

/** Everything that is needed to see a failure again. */
export function describeCase(fuzz: FuzzCase): string {
  const numbered = fuzz.text.split('\n').map((line, index) => `${String(index + 1).padStart(4)} ${line}`);
  return [
    `seed ${fuzz.seed}: grid ${fuzz.grid.join('x')}, block ${fuzz.block.join('x')}, n ${fuzz.n}`,
    ...numbered,
  ].join('\n');
}
