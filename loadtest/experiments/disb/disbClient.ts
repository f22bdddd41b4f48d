import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import type { GpuNode } from '../../../simulator/cluster/index.js';
import type {
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  DriverOp,
} from '../../../simulator/driver/index.js';
import type { TableModule } from '../../../simulator/kernelTable/index.js';
import type { LaunchClass } from '../../../simulator/scheduling/index.js';
import type { VirtualClock } from '../../../simulator/time/index.js';

/** A command without what the client gives it. */
type ClientCommand = {
  readonly [O in DriverOp]: Pick<Extract<DriverCommand, { op: O }>, 'op' | 'args'>;
}[DriverOp];

/** What one client asks for again and again. */
export interface ClientRequest {
  readonly table: TableModule;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly launchClass: LaunchClass;
  readonly seed: number;
}

/**
 * One client of a workload, with a context and a stream of its own: a request copies its input in, launches its model's kernels
 * and copies its output back. Requests that come while one is served wait in the stream.
 */
export class DisbClient implements CompletionSink {
  /** Of requests that are over, from arrival to the output's end. */
  readonly latenciesNs: number[] = [];
  private readonly context: number;
  private readonly stream: number;
  private readonly request: readonly ClientCommand[];
  private readonly refused: readonly (ClientCommand | undefined)[];
  private readonly shares: readonly number[];
  private readonly random: ReturnType<typeof xoroshiro128plus>;
  private readonly arrivedNs: number[] = [];
  private ticket = 0;

  constructor(
    private readonly node: GpuNode,
    private readonly clock: VirtualClock,
    { table, inputBytes, outputBytes, launchClass, seed }: ClientRequest,
    private readonly onDone?: () => void,
  ) {
    this.random = xoroshiro128plus(seed);
    this.context = this.handle(0, { op: 'contextCreate', args: { gpu: 0, launchClass } });
    this.stream = this.handle(this.context, { op: 'streamCreate', args: { priority: 0 } });
    const { ptx, file, launches } = table;
    const module = this.handle(this.context, { op: 'moduleLoad', args: { ptx, file } });
    const buffer = this.handle(this.context, {
      op: 'malloc',
      args: { bytes: Math.max(inputBytes, outputBytes) },
    });
    const loaded = new Map<object, ClientCommand>();
    const launch = (args: (typeof launches)[number]['args']): ClientCommand => {
      let made = loaded.get(args);
      if (made === undefined) loaded.set(args, (made = { op: 'launch', args: { ...args, module } }));
      return made;
    };
    this.request = [
      {
        op: 'memcpyHostToDevice',
        args: { address: buffer, bytes: NO_BYTES, pinned: true, declaredBytes: inputBytes },
      },
      ...launches.map(({ args }) => launch(args)),
      { op: 'memcpyDeviceToHost', args: { address: buffer, bytes: outputBytes, pinned: true } },
    ];
    this.shares = [1, ...launches.map(({ idempotent }) => idempotent), 1];
    this.refused = [undefined, ...launches.map(({ refusedArgs }) => launch(refusedArgs)), undefined];
  }

  /** A request arrives. */
  ask(): void {
    this.arrivedNs.push(this.clock.nowNs());
    this.request.forEach((command, index) => {
      const share = this.shares[index];
      const isRefused = share > 0 && share < 1 && uniformFloat64(this.random) >= share;
      this.submit(this.context, isRefused ? (this.refused[index] ?? command) : command, this);
    });
  }

  onCompletion({ op, failure, timeNs }: DriverCompletion): void {
    if (failure !== undefined) throw new Error(failure.message);
    if (op !== 'memcpyDeviceToHost') return;
    this.latenciesNs.push(timeNs - (this.arrivedNs.shift() ?? NaN));
    this.onDone?.();
  }

  private handle(context: number, command: ClientCommand): number {
    let completion: DriverCompletion | undefined;
    this.submit(context, command, { onCompletion: (done) => (completion = done) });
    while (completion === undefined && this.clock.step());
    if (completion?.failure !== undefined) throw new Error(completion.failure.message);
    return completion?.result?.handle ?? completion?.result?.address ?? NaN;
  }

  private submit(context: number, { op, args }: ClientCommand, sink: CompletionSink): void {
    const stream = context === this.context ? (this.stream ?? 0) : 0;
    // The pair of op and args is right by its type; the union cannot see that once it is taken apart.
    const command = { ticket: ++this.ticket, context, stream, op, args } as unknown as DriverCommand;
    this.node.submit(command, sink);
  }
}

const NO_BYTES = new Uint8Array(0);
