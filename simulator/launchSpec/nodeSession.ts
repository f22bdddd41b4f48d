import { GpuNode, type GpuNodeOptions } from '../cluster/index.js';
import type {
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  DriverOp,
  DriverResult,
} from '../driver/index.js';
import { VirtualClock } from '../time/index.js';
import { LaunchSpecError } from './launchSpecError.js';

type ArgsOf<O extends DriverOp> = Extract<DriverCommand, { op: O }>['args'];

/** One context on a node of its own in virtual time: each call runs until its command is done. */
export class NodeSession implements CompletionSink {
  readonly node: GpuNode;
  private readonly clock = new VirtualClock();
  private context = 0;
  private ticket = 0;
  private last: DriverCompletion | undefined;

  constructor(options: GpuNodeOptions) {
    this.node = new GpuNode(this.clock, options);
    this.context = this.call('contextCreate', { gpu: 0 }).handle ?? 0;
  }

  onCompletion(completion: DriverCompletion): void {
    this.last = completion;
  }

  /** @throws LaunchSpecError `refused` or `fault`. */
  call<O extends DriverOp>(op: O, args: ArgsOf<O>): DriverResult {
    this.last = undefined;
    this.ticket += 1;
    const command = { ticket: this.ticket, context: this.context, stream: 0, op, args };
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    this.node.submit(command as unknown as DriverCommand, this);
    while (this.last === undefined && this.clock.step());
    const completion = this.last as DriverCompletion | undefined;
    if (completion === undefined) throw new LaunchSpecError('refused', `'${op}' never completed`);
    const { result, failure } = completion;
    if (failure !== undefined) {
      const code = failure.code === 'kernelFault' ? 'fault' : 'refused';
      throw new LaunchSpecError(code, failure.message, undefined, failure, result?.launch?.printed);
    }
    return result ?? {};
  }
}
