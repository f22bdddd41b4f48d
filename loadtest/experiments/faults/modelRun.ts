import { GpuNode, type GpuNodeOptions } from '../../../simulator/cluster/index.js';
import type {
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  DriverOp,
  DriverResult,
} from '../../../simulator/driver/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import type { StudiedModel } from './studiedModel.js';

type ArgsOf<O extends DriverOp> = Extract<DriverCommand, { op: O }>['args'];

/** A model on a node of its own, in virtual time, that passes are asked of. */
export class ModelRun implements CompletionSink {
  readonly node: GpuNode;
  readonly clock = new VirtualClock();
  private readonly completions = new Map<number, DriverCompletion>();
  private readonly addresses = new Map<string, number>();
  private readonly modules = new Map<string, number>();
  private context = 0;
  private ticket = 0;

  constructor(
    private readonly model: StudiedModel,
    options: Partial<GpuNodeOptions>,
    contextArgs: ArgsOf<'contextCreate'> = { gpu: 0 },
  ) {
    this.node = new GpuNode(this.clock, { gpus: ['h200'], ...options });
    this.context = this.call('contextCreate', contextArgs).handle ?? 0;
    for (const [name, ptx] of model.modules) {
      this.modules.set(name, this.call('moduleLoad', { ptx, file: `${name}.ptx` }).handle ?? 0);
    }
    for (const [name, { bytes, contents }] of model.buffers) {
      const address = this.call('malloc', { bytes }).address ?? 0;
      this.addresses.set(name, address);
      if (contents !== undefined) {
        this.call('memcpyHostToDevice', { address, bytes: contents, pinned: true });
      }
    }
  }

  onCompletion(completion: DriverCompletion): void {
    this.completions.set(completion.ticket, completion);
  }

  /** One pass, all of it submitted at once. @returns nanoseconds from the first submission until the output is there */
  pass(): number {
    const { model } = this;
    const beganNs = this.clock.nowNs();
    const { buffer, contents } = model.input;
    this.submit('memcpyHostToDevice', { address: this.addressOf(buffer), bytes: contents, pinned: true });
    for (const { module, kernel, grid, block, params, pointers } of model.launches) {
      const bytes = params.slice();
      const view = new DataView(bytes.buffer);
      for (const { offset, buffer: name } of pointers) {
        view.setBigUint64(offset, BigInt(this.addressOf(name)), true);
      }
      this.submit('launch', {
        module: this.modules.get(module) ?? 0,
        kernel,
        grid,
        block,
        dynamicSharedBytes: 0,
        params: bytes,
      });
    }
    const bytes = model.buffers.get(model.output)?.bytes ?? 0;
    this.call('memcpyDeviceToHost', { address: this.addressOf(model.output), bytes, pinned: true });
    const ns = this.clock.nowNs() - beganNs;
    for (const [ticket, { failure }] of this.completions) {
      if (failure !== undefined) throw new Error(`${model.name}: ${failure.message}`);
      this.completions.delete(ticket);
    }
    return ns;
  }

  /** All of the model's memory. */
  memory(): Uint8Array {
    const parts = [...this.model.buffers].map(([name, { bytes }]) => {
      const address = this.addressOf(name);
      return this.call('memcpyDeviceToHost', { address, bytes, pinned: true }).bytes ?? new Uint8Array();
    });
    return Buffer.concat(parts);
  }

  close(): void {
    this.node.close();
  }

  private addressOf(buffer: string): number {
    const address = this.addresses.get(buffer);
    if (address === undefined) throw new Error(`${this.model.name} has no buffer ${buffer}`);
    return address;
  }

  private submit<O extends DriverOp>(op: O, args: ArgsOf<O>): number {
    const ticket = ++this.ticket;
    const command = { ticket, context: this.context, stream: 0, op, args };
    // The pair of op and args is right by its type; the union cannot see that through the type parameter.
    this.node.submit(command as unknown as DriverCommand, this);
    return ticket;
  }

  private call<O extends DriverOp>(op: O, args: ArgsOf<O>): DriverResult {
    const ticket = this.submit(op, args);
    while (!this.completions.has(ticket)) if (!this.clock.step()) throw new Error(`${op} never completed`);
    const { result, failure } = this.completions.get(ticket) ?? {};
    this.completions.delete(ticket);
    if (failure !== undefined) throw new Error(`${this.model.name}: ${op}: ${failure.message}`);
    return result ?? {};
  }
}
