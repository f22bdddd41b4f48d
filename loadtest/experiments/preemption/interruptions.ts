import { KeyedDraw } from '../../../selection/index.js';
import type { GpuNode } from '../../../simulator/cluster/index.js';
import type { DriverCommand, DriverCompletion } from '../../../simulator/driver/index.js';
import type { EventSink, VirtualClock } from '../../../simulator/time/index.js';

const PORT = 'interruptions';

/** A launch that needs every SM: `fill` of the studied networks, over a buffer of its own. */
export interface UrgentLaunch {
  readonly ptx: string;
  readonly blocks: number;
  readonly threads: number;
}

/** Critical launches from another context that come at random, at a mean distance, for as long as somebody runs the clock. */
export class Interruptions implements EventSink {
  /** Launches that have ended. */
  ended = 0;
  private readonly gapNs: () => number;
  private readonly args: Extract<DriverCommand, { op: 'launch' }>['args'];
  private readonly context: number;

  constructor(
    private readonly node: GpuNode,
    private readonly clock: VirtualClock,
    { ptx, blocks, threads }: UrgentLaunch,
    meanGapNs: number,
    seed: number,
  ) {
    const draw = new KeyedDraw(seed).of(PORT);
    this.gapNs = () => -Math.log(1 - draw()) * meanGapNs;
    this.context = this.call(0, 'contextCreate', { gpu: 0, launchClass: 'critical' }).handle ?? 0;
    const module = this.call(this.context, 'moduleLoad', { ptx, file: 'urgent.ptx' }).handle ?? 0;
    const count = blocks * threads;
    const { address = 0 } = this.call(this.context, 'malloc', { bytes: 4 * count });
    const params = new DataView(new ArrayBuffer(16));
    params.setBigUint64(0, BigInt(address), true);
    params.setFloat32(8, 1, true);
    params.setInt32(12, count, true);
    this.args = {
      module,
      kernel: 'fill',
      grid: [blocks, 1, 1],
      block: [threads, 1, 1],
      dynamicSharedBytes: 0,
      params: new Uint8Array(params.buffer),
    };
    clock.attach(PORT, this);
  }

  begin(): void {
    this.clock.schedule(PORT, this.clock.nowNs() + this.gapNs(), 'arrival');
  }

  end(): void {
    this.clock.detach(PORT);
  }

  onEvent(): void {
    const { context, args } = this;
    this.node.submit(
      { ticket: 1, context, stream: 0, op: 'launch', args },
      {
        onCompletion: ({ failure }) => {
          if (failure !== undefined) throw new Error(failure.message);
          this.ended += 1;
        },
      },
    );
    this.begin();
  }

  private call<O extends 'contextCreate' | 'moduleLoad' | 'malloc'>(
    context: number,
    op: O,
    args: Extract<DriverCommand, { op: O }>['args'],
  ): NonNullable<DriverCompletion['result']> {
    let done: DriverCompletion | undefined;
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    this.node.submit({ ticket: 1, context, stream: 0, op, args } as unknown as DriverCommand, {
      onCompletion: (completion) => (done = completion),
    });
    while (done === undefined && this.clock.step());
    const { result, failure } = done ?? {};
    if (result === undefined) throw new Error(`${op}: ${failure?.message ?? 'never completed'}`);
    return result;
  }
}
