import { type Command } from 'commander';
import { rawCalls, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { interruption } from './interruption.js';
import { positive } from './optionValues.js';
import { OutputFile } from './outputFile.js';
import { print } from './printing.js';
import { ProgressLine } from './progressLine.js';

interface RecordOptions extends ClientOptions {
  readonly duration: number;
  readonly inputs?: true;
  readonly feedback?: true;
  readonly app?: string;
}

/** What the server says when it has ended by itself. */
interface EndLine {
  readonly end: { readonly arrivals: number; readonly dropped: number };
}

export function addRecordCommand(program: Command): void {
  const command = program
    .command('record')
    .description(
      "write a running server's arrivals down, as a trace for replay and loadtest, or its feedback for evaluate; Ctrl-C ends it early",
    )
    .argument('<file>', 'where the trace goes, as JSON lines')
    .option('--duration <seconds>', 'for so long', positive, 60)
    .option('--inputs', 'inputs as they are, in place of a hash of each')
    .option('--feedback', 'judged queries in place of arrivals: features, propensities and losses')
    .option('--app <name>', 'only the queries of this application');
  withManagementOptions(command).action(record);
}

async function record(
  path: string,
  { duration, inputs, feedback, app, ...options }: RecordOptions,
): Promise<void> {
  if (feedback === true && inputs === true) {
    throw new CommandError('--inputs is for arrivals: feedback is written down without inputs');
  }
  const noun = feedback === true ? 'judged queries' : 'arrivals';
  const file = new OutputFile(path, '<file>');
  const calls = await rawCalls(options.managementUrl, options);
  const { SIGN_OF_LIFE_MS } = await import('../arrivals/index.js');
  const stop = interruption();
  const line = new ProgressLine();
  const asked = {
    body: {
      seconds: duration,
      inputs: inputs === true,
      feedback: feedback === true ? true : undefined,
      application: app,
    },
    type: 'application/jsonl',
    silenceMs: SIGN_OF_LIFE_MS + options.timeoutMs,
    signal: stop.signal,
  };
  let arrivals = 0;
  let end: EndLine['end'] | undefined;
  try {
    for await (const text of linesOf(calls.stream('/admin/record_arrivals', asked))) {
      if (text.startsWith('{"end":')) {
        ({ end } = JSON.parse(text) as EndLine);
        continue;
      }
      if (text === '') continue;
      file.write(`${text}\n`);
      arrivals += 1;
      line.show(`${arrivals} ${noun}`);
    }
  } catch (error) {
    // What was written so far is whole lines, and is kept.
    if (!stop.signal.aborted) {
      if (arrivals > 0) file.close();
      throw error;
    }
  } finally {
    stop.end();
    line.clear();
  }
  if (end === undefined && !stop.signal.aborted) {
    if (arrivals > 0) file.close();
    throw new CommandError(`the server broke the recording off: ${arrivals} ${noun} were written until then`);
  }
  if (arrivals === 0)
    throw new CommandError(
      `no ${feedback === true ? 'query was judged' : 'query came'}: there is nothing to write`,
    );
  file.close();
  const dropped = end?.dropped ?? 0;
  const missed = dropped === 0 ? '' : `; ${dropped} more came faster than they could be written down`;
  print(options.json, { file: path, arrivals, dropped }, `${path}: ${arrivals} ${noun}${missed}`);
}

/** Whole lines, without their ends; what is left of one that was cut off is dropped. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
