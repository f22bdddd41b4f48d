import { GpuNode, type GpuNodeOptions } from '../cluster/index.js';
import type {
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  DriverOp,
  DriverResult,
} from '../driver/index.js';
import { VirtualClock } from '../time/index.js';
import { guardHint } from './guardHint.js';
import { LaunchSpecError } from './launchSpecError.js';

export type ArgsOf<O extends DriverOp> = Extract<DriverCommand, { op: O }>['args'];

/** Where a command goes; the session's own context and its stream 0 unless given. */
export interface Destination {
  readonly context?: number;
  readonly stream?: number;
}

/** A node of its own in virtual time, with one context to begin with. */
export class NodeSession implements CompletionSink {
  readonly node: GpuNode;
  private readonly clock = new VirtualClock();
  readonly context: number;
  private ticket = 0;
  /** Of commands that nobody has waited for yet, by ticket. */
  private readonly completions = new Map<number, DriverCompletion>();

  constructor(options: GpuNodeOptions, contextArgs: ArgsOf<'contextCreate'> = { gpu: 0 }) {
    this.node = new GpuNode(this.clock, options);
    this.context = 0;
    this.context = this.call('contextCreate', contextArgs).handle ?? 0;
  }

  onCompletion(completion: DriverCompletion): void {
    this.completions.set(completion.ticket, completion);
  }

  /** Submits a command and runs until it is done. @throws LaunchSpecError `refused` or `fault`. */
  call<O extends DriverOp>(op: O, args: ArgsOf<O>, to: Destination = {}): DriverResult {
    const { result, failure } = this.wait(this.submit(op, args, to));
    if (failure !== undefined) throw this.failed(failure, result);
    return result ?? {};
  }

  /** Leaves a command to the node. @returns its ticket */
  submit<O extends DriverOp>(op: O, args: ArgsOf<O>, to: Destination = {}): number {
    const ticket = ++this.ticket;
    const command = { ticket, context: to.context ?? this.context, stream: to.stream ?? 0, op, args };
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    this.node.submit(command as unknown as DriverCommand, this);
    return ticket;
  }

  /** Runs until a submitted command is done. @throws LaunchSpecError `refused` when it never is; GpuError when a policy holds it back */
  wait(ticket: number): DriverCompletion {
    for (;;) {
      const completion = this.completions.get(ticket);
      if (completion !== undefined) {
        this.completions.delete(ticket);
        return completion;
      }
      if (this.clock.step()) continue;
      this.node.refuseHeld();
      throw new LaunchSpecError('refused', `command ${ticket} never completed`);
    }
  }

  /** Why a command failed, as the spec's error. @param path of its entry in a spec of several */
  failed(
    failure: NonNullable<DriverCompletion['failure']>,
    result: DriverResult | undefined,
    path?: string,
  ): LaunchSpecError {
    const code = failure.code === 'kernelFault' ? 'fault' : 'refused';
    const text = failure.message + guardHint(this.node.memory, failure.fault);
    const message = path === undefined ? text : `${path}: ${text}`;
    return new LaunchSpecError(code, message, path, failure, result?.launch?.printed);
  }

  /** Runs until something has happened, or nothing more can. */
  runUntilTrue(hasHappened: () => boolean): void {
    while (!hasHappened() && this.clock.step());
  }

  /** Runs what is due until then. */
  runUntil(timeNs: number): void {
    this.clock.run(timeNs);
  }
}
