import { describe, expect, it } from 'vitest';
import type { DriverCommand, DriverCompletion, DriverOp, DriverResult } from '../driver/index.js';
import type { CostDocument } from '../gpu/index.js';
import { VirtualClock } from '../time/index.js';
import { ClusterError, GpuNode, type GpuNodeOptions } from './index.js';

const PTX = `.version 8.0
.target sm_90
.address_size 64
.global .align 4 .f32 bias[4] = {0f3F800000, 0f3F800000, 0f3F800000, 0f3F800000};
.visible .entry twice(.param .u64 data)
{
  .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}
`;

type ArgsOf<O extends DriverOp> = Extract<DriverCommand, { op: O }>['args'];

class Session {
  readonly clock = new VirtualClock();
  readonly node: GpuNode;
  readonly context: number;
  readonly module: number;
  private ticket = 0;

  constructor(options: Partial<GpuNodeOptions>) {
    this.node = new GpuNode(this.clock, { gpus: ['h200'], ...options });
    this.context = this.call('contextCreate', { gpu: 0 }).handle ?? 0;
    this.module = this.call('moduleLoad', { ptx: PTX, file: 'twice.ptx' }).handle ?? 0;
  }

  complete<O extends DriverOp>(op: O, args: ArgsOf<O>): DriverCompletion {
    let done: DriverCompletion | undefined;
    this.ticket += 1;
    this.node.submit(
      { ticket: this.ticket, context: this.context, stream: 0, op, args } as unknown as DriverCommand,
      { onCompletion: (completion) => (done = completion) },
    );
    while (done === undefined && this.clock.step());
    if (done === undefined) throw new Error(`'${op}' never completed`);
    return done;
  }

  call<O extends DriverOp>(op: O, args: ArgsOf<O>): DriverResult {
    const { result, failure } = this.complete<O>(op, args);
    if (failure !== undefined) throw new Error(failure.message);
    return result ?? {};
  }

  launch(address: number, blocks: number) {
    const params = new Uint8Array(8);
    new DataView(params.buffer).setBigUint64(0, BigInt(address), true);
    return this.call('launch', {
      module: this.module,
      kernel: 'twice',
      grid: [blocks, 1, 1],
      block: [256, 1, 1],
      dynamicSharedBytes: 0,
      params,
    }).launch;
  }
}

function recorded(): { costs: CostDocument; ends: (number | undefined)[] } {
  const session = new Session({ backingBytes: 64 * 2 ** 20 });
  session.node.recordCosts();
  const ends = run(session);
  return { costs: session.node.recordedCosts(), ends };
}

/** Copies in, launches cold and warm, copies out. */
function run(session: Session): (number | undefined)[] {
  const bytes = 4 * 256 * 300;
  const { address = 0 } = session.call('malloc', { bytes });
  session.call('memcpyHostToDevice', { address, bytes: new Uint8Array(bytes), pinned: true });
  const launches = [session.launch(address, 300), session.launch(address, 300), session.launch(address, 7)];
  session.call('memcpyDeviceToHost', { address, bytes, pinned: true });
  session.call('free', { address });
  return [...launches.map((report) => report?.endNs), session.clock.nowNs()];
}

describe('a node in timing fidelity', () => {
  it('takes the same commands at the same times as the functional one that recorded', () => {
    const { costs, ends } = recorded();
    const session = new Session({ fidelity: 'timing', costs: [costs] });
    expect(run(session)).toEqual(ends);
  });

  it('holds models larger than the host, and moves bytes without contents', () => {
    const { node, ...session } = new Session({ fidelity: 'timing' });
    void session;
    const timed = new Session({ fidelity: 'timing' });
    const { address = 0 } = timed.call('malloc', { bytes: 80e9 });
    const fromNs = timed.clock.nowNs();
    timed.call('memcpyHostToDevice', {
      address,
      bytes: new Uint8Array(0),
      declaredBytes: 80e9,
      pinned: true,
    });
    const tookNs = timed.clock.nowNs() - fromNs;
    expect(80e9 / tookNs).toBeGreaterThan(20);
    expect(timed.call('memcpyDeviceToHost', { address, bytes: 1e6, pinned: true }).bytes).toBeUndefined();
    expect(timed.complete('malloc', { bytes: 80e9 }).failure?.code).toBe('outOfDeviceMemory');
    node.close();
  });

  it('refuses launches that no cost tells of', () => {
    const session = new Session({ fidelity: 'timing' });
    const { address = 0 } = session.call('malloc', { bytes: 4096 });
    expect(() => session.launch(address, 4)).toThrow(/no cost of 'twice' with blocks of \[256,1,1\]/);
  });

  it('goes on from a snapshot, and has one hash', () => {
    const { costs } = recorded();
    const options = { gpus: ['h200'], fidelity: 'timing' as const, costs: [costs] };
    const one = new Session(options);
    const other = new Session(options);
    run(one);
    run(other);
    expect(one.node.hash()).toBe(other.node.hash());
    const clock = new VirtualClock(one.clock.nowNs());
    expect(GpuNode.restore(clock, options, one.node.snapshot()).hash()).toBe(one.node.hash());
    expect(() =>
      GpuNode.restore(new VirtualClock(one.clock.nowNs()), { gpus: ['h200'] }, one.node.snapshot()),
    ).toThrow(/taken in fidelity 'timing'/);
  });

  it.each([
    [{ fidelity: 'exact' }, /fidelity: 'exact'; there are: functional, timing/],
    [{ costs: [] }, /costs: only a node with fidelity 'timing'/],
    [{ fidelity: 'timing', backingBytes: 2 ** 26 }, /backingBytes: with fidelity 'timing' nothing/],
  ])('is refused with options that do not go together: %j', (options, message) => {
    const make = () => new GpuNode(new VirtualClock(), { gpus: ['h200'], ...options } as GpuNodeOptions);
    expect(make).toThrow(ClusterError);
    expect(make).toThrow(message);
  });

  it('has nothing to record', () => {
    const { node } = new Session({ fidelity: 'timing' });
    expect(() => node.recordCosts()).toThrow(/runs nothing that could be recorded/);
  });
});
