import { VirtualClock } from '../../time/index.js';
import type { GpuNodeOptions } from '../index.js';
import { GpuNode } from '../index.js';
import { Session } from './session.js';

/** `to[i] = 2 * from[i] + 1` for i below n, in strides of the grid. */
export const STRIDES = `.version 8.0
.target sm_90
.address_size 64
.visible .entry strides(.param .u64 from, .param .u64 to, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mov.u32 %r6, %nctaid.x;
  mul.lo.s32 %r7, %r6, %r3;
LOOP:
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  ld.global.f32 %f1, [%rd6];
  fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
  add.s64 %rd7, %rd4, %rd5;
  st.global.f32 [%rd7], %f2;
  add.s32 %r5, %r5, %r7;
  setp.lt.s32 %p2, %r5, %r1;
  @%p2 bra LOOP;
DONE:
  ret;
}
`;

/** The same with the factor in a constant variable, which is 2 at first. */
export const SCALED = STRIDES.replace('.visible', '.const .align 4 .f32 factor = 0f40000000;\n.visible')
  .replace('LOOP:', 'LOOP:\n  ld.const.f32 %f3, [factor];')
  .replace('%f<3>', '%f<4>')
  .replace('%f1, 0f40000000', '%f1, %f3');

/** Elements of the victim; its four blocks of 64 threads go over them some 300 times. */
export const ELEMENTS = 64 * 4 * 300;
const BYTES = 4 * ELEMENTS;
const URGENT_ELEMENTS = 2112 * 256;

/** A best-effort launch that takes long, in a context of its own, and another context to come in its way. */
export class Contended {
  readonly clock = new VirtualClock();
  readonly node: GpuNode;
  readonly best: Session;
  readonly critical: Session;
  readonly from: number;
  readonly to: number;
  /** Of `SCALED`: where the factor is. */
  readonly factor: number;
  readonly stream: number;
  private readonly module: number;
  private readonly urgent: { readonly module: number; readonly from: number; readonly to: number };

  constructor(options: Partial<GpuNodeOptions>, isInPlace = false, ptx = STRIDES) {
    this.node = new GpuNode(this.clock, { gpus: ['h200'], backingBytes: 64 * 2 ** 20, ...options });
    this.best = new Session(this.node, this.clock);
    this.best.context = this.best.handle('contextCreate', { gpu: 0, launchClass: 'bestEffort' });
    this.critical = new Session(this.node, this.clock);
    this.critical.context = this.critical.handle('contextCreate', { gpu: 0, launchClass: 'critical' });
    const loaded = this.best.call('moduleLoad', { ptx, file: 'strides.ptx' });
    this.module = loaded.result?.handle ?? 0;
    this.factor = loaded.result?.symbols?.find(({ name }) => name === 'factor')?.address ?? 0;
    this.from = this.best.handle('malloc', { bytes: BYTES });
    this.to = isInPlace ? this.from : this.best.handle('malloc', { bytes: BYTES });
    this.stream = this.best.handle('streamCreate', { priority: 0 });
    this.best.call('memcpyHostToDevice', { address: this.from, bytes: inputs(1), pinned: true });
    const bytes = 4 * URGENT_ELEMENTS;
    this.urgent = {
      module: this.critical.handle('moduleLoad', { ptx: STRIDES, file: 'strides.ptx' }),
      from: this.critical.handle('malloc', { bytes }),
      to: this.critical.handle('malloc', { bytes }),
    };
  }

  /** @returns the ticket */
  startVictim(): number {
    const params = parameters(this.from, this.to, ELEMENTS);
    return this.best.send('launch', launchArgs(this.module, 4, 64, params), this.stream);
  }

  startUrgent(): number {
    const { module, from, to } = this.urgent;
    return this.critical.send('launch', launchArgs(module, 2112, 256, parameters(from, to, URGENT_ELEMENTS)));
  }

  /** As if so many bytes more were allocated: there is no host memory behind them. */
  takeRoom(bytes: number): void {
    const { driver } = this.node as unknown as { driver: { state: { usedBytes: number[] } } };
    driver.state.usedBytes[0] += bytes;
  }

  output(): Uint8Array {
    this.clock.run();
    const { result, failure } = this.best.call('memcpyDeviceToHost', {
      address: this.to,
      bytes: BYTES,
      pinned: true,
    });
    if (result?.bytes === undefined) throw new Error(failure?.message);
    return result.bytes;
  }

  /** What is in memory at this moment. */
  elements(): Float32Array {
    const { memory } = this.node;
    const { space } = [...this.node.snapshot().driver.contexts.values()][0];
    const bytes = memory.space(space)?.view(this.to, BYTES) ?? new Uint8Array();
    return new Float32Array(Uint8Array.from(bytes).buffer);
  }
}

export function inputs(first: number): Uint8Array {
  return new Uint8Array(Float32Array.from({ length: ELEMENTS }, (_, index) => first + index).buffer);
}

function launchArgs(module: number, blocks: number, threads: number, params: Uint8Array) {
  return {
    module,
    kernel: 'strides',
    grid: [blocks, 1, 1] as const,
    block: [threads, 1, 1] as const,
    dynamicSharedBytes: 0,
    params,
  };
}

function parameters(from: number, to: number, n: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(20));
  view.setBigUint64(0, BigInt(from), true);
  view.setBigUint64(8, BigInt(to), true);
  view.setInt32(16, n, true);
  return new Uint8Array(view.buffer);
}
