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
  }
}
