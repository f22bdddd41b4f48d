import { FETCH, faultNumber, RECORD, type CompiledKernel } from '../compiler/index.js';
import { DeviceRuntime, PrintBuffer, RuntimeFault, type ThreadMemory } from '../deviceRuntime/index.js';
import {
  FETCH_RESULTS,
  FETCH_WORDS,
  TextureFault,
  TextureUnits,
  type FetchOperands,
} from '../textures/index.js';
import {
  CLUSTER_RANK_STEP,
  LOCAL_WINDOW_HIGH,
  SHARED_WINDOW_HIGH,
  type NodeMemory,
} from '../memory/index.js';
import type { AddressSpace, Dim3, ExecutorLaunch, Segment } from '../types.js';
import type { LaunchArea } from './launchArea.js';

/** Functions by the name of the import. 64-bit values cross as BigInt. */
export type HostCalls = Readonly<Record<string, (...values: never[]) => number | bigint | undefined>>;

/** The run that the host's functions serve. */
interface Serving {
  readonly launch: ExecutorLaunch;
  readonly runtime: DeviceRuntime;
  readonly printed: PrintBuffer;
  readonly memory: BlockMemoryReader;
}

/** The functions behind `vprintf`, `malloc`, `free` and `assertfail` in compiled code. A fault is left in the launch record. */
export class HostRuntime {
  private launch: ExecutorLaunch | undefined;
  private localBytes = 0;
  private serving: Serving | undefined;

  readonly functions: HostCalls = {
    fetchTexture: (code: number): number => this.fetch(code),
    vprintf: (thread: number, format: bigint, args: bigint): number =>
      this.serve(0, ({ runtime, memory }) =>
        runtime.vprintf(memory.of(thread), addressOf(format), addressOf(args)),
      ),
    assertfail: (thread: number, message: bigint, file: bigint, line: number, fn: bigint): undefined =>
      this.serve(undefined, ({ runtime, memory, launch }) => {
        const texts = [addressOf(message), addressOf(file), addressOf(fn)] as const;
        runtime.assertfail(memory.of(thread), texts, line >>> 0, {
          block: this.block(),
          thread: threadIndex(launch.shape.block, thread),
        });
        return undefined;
      }),
    malloc: (_thread: number, bytes: bigint): bigint =>
      this.serve(0n, ({ runtime }) => BigInt(runtime.malloc(addressOf(bytes)))),
    free: (_thread: number, address: bigint): undefined =>
      this.serve(undefined, ({ runtime }) => {
        runtime.free(addressOf(address));
        return undefined;
      }),
  };

  private textures: TextureUnits | undefined;
  private operands: FetchOperands | undefined;
  private handle: Int32Array = new Int32Array(0);
  private results: Int32Array = new Int32Array(0);

  constructor(
    private readonly area: LaunchArea,
    private readonly node: NodeMemory,
  ) {}

  /** @returns 1 where it faults: then the fault is in the launch record. */
  private fetch(code: number): number {
    const { operands = this.openTextures(), textures } = this;
    try {
      textures?.fetch(code, this.handle[0] ?? 0, this.handle[1] ?? 0, operands, this.results);
      return 0;
    } catch (error) {
      if (!(error instanceof TextureFault)) throw error;
      this.area.leaveFault(faultNumber(error.code), error.address, error.message);
      return 1;
    }
  }

  /** Views of the area, which lies where memory never moves from. */
  private openTextures(): FetchOperands {
    const { launch, node, area } = this;
    if (launch === undefined) throw new RangeError('no run is under way');
    this.textures = new TextureUnits(launch.module.space);
    const at = (offset: number): number => area.base + offset;
    const words = new Int32Array(node.buffer, at(FETCH.operands), FETCH_WORDS);
    this.operands = { words, floats: new Float32Array(node.buffer, at(FETCH.operands), FETCH_WORDS) };
    this.handle = new Int32Array(node.buffer, at(FETCH.handle), 2);
    this.results = new Int32Array(node.buffer, at(FETCH.results), FETCH_RESULTS);
    return this.operands;
  }

  begin(launch: ExecutorLaunch, compiled: CompiledKernel): void {
    this.launch = launch;
    this.localBytes = compiled.localLayout.bytes;
    this.serving = undefined;
    this.operands = undefined;
  }

