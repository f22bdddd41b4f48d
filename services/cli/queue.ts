import { Option, type Command } from 'commander';
import type { QueueJobState } from '../feedbackQueue/index.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';
import { print, printDone, table } from './printing.js';

/** As the server has them, whose modules are loaded only where they are needed. */
const STATES = ['waiting', 'active', 'delayed', 'failed'] as const satisfies readonly QueueJobState[];

interface ListOptions extends ClientOptions {
  readonly state?: QueueJobState;
  readonly limit: number;
}

interface FailedOptions extends ClientOptions {
  readonly all?: boolean;
}

/** Feedback by way of Redis that is not learned yet. */
export function addQueueCommand(program: Command): void {
  const queue = program
    .command('queue')
    .description('feedback that is accepted and not learned yet: docs/guides/feedback.md');
  withManagementOptions(
    queue
      .command('list')
      .description('what waits, and what has failed with the reason')
      .addOption(new Option('--state <name>', 'only these').choices(STATES))
      .option('--limit <number>', 'at most so many', wholeNumber(1, 1000), 100),
  ).action(list);
  withManagementOptions(
    queue
      .command('show')
      .description('one of them, with all that is queued')
      .argument('<id>', 'as list shows it'),
  ).action(async (id: string, options: ClientOptions) => {
    const entry = await (await clientOf(options)).management.queuedFeedback(id);
    print(options.json, entry, JSON.stringify(entry, null, 2));
  });
  const forFailed = (name: 'retry' | 'drop', description: string) =>
    withManagementOptions(
      queue
        .command(name)
        .description(description)
        .argument('[id]', 'as list shows it')
        .option('--all', 'all that has failed'),
    ).action(async (id: string | undefined, options: FailedOptions) => {
      if ((id === undefined) !== (options.all === true)) throw new CommandError('give an id, or --all');
      const { management } = await clientOf(options);
      const done = name === 'retry' ? await management.retryFeedback(id) : await management.dropFeedback(id);
      printDone(options.json, done);
    });
  forFailed('retry', 'try again what has failed');
  forFailed('drop', 'give up what has failed: it is never learned');
}

async function list(options: ListOptions): Promise<void> {
  const { state, limit } = options;
  const { management } = await clientOf(options);
  const answer = await management.queue(state === undefined ? undefined : [state], limit);
  if (!answer.queued) {
    print(options.json, answer, 'This server has no queue: it learns from feedback at once.');
    return;
  }
  const { waiting, active, delayed, failed } = answer.counts;
  const head = `${waiting} waiting, ${active} being learned, ${delayed} tried again later, ${failed} failed`;
  const rows = answer.feedback.map((one) => [
    one.id,
    one.state,
    one.app_name,
    one.uid,
    String(one.attempts),
    one.accepted_at,
    one.reason ?? '',
  ]);
  const heads = ['ID', 'STATE', 'APPLICATION', 'CONTEXT', 'ATTEMPTS', 'ACCEPTED', 'REASON'];
  print(options.json, answer, rows.length === 0 ? head : `${head}\n${table(heads, rows)}`);
}
