import type { Command } from 'commander';
import type { JobAnswer, JobsClient, UnreadableJob } from '../client/index.js';
import { clientOf, withQueryOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { OutputFile } from './outputFile.js';
import { print, table } from './printing.js';

interface ResultsOptions extends ClientOptions {
  readonly output?: string;
  readonly follow?: true;
}

/** Batch jobs that a server keeps. */
export function addJobCommand(program: Command): void {
  const job = program.command('job').description('batch jobs in a running server: docs/guides/jobs.md');
  const of = (name: string, description: string): Command =>
    withQueryOptions(job.command(name).description(description).argument('<id>', 'as list shows it'));
  withQueryOptions(job.command('list').description('every job, and how far it is')).action(
    async (options: ClientOptions) => {
      const { jobs, unreadable } = await (await clientOf(options)).jobs.all();
      const more = unreadable.length === 0 ? {} : { unreadable };
      print(options.json, { jobs, ...more }, jobs.length === 0 ? 'no jobs' : jobTable(jobs));
      for (const { job_id: id, reason } of unreadable) {
        process.stderr.write(
          `job ${id} cannot be read, and is not worked on: ${reason}; windjammer job remove ${id} forgets it\n`,
        );
      }
    },
  );
  of('show', 'how far a job is').action(async (id: string, options: ClientOptions) =>
    printJob(options, await (await clientOf(options)).jobs.show(id)),
  );
  of('cancel', 'ask no further lines of a job; what is answered stays').action(
    async (id: string, options: ClientOptions) =>
      printJob(options, await (await clientOf(options)).jobs.cancel(id)),
  );
  of('remove', 'forget a job, with its input and results').action(
    async (id: string, options: ClientOptions) =>
      printRemoved(options, await (await clientOf(options)).jobs.remove(id)),
  );
  of('results', 'what a job has answered, in the order of its lines')
    .option('--output <file>', 'where it goes; standard output unless given')
    .option('--follow', 'until the job is over')
    .action(results);
}

async function results(id: string, options: ResultsOptions): Promise<void> {
  const output = options.output === undefined ? undefined : new OutputFile(options.output, '--output');
  await writeResults((await clientOf(options)).jobs, id, output, options.follow === true);
}

/**
 * @param output standard output unless given
 * @throws CommandError unless every line has an answer
 */
export async function writeResults(
  jobs: JobsClient,
  id: string,
  output: OutputFile | undefined,
  follow: boolean,
): Promise<JobAnswer> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const piece of jobs.results(id, follow)) {
    const text = decoder.decode(piece, { stream: true });
    if (output === undefined) process.stdout.write(text);
    else output.write(text);
  }
  output?.close();
  const job = await jobs.show(id);
  const { state, lines, answered, failed } = job;
  if (state === 'running') throw new CommandError(`${answered} of ${lines} lines are answered so far`);
  if (state === 'cancelled')
    throw new CommandError(`the job was cancelled after ${answered} of ${lines} lines`);
  if (failed > 0) throw new CommandError(`lines with an error: ${failed}`);
  return job;
}

function printJob(options: ClientOptions, job: JobAnswer): void {
  print(options.json, job, jobTable([job]));
}

function printRemoved(options: ClientOptions, job: JobAnswer | UnreadableJob): void {
  if ('state' in job) printJob(options, job);
  else print(options.json, job, `job ${job.job_id} could not be read (${job.reason}), and is gone`);
}

function jobTable(jobs: readonly JobAnswer[]): string {
  return table(
    ['job', 'application', 'class', 'state', 'lines', 'answered', 'failed', 'created'],
    jobs.map(
      ({ job_id: id, application, launch_class: launchClass, state, lines, answered, failed, created }) => [
        id,
        application,
        launchClass,
        state,
        String(lines),
        String(answered),
        String(failed),
        created,
      ],
    ),
  );
}
