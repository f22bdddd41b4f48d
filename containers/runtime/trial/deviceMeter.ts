import type {
  CommandSink,
  CompletionSink,
  DriverCommand,
  DriverCompletion,
  Interposer,
} from '../../../simulator/driver/index.js';

/** Stands in front of a node's driver and counts what a model costs it. */
export class DeviceMeter implements Interposer {
  /** PTX thread-instructions of the launches that have completed. */
  threadInstructions = 0;
  /** Device memory that is allocated now, and the most there ever was. */
  peakBytes = 0;
  private bytes = 0;
  private readonly sizes = new Map<number, number>();

  onCommand(command: DriverCommand, next: CommandSink, sink: CompletionSink): void {
    next.submit(command, {
      onCompletion: (completion) => {
        this.count(command, completion);
        sink.onCompletion(completion);
      },
      onBlockDone: (notice) => sink.onBlockDone?.(notice),
    });
  }

  private count(command: DriverCommand, { failure, result }: DriverCompletion): void {
    if (failure !== undefined) return;
    if (command.op === 'launch') this.threadInstructions += result?.launch?.threadInstructions ?? 0;
    if (command.op === 'malloc' && result?.address !== undefined) {
      this.sizes.set(result.address, command.args.bytes);
      this.bytes += command.args.bytes;
      this.peakBytes = Math.max(this.peakBytes, this.bytes);
    }
    if (command.op === 'free') {
      this.bytes -= this.sizes.get(command.args.address) ?? 0;
      this.sizes.delete(command.args.address);
    }
  }
}
