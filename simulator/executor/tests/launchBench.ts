import { parseModule } from '../../ptx/index.js';
import {
  loadModule,
  NodeMemory,
  WasmExecutor,
  type BlockRange,
  type DeviceAddressSpace,
  type Dim3,
  type ExecutorLaunch,
  type ExecutorVariant,
  type Guard,
  type RunResult,
} from '../index.js';
import type { WasmExecutorOptions } from '../runtime/index.js';
import type { LaunchPlace } from '../types.js';
import { packParams } from './referenceLaunch.js';

export interface KernelLaunch {
  readonly values?: readonly number[];
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly dynamicSharedBytes?: number;
  readonly cluster?: Dim3 | undefined;
  readonly fuel?: number;
  readonly place?: LaunchPlace;
  readonly cooperative?: boolean;
  readonly gridWorkspace?: number;
}

/** More resumptions than any test needs. */
const MOST_RESUMPTIONS = 100_000;

/** A node with one context, for tests that write their kernels as PTX text. */
export class LaunchBench {
  readonly memory: NodeMemory;
  readonly executor: WasmExecutor;
  readonly space: DeviceAddressSpace;

  constructor(options: WasmExecutorOptions = {}, guard: Guard = 'exact') {
    this.memory = new NodeMemory({ backingBytes: 128 * 2 ** 20, guard });
    this.space = this.memory.createSpace();
    this.executor = new WasmExecutor(this.memory, { vectorAfter: 0, ...options });
  }

  /** An output buffer of 32-bit words, as seen now. */
  words(address: number, count: number): number[] {
    const bytes = Uint8Array.from(this.space.view(address, count * 4));
    return [...new Int32Array(bytes.buffer)];
  }

  buffer(words: number): number {
    return this.space.map(words * 4, 'readWrite').virtualAddress;
  }

  /** A launch of the first kernel of a module, and all its blocks. */
  place(text: string, launch: KernelLaunch = {}): { launch: ExecutorLaunch; range: BlockRange } {
    const module = loadModule(parseModule(text, 'test.ptx'), this.space);
    const kernel = module.ir.functions.find((fn) => fn.isEntry);
    if (kernel === undefined) throw new Error('no kernel');
    const {
      values = [],
      grid = [1, 1, 1],
      block = [32, 1, 1],
      dynamicSharedBytes = 0,
      cluster,
      ...rest
    } = launch;
    const shape = { grid, block, dynamicSharedBytes, cluster };
    const params = packParams(kernel, values);
    return {
      launch: { module, kernel, shape, params, ...rest },
      range: { lo: 0, hi: grid[0] * grid[1] * grid[2] },
    };
  }

  /** Runs the first kernel of a module; a resumable run is resumed until it ends, with the same fuel each time. */
  run(text: string, launch: KernelLaunch = {}, variant: ExecutorVariant = 'fast'): RunResult {
    const { launch: placed, range } = this.place(text, launch);
    const { fuel = 1e7 } = launch;
    let result = this.executor.run(placed, range, variant, fuel);
    for (let left = MOST_RESUMPTIONS; result.status === 'yield' && left > 0; left--)
      result = this.executor.resume(result.suspended, fuel);
    return result;
  }
}

/** A module with one kernel that stores %r9 of each thread at out[global thread index], after the body. */
export function storingKernel(body: string, variables = ''): string {
  return `.version 9.0
.target sm_90
.address_size 64
${variables}
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .pred %p<8>;
.reg .f32 %f<8>;
.reg .f64 %fd<8>;
.reg .b16 %rs<8>;
.reg .b32 %r<32>;
.reg .b64 %rd<16>;
ld.param.u64 %rd0, [out];
ld.param.u32 %r0, [n];
mov.u32 %r1, %tid.x;
${body}
mov.u32 %r28, %ctaid.x;
mov.u32 %r29, %ntid.x;
mad.lo.s32 %r30, %r28, %r29, %r1;
mul.wide.u32 %rd14, %r30, 4;
add.s64 %rd15, %rd0, %rd14;
st.global.u32 [%rd15], %r9;
ret;
}
`;
}
