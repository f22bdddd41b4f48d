import {
  loadModule,
  NodeMemory,
  WasmExecutor,
  type Dim3,
  type ExecutorLaunch,
} from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { noCounts, type Counts } from '../metrics.js';
import { profileLaunch, type CountedLaunch, type LaunchProfileOptions } from '../profileLaunch.js';

/** A small kernel to profile, for tests. */
export interface ProfiledKernel {
  readonly body: string;
  readonly grid?: Dim3;
  readonly block?: Dim3;
  /** Text before the kernel: device functions, variables of the module. */
  readonly before?: string;
  readonly cooperative?: boolean;
}

const BUFFER_BYTES = 1 << 20;

/** %rd1 holds the address of a buffer, %r1 the thread, %r2 the block. */
export function kernelText({ body, before = '' }: ProfiledKernel): string {
  return `.version 9.0
.target sm_90
.address_size 64
${before}
.visible .entry k(.param .u64 a) {
.reg .b32 %r<16>;
.reg .b64 %rd<16>;
.reg .f32 %f<8>;
.reg .pred %p<8>;
.shared .align 16 .b8 s[16384];
ld.param.u64 %rd1, [a];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, s;
${body}
ret;
}
`;
}

export interface ProfiledRun extends CountedLaunch {
  readonly launch: ExecutorLaunch;
  readonly text: string;
  readonly totals: Counts;
  /** Of the instruction whose text contains this. */
  of(part: string): Counts;
  /** First bytes of the buffer, afterwards. */
  readonly memory: Uint8Array;
}

export function profileKernel(kernel: ProfiledKernel, options: LaunchProfileOptions = {}): ProfiledRun {
  const text = kernelText(kernel);
  const memory = new NodeMemory({ backingBytes: 16 * 2 ** 20 });
  const space = memory.createSpace();
  const module = loadModule(parseModule(text, 'k.ptx'), space);
  const fn = module.ir.functions.find(({ name }) => name === 'k');
  if (fn === undefined) throw new Error('no kernel k');
  const { virtualAddress } = space.map(BUFFER_BYTES, 'readWrite');
  const params = new Uint8Array(8);
  new DataView(params.buffer).setBigUint64(0, BigInt(virtualAddress), true);
  const shape = {
    grid: kernel.grid ?? ([1, 1, 1] as const),
    block: kernel.block ?? ([32, 1, 1] as const),
    dynamicSharedBytes: 0,
  };
  const launch: ExecutorLaunch = {
    module,
    kernel: fn,
    shape,
    params,
    ...(kernel.cooperative === true ? { cooperative: true } : {}),
  };
  const counted = profileLaunch(new WasmExecutor(memory), launch, options);
  const lines = text.split('\n');
  const sum = (holds: (line: string) => boolean): Counts => {
    const counts = noCounts();
    for (const { index, line } of fn.instructions)
      if (holds(lines[line - 1] ?? '')) counted.sink.table.addTo(counts, index);
    return counts;
  };
  return {
    ...counted,
    launch,
    text,
    totals: sum(() => true),
    of: (part) => sum((line) => line.includes(part)),
    memory: space.view(virtualAddress, 4096),
  };
}
