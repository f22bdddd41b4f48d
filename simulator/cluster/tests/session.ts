import type { CompletionSink, DriverCommand, DriverCompletion, DriverOp } from '../../driver/index.js';
import type { VirtualClock } from '../../time/index.js';
import type { GpuNode } from '../index.js';

type ArgsOf<O extends DriverOp> = Extract<DriverCommand, { op: O }>['args'];

/** Submits commands of one context and keeps the completions, for tests that read like a program. */
export class Session implements CompletionSink {
  readonly completions: DriverCompletion[] = [];
  context = 0;
  private nextTicket = 1;

  constructor(
    private readonly node: GpuNode,
    private readonly clock: VirtualClock,
  ) {}

  onCompletion(completion: DriverCompletion): void {
    this.completions.push(completion);
  }

  /** Submits and returns the ticket. */
  send<O extends DriverOp>(op: O, args: ArgsOf<O>, stream = 0): number {
    const ticket = this.nextTicket++;
    this.node.submit({ ticket, context: this.context, stream, op, args } as unknown as DriverCommand, this);
    return ticket;
  }

  /** Submits and runs the clock until the completion is there. */
  call<O extends DriverOp>(op: O, args: ArgsOf<O>, stream = 0): DriverCompletion {
    const ticket = this.send(op, args, stream);
    while (this.find(ticket) === undefined && this.clock.step());
    const completion = this.find(ticket);
    if (completion === undefined) throw new Error(`'${op}' never completed`);
    return completion;
  }

  open(gpu = 0): this {
    this.context = this.handle('contextCreate', { gpu });
    return this;
  }

  handle<O extends DriverOp>(op: O, args: ArgsOf<O>, stream = 0): number {
    const { result, failure } = this.call(op, args, stream);
    const value = result?.handle ?? result?.address;
    if (value === undefined) throw new Error(failure?.message ?? `'${op}' gave nothing`);
    return value;
  }

  find(ticket: number): DriverCompletion | undefined {
    return this.completions.find((completion) => completion.ticket === ticket);
  }
}

/** Argument bytes of a pointer and, after it, 32-bit integers. */
export function pointerParams(address: number, ...integers: number[]): Uint8Array {
  const bytes = new Uint8Array(8 + 4 * integers.length);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(address), true);
  integers.forEach((value, index) => view.setUint32(8 + 4 * index, value, true));
  return bytes;
}
