import type { Command } from 'commander';
import type { HttpCalls, WindjammerClient } from '../client/index.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';

/** Options of every command that asks a running server. */
export interface ClientOptions {
  readonly json?: true;
  readonly timeoutMs: number;
  readonly url: string;
  readonly managementUrl: string;
}

const milliseconds = wholeNumber(1, 3_600_000);

/** For commands that ask the query interface. */
export function withQueryOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the query interface', 'http://127.0.0.1:1337')
    .option('--timeout-ms <ms>', 'give up without an answer after so long', milliseconds, 30_000)
    .option('--json', 'print JSON');
}

/** For commands that ask the management interface. */
export function withManagementOptions(command: Command): Command {
  return command
    .option('--management-url <url>', 'address of the management interface', 'http://127.0.0.1:1338')
    .option('--timeout-ms <ms>', 'give up without an answer after so long', milliseconds, 30_000)
    .option('--json', 'print JSON');
}

/** @throws CommandError on an address that is none. */
export async function clientOf(options: Partial<ClientOptions>): Promise<WindjammerClient> {
  // Loaded when it is needed: most commands start without it.
  const { WindjammerClient } = await import('../client/index.js');
  return checkedAddress(
    () =>
      new WindjammerClient({
        queryUrl: options.url,
        managementUrl: options.managementUrl,
        timeoutMs: options.timeoutMs,
      }),
  );
}

/** Calls whose answers are printed as they come. @throws CommandError on an address that is none. */
export async function rawCalls(url: string): Promise<HttpCalls> {
  const { HttpCalls } = await import('../client/index.js');
  return checkedAddress(() => new HttpCalls(url));
}

function checkedAddress<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}
