import type { Command } from 'commander';
import type { ClientInput, FeedbackResult } from '../client/index.js';
import { clientOf, withQueryOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { featureOption } from './featureOption.js';
import { fileValue, inputValue } from './inputArguments.js';
import { print } from './printing.js';

interface FeedbackOptions extends ClientOptions {
  readonly queryId?: string;
  readonly input?: string;
  readonly file?: string;
  readonly label?: string;
  readonly loss?: string;
  readonly reward?: string;
  readonly losses?: string;
  readonly feature?: Readonly<Record<string, number>>;
  readonly idempotencyKey?: string;
  readonly context?: string;
}

const JOINED = {
  query: 'the models that the query asked',
  cache: 'cached predictions',
  evaluated: 'a fresh evaluation',
  none: 'nothing',
} as const satisfies Record<Exclude<FeedbackResult['joined'], 'queued' | 'repeated' | 'pinned'>, string>;

export function addFeedbackCommand(program: Command): void {
  const command = program
    .command('feedback')
    .description('tell a running server the true output, so that selection learns')
    .argument('<application>', 'name of the application')
    .option('--query-id <id>', 'the query that is judged: query_id of its prediction')
    .option('--input <json>', 'or its input')
    .option('--file <path>', 'or a file with the input, or with {"input": …}; - for standard input')
    .option('--label <text>', 'the true output; may be left out with a loss or reward')
    .option('--loss <number>', 'from 0 to 1, in place of right or wrong')
    .option('--reward <number>', 'or 1 less the loss')
    .option('--losses <json>', 'or of single models, such as {"small": 0.2}')
    .addOption(featureOption())
    .option(
      '--idempotency-key <text>',
      'your name for it: sent again under the same one it is learned from once',
    )
    .option('--context <name>', 'selection context (uid)');
  withQueryOptions(command).action(feedback);
}

async function feedback(application: string, options: FeedbackOptions): Promise<void> {
  const { queryId, label, context, idempotencyKey, feature: features, json } = options;
  const subject = { queryId, input: inputOf(options) };
  const loss = shareOf('--loss', options.loss);
  const reward = shareOf('--reward', options.reward);
  const losses = lossesOf(options.losses);
  if (label === undefined && loss === undefined && reward === undefined && losses === undefined) {
    throw new CommandError('give one of --label, --loss, --reward and --losses');
  }
  const client = await clientOf(options);
  const result = await client.feedback(application, {
    ...subject,
    label,
    loss,
    reward,
    losses,
    features,
    idempotencyKey,
    context,
  });
  if (result.joined === 'repeated') {
    print(json, result, 'It had been judged before: nothing changed.');
    return;
  }
  if (result.joined === 'pinned') {
    print(json, result, 'The state is pinned: nothing was learned.');
    return;
  }
  if (result.joined === 'queued') {
    print(json, result, 'It is kept, and learned from when it is its turn.');
    return;
  }
  const kept = result.durable ? 'on disk' : 'in memory, and will be written again';
  print(json, result, `Learned from ${JOINED[result.joined]}; it is ${kept}.`);
}

function lossesOf(text: string | undefined): Readonly<Record<string, number>> | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Readonly<Record<string, number>>;
  } catch (cause) {
    throw new CommandError(`--losses is no JSON: ${(cause as Error).message}`, { cause });
  }
}

function shareOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  // A variable of a script that is empty is no loss of 0.
  const share = text.trim() === '' ? NaN : Number(text);
  if (share >= 0 && share <= 1) return share;
  throw new CommandError(`${option} must be a number from 0 to 1, not ${JSON.stringify(text)}`);
}

function inputOf({ queryId, input, file }: FeedbackOptions): ClientInput | undefined {
  if ([queryId, input, file].filter((given) => given !== undefined).length !== 1) {
    throw new CommandError('give one of --query-id, --input and --file');
  }
  if (input !== undefined) return inputValue(input) as ClientInput;
  if (file === undefined) return undefined;
  const value = fileValue(file);
  const isRequest = typeof value === 'object' && value !== null && 'input' in value;
  return (isRequest ? value.input : value) as ClientInput;
}
