import type { Command } from 'commander';
import { rawCalls } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { fileValue, inputValue } from './inputArguments.js';

interface PredictOptions {
  readonly input?: string;
  readonly file?: string;
  readonly url: string;
  readonly context?: string;
}

export function addPredictCommand(program: Command): void {
  program
    .command('predict')
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
    .option('--url <url>', 'address of the server', 'http://127.0.0.1:1337')
    .option('--json', 'print JSON, which is what it does anyway')
    .action(predict);
}

async function predict(application: string, options: PredictOptions): Promise<void> {
  const body = requestBody(options);
  // The answer as the server gives it, whatever it holds.
  const path = `/${encodeURIComponent(application)}/predict`;
  const answer = await (await rawCalls(options.url)).post(path, body);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function requestBody({ input, file, context }: PredictOptions): Record<string, unknown> {
  if ((input === undefined) === (file === undefined))
    throw new CommandError('give one of --input and --file');
  const value = file === undefined ? inputValue(input ?? '') : fileValue(file);
  const isRequest =
    typeof value === 'object' && value !== null && ('input' in value || 'input_batch' in value);
  const body: Record<string, unknown> = isRequest ? { ...value } : { input: value };
  if (context !== undefined) body.context = context;
  return body;
}
