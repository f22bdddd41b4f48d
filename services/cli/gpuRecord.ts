import { InvalidArgumentError, type Command } from 'commander';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { OutputFile } from './outputFile.js';
import { print } from './printing.js';

interface RecordOptions extends ClientOptions {
  readonly seconds: number;
  readonly maxMib: number;
  readonly node?: string;
}

interface Trace {
  readonly traceEvents: readonly unknown[];
  readonly droppedEvents: number;
}

export function addGpuRecordCommand(gpu: Command): void {
  const command = gpu
    .command('record')
    .description(
      "record what a running server's GPUs do, in Chrome's trace event format: ui.perfetto.dev opens it",
    )
    .argument('<file>', 'where the trace goes')
    .option('--seconds <seconds>', 'for so long, in host time', numberBetween(0.01, 60, 'seconds'), 5)
    .option('--max-mib <number>', 'leave events beyond so much out', numberBetween(0.0625, 64, 'MiB'), 16)
    .option('--node <name>', "a GPU node, the server's first one unless given");
  withManagementOptions(command).action(record);
}

async function record(path: string, options: RecordOptions): Promise<void> {
  const file = new OutputFile(path, '<file>');
  const { seconds, maxMib, node } = options;
  const { management } = await clientOf(options);
  const trace = (await management.recordGpuTimeline(
    { seconds, max_mib: maxMib, node },
    { timeoutMs: seconds * 1000 + options.timeoutMs },
  )) as Trace;
  try {
    file.write(`${JSON.stringify(trace)}\n`);
  } finally {
    file.close();
  }
  const events = trace.traceEvents.length;
  const { droppedEvents } = trace;
  const left = droppedEvents === 0 ? '' : `; ${droppedEvents} more were left out, over --max-mib ${maxMib}`;
  print(options.json, { file: path, events, droppedEvents }, `${path}: ${events} events${left}`);
}

function numberBetween(low: number, high: number, unit: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= low && value <= high))
      throw new InvalidArgumentError(`expected a number of ${unit} from ${low} to ${high}.`);
    return value;
  };
}