  /** @returns what the run has printed. */
  end(): string | undefined {
    const text = this.serving?.printed.text();
    this.launch = undefined;
    this.serving = undefined;
    return text;
  }

  private serve<T>(onFault: T, call: (serving: Serving) => T): T {
    try {
      return call((this.serving ??= this.open()));
    } catch (error) {
      if (!(error instanceof RuntimeFault)) throw error;
      this.area.leaveFault(faultNumber(error.code), error.address, error.message);
      return onFault;
    }
  }

  /** Most kernels never call. */
  private open(): Serving {
    const { launch } = this;
    if (launch === undefined) throw new RangeError('no run is under way');
    const { space } = launch.module;
    const printed = new PrintBuffer();
    const memory = new BlockMemoryReader(this.area, this.node, space, this.localBytes);
    return { launch, runtime: new DeviceRuntime(space, printed), printed, memory };
  }

  private block(): Dim3 {
    return [0, 4, 8].map((at) => this.area.get(RECORD.ctaid + at)) as unknown as Dim3;
  }
}

/** Memory as the threads of the running block see it. */
class BlockMemoryReader {
  private segment: Segment | undefined;
  private view: DataView = new DataView(new ArrayBuffer(0));

  constructor(
    private readonly area: LaunchArea,
    private readonly node: NodeMemory,
    private readonly space: AddressSpace,
    private readonly localBytes: number,
  ) {}

  of(thread: number): ThreadMemory {
    return { read: (address, bytes) => this.read(thread, address, bytes) };
  }

  private read(thread: number, address: number, bytes: 1 | 4 | 8): bigint {
    if (address % bytes !== 0) {
      throw new RuntimeFault('misalignedAddress', `${hex(address)} is not a multiple of ${bytes}`, address);
    }
    const high = Math.floor(address / 2 ** 32);
    const offset = address % 2 ** 32;
    if (high === SHARED_WINDOW_HIGH) {
      const own = offset - this.area.get(RECORD.clusterRank) * CLUSTER_RANK_STEP;
      if (own < 0 || own + bytes > this.area.get(RECORD.sharedBytes))
        throw outside('sharedOutOfBounds', offset);
      return bitsAt(new DataView(this.node.buffer), this.area.get(RECORD.ownShared) + own, bytes);
    }
    if (high === LOCAL_WINDOW_HIGH) {
      if (offset + bytes > this.localBytes) throw outside('localOutOfBounds', offset);
      const base = this.area.get(RECORD.locals) + thread * this.localBytes;
      return bitsAt(new DataView(this.node.buffer), base + offset, bytes);
    }
    return bitsAt(this.globalView(address, bytes), address - (this.segment?.virtualAddress ?? 0), bytes);
  }

  private globalView(address: number, bytes: number): DataView {
    if (this.segment === undefined || !contains(this.segment, address, bytes)) {
      const found = this.space.find(address);
      if (found === undefined || !contains(found, address, bytes)) throw outside('illegalAddress', address);
      const view = this.space.view(found.virtualAddress, found.bytes);
      this.segment = found;
      this.view = new DataView(view.buffer, view.byteOffset, view.byteLength);
    }
    return this.view;
  }
}

function contains({ virtualAddress, bytes: extent }: Segment, address: number, bytes: number): boolean {
  return address >= virtualAddress && address + bytes <= virtualAddress + extent;
}

function bitsAt(view: DataView, at: number, bytes: 1 | 4 | 8): bigint {
  if (bytes === 1) return BigInt(view.getUint8(at));
  return bytes === 4 ? BigInt(view.getUint32(at, true)) : view.getBigUint64(at, true);
}

function outside(
  code: 'illegalAddress' | 'sharedOutOfBounds' | 'localOutOfBounds',
  address: number,
): RuntimeFault {
  return new RuntimeFault(code, 'read by a call of the device runtime', address);
}

function threadIndex([x, y]: Dim3, thread: number): Dim3 {
  return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];
}

function addressOf(bits: bigint): number {
  return Number(BigInt.asUintN(64, bits));
}

function hex(address: number): string {
  return `0x${address.toString(16)}`;
}
