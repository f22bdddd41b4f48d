import type { Command } from 'commander';
import type { LaunchClass } from '../../containers/protocol/index.js';
import { jsonText } from '../json/index.js';
import { rawCalls, withQueryOptions, type SecurityOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { featureOption } from './featureOption.js';
import { fileValue, inputValue } from './inputArguments.js';
import { launchClassOption } from './launchClassOption.js';
import { wholeNumber } from './optionValues.js';

interface PredictOptions extends SecurityOptions {
  readonly input?: string;
  readonly file?: string;
  readonly url: string;
  readonly context?: string;
  readonly strict?: boolean;
  readonly priority?: number;
  readonly launchClass?: LaunchClass;
  readonly feature?: Readonly<Record<string, number>>;
  readonly deadlineMs?: number;
  readonly timeoutMs: number;
}

export function addPredictCommand(program: Command): void {
  withQueryOptions(program.command('predict'))
    .description('ask a running server for a prediction and print its answer as JSON')
    .argument('<application>', 'name of the application')
    .option(
      '--input <json>',
      'the input: a JSON array of numbers; anything that is no JSON is sent as a string',
    )
    .option(
      '--file <path>',
      'a file with the input as JSON, or with a whole request ({"input": …}); - for standard input',
    )
    .option('--context <name>', 'selection context (uid)')
    .option('--strict', 'an error in place of a default output')
    .option('--no-strict', 'the default output, also where the application answers an error')
    .option('--priority <number>', '1 (most urgent) to 5; 3 unless given', wholeNumber(1, 5))
    .addOption(launchClassOption('the answer', "the application's class"))
    .addOption(featureOption())
    .option('--deadline-ms <ms>', 'when the server must have answered', wholeNumber(1, 3_600_000))
    .action(predict);
}

async function predict(application: string, options: PredictOptions): Promise<void> {
  const body = requestBody(options);
  // The answer as the server gives it, whatever it holds.
  const path = `/${encodeURIComponent(application)}/predict`;
  const headers: Record<string, string> = {};
  if (options.deadlineMs !== undefined) headers['x-request-timeout-ms'] = String(options.deadlineMs);
  const calls = await rawCalls(options.url, options);
  const answer = await calls.post(path, body, { timeoutMs: options.timeoutMs }, headers);
  process.stdout.write(`${jsonText(answer)}\n`);
}

function requestBody(options: PredictOptions): Record<string, unknown> {
  const { input, file, context, strict, priority, launchClass, feature } = options;
  if ((input === undefined) === (file === undefined))
    throw new CommandError('give one of --input and --file');
  const value = file === undefined ? inputValue(input ?? '') : fileValue(file);
  const isRequest =
    typeof value === 'object' && value !== null && ('input' in value || 'input_batch' in value);
  const body: Record<string, unknown> = isRequest ? { ...value } : { input: value };
  if (context !== undefined) body.context = context;
  if (strict !== undefined) body.strict = strict;
  if (priority !== undefined) body.priority = priority;
  if (launchClass !== undefined) body.launch_class = launchClass;
  if (feature !== undefined) body.features = feature;
  return body;
}
