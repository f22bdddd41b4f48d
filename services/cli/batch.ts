import { rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Option, type Command } from 'commander';
import { reasonOf } from '../../simulator/text/index.js';
import type { BatchProgress } from '../batchJob/index.js';
import type { LaunchClass } from '../client/index.js';
import { clientOf, rawCalls, withQueryOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';
import { interruption } from './interruption.js';
import { writeResults } from './job.js';
import { checkApart, OutputFile } from './outputFile.js';
import { print } from './printing.js';
import { ProgressLine } from './progressLine.js';

interface BatchOptions extends ClientOptions {
  readonly input: string;
  readonly output: string;
  readonly concurrency: number;
  readonly retries: number;
  readonly class: LaunchClass;
  readonly resume?: true;
  readonly overwrite?: true;
  readonly durable?: true;
}

export function addBatchCommand(program: Command): void {
  const command = program
    .command('batch')
    .description('ask a running server for predictions of all lines of a file, as best-effort work')
    .argument('<application>', 'name of the application')
    .requiredOption('--input <file>', 'JSON Lines: an input a line, or a request with "input"')
    .requiredOption(
      '--output <file>',
      'where the answers go, a JSON object a line, in the order in which they come',
    )
    .option('--concurrency <number>', 'queries under way at a time', wholeNumber(1, 1024), 16)
    .option(
      '--retries <number>',
      'further tries of a query that there is no room or time for',
      wholeNumber(0, 100),
      8,
    )
    .addOption(
      new Option('--class <class>', 'how long its kernels may be made to wait by others on their GPU')
        .choices(['critical', 'standard', 'bestEffort'])
        .default('bestEffort'),
    )
    .option('--resume', 'go on where an earlier run ended; lines with an error are asked again')
    .option('--overwrite', 'begin anew where the output holds answers')
    .option(
      '--durable',
      'hand the lines to the server as a job, which goes on whatever becomes of this command: docs/guides/jobs.md',
    );
  withQueryOptions(command).action(batch);
}

async function batch(application: string, options: BatchOptions): Promise<void> {
  const { input, output, concurrency, retries, timeoutMs } = options;
  if (options.resume === true && options.overwrite === true) {
    throw new CommandError('--resume and --overwrite: give one of them');
  }
  checkApart([{ path: output, option: '--output' }], [{ what: 'the file of --input', path: input }]);
  if (options.durable === true) {
    await durableBatch(application, options);
    return;
  }
  const { BatchJobError, runBatchJob } = await import('../batchJob/index.js');
  const calls = await rawCalls(options.url, options);
  const line = new ProgressLine();
  const stop = interruption();
  try {
    const result = await runBatchJob({
      application,
      input,
      output,
      existing: options.overwrite === true ? 'overwrite' : options.resume === true ? 'resume' : 'refuse',
      concurrency,
      retries,
      timeoutMs,
      launchClass: options.class,
      calls,
      signal: stop.signal,
      onProgress: (progress) => line.show(told(progress)),
    });
    line.clear();
    print(options.json, result, `${told(result)}; ${output}`);
    if (result.isStopped) throw new CommandError(`stopped; --resume goes on with ${output}`);
    if (result.failed > 0)
      throw new CommandError(`lines with an error: ${result.failed}; --resume asks them again`);
  } catch (error) {
    line.clear();
    if (!(error instanceof BatchJobError)) throw error;
    const hint = error.code === 'stopped' && !removedEmpty(output) ? `; --resume goes on with ${output}` : '';
    throw new CommandError(`${error.message}${hint}`, { cause: error });
  } finally {
    stop.end();
  }
}

/** The server does it; the results are fetched as they come. */
async function durableBatch(application: string, options: BatchOptions): Promise<void> {
  if (options.resume === true || options.overwrite === true) {
    throw new CommandError(
      '--durable goes without --resume and --overwrite: the server keeps what is answered',
    );
  }
  const { jobs } = await clientOf(options);
  const output = new OutputFile(options.output, '--output');
  const input = await openInput(options.input);
  const created = await jobs.create(application, input, { launchClass: options.class, timeoutMs: UPLOAD_MS });
  const goOn = `windjammer job results ${created.job_id} --follow --output ${options.output}`;
  process.stderr.write(
    `job ${created.job_id}; it goes on without this command, whose place takes: ${goOn}\n`,
  );
  const job = await writeResults(jobs, created.job_id, output, true);
  print(options.json, job, `${job.answered} answered; ${options.output}`);
}

/** Of a job's input, which may be large. */
const UPLOAD_MS = 3_600_000;

/** @throws CommandError (as a rejection) */
async function openInput(path: string): Promise<Readable> {
  try {
    return (await open(path)).createReadStream();
  } catch (cause) {
    throw new CommandError(`--input: ${reasonOf(cause)}`, { cause });
  }
}

/** An output that holds no answer is none to go on with, and does not stay. @returns whether it was one */
function removedEmpty(output: string): boolean {
  const found = statSync(output, { throwIfNoEntry: false });
  const isEmpty = found === undefined || (found.isFile() && found.size === 0);
  if (isEmpty) rmSync(output, { force: true });
  return isEmpty;
}

function told({ answered, failed, kept, retries }: BatchProgress): string {
  const parts = [`${answered} answered`];
  if (failed > 0) parts.push(`${failed} with an error`);
  if (kept > 0) parts.push(`${kept} answered before`);
  if (retries > 0) parts.push(`${retries} tried again`);
  return parts.join(', ');
}
