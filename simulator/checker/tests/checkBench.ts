import { NodeMemory, loadModule, type Dim3 } from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { CHECKERS, checkLaunch, type CheckOptions, type CheckReport, type Finding } from '../index.js';

export interface BenchBuffer {
  readonly bytes: number;
  /** Words that it starts with; without them nothing has written it. */
  readonly words?: readonly number[];
  readonly isFreed?: boolean;
}

export interface BenchLaunch {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly cluster?: Dim3;
  readonly dynamicSharedBytes?: number;
  /** Buffers whose addresses are the 64-bit parameters `k_param_0` and so on; a number is passed as it is. */
  readonly args?: readonly (BenchBuffer | number)[];
}

export interface BenchResult {
  readonly report: CheckReport;
  readonly text: string;
  /** Addresses of the arguments. */
  readonly addresses: readonly number[];
}

/** A kernel `k` of two pointers with %r1 = %tid.x, %r2 = %ctaid.x, %r3 = 4 * %tid.x, %rd1 and %rd2 the arguments. */
export function kernelText(body: string, variables = ''): string {
  return `.version 9.0
.target sm_90
.address_size 64
${variables}
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{
.reg .pred %p<8>;
.reg .f32 %f<8>;
.reg .b16 %rs<8>;
.reg .b32 %r<32>;
.reg .b64 %rd<32>;
ld.param.u64 %rd1, [k_param_0];
ld.param.u64 %rd2, [k_param_1];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
shl.b32 %r3, %r1, 2;
${body}
ret;
}
`;
}

/** Line of the first text like this. */
export function lineOf(text: string, part: string): number {
  const at = text.indexOf(part);
  if (at < 0) throw new Error(`no '${part}' in the kernel`);
  return text.slice(0, at).split('\n').length;
}

export function check(
  text: string,
  launch: BenchLaunch = {},
  options: Partial<CheckOptions> = {},
): BenchResult {
  const space = new NodeMemory({ backingBytes: 32 * 2 ** 20 }).createSpace();
  const module = loadModule(parseModule(text, 'k.ptx'), space);
  const kernel = module.ir.functions.find((fn) => fn.isEntry);
  if (kernel === undefined) throw new Error('no kernel');
  const { grid = [1, 1, 1], block = [64, 1, 1], dynamicSharedBytes = 0, cluster, args = [] } = launch;
  const allocations: { address: number; bytes: number; name: string; isUnwritten: boolean }[] = [];
  const freed: { address: number; bytes: number; name: string }[] = [];
  const addresses = args.map((arg, index) => {
    if (typeof arg === 'number') return arg;
    const address = space.map(arg.bytes, 'readWrite').virtualAddress;
    const name = `the buffer of argument ${index}`;
    if (arg.words !== undefined) {
      const bytes = space.view(address, arg.words.length * 4);
      bytes.set(new Uint8Array(Int32Array.from(arg.words).buffer));
    }
    if (arg.isFreed === true) freed.push({ address, bytes: arg.bytes, name });
    else allocations.push({ address, bytes: arg.bytes, name, isUnwritten: arg.words === undefined });
    return address;
  });
  for (const { address } of freed) space.unmap(address);
  const params = new Uint8Array(kernel.parameterBytes);
  const view = new DataView(params.buffer);
  addresses.forEach((address, index) => view.setBigUint64(8 * index, BigInt(address), true));
  const report = checkLaunch(
    { module, kernel, shape: { grid, block, dynamicSharedBytes, cluster }, params },
    text,
    { allocations, freed },
    { checkers: CHECKERS, ...options },
  );
  return { report, text, addresses };
}

/** The one finding that there is. */
export function only({ report }: BenchResult): Finding {
  const [finding, ...more] = report.findings;
  if (finding === undefined) throw new Error('nothing was found');
  if (more.length > 0)
    throw new Error(`more was found: ${report.findings.map(({ title }) => title).join('; ')}`);
  return finding;
}

export function titles({ report }: BenchResult): string[] {
  return report.findings.map(({ title }) => title);
}

export function zeros(bytes: number): BenchBuffer {
  return { bytes, words: new Array<number>(bytes / 4).fill(0) };
}
