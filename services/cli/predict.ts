import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandError } from './commandError.js';

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
    .action(predict);
}

async function predict(application: string, options: PredictOptions): Promise<void> {
  const body = requestBody(options);
  const url = `${options.url.replace(/\/$/, '')}/${encodeURIComponent(application)}/predict`;
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  } catch (cause) {
    throw new CommandError(`no server answers at ${options.url}; start one with: windjammer serve`, {
      cause,
    });
  }
  const text = await response.text();
  if (!response.ok) throw new CommandError(`${response.status} ${errorText(text)}`);
  process.stdout.write(`${text}\n`);
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

function inputValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function fileValue(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw new CommandError(`cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

function errorText(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return `${error.code}: ${error.message}`;
  } catch {
    return text;
  }
}
