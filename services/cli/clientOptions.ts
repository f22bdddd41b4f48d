import { Option, type Command } from 'commander';
import type { ConnectionOptions, HttpCalls, WindjammerClient } from '../client/index.js';
import { CommandError } from './commandError.js';
import { optionPem } from './optionFile.js';
import { wholeNumber } from './optionValues.js';

/** How a command shows who it is, and whom it trusts. */
export interface SecurityOptions {
  readonly apiKey?: string;
  readonly ca?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

/** Options of every command that asks a running server. */
export interface ClientOptions extends SecurityOptions {
  readonly json?: true;
  readonly timeoutMs: number;
  readonly url: string;
  readonly managementUrl: string;
}

const milliseconds = wholeNumber(1, 3_600_000);

export function withSecurityOptions(command: Command): Command {
  return command
    .addOption(new Option('--api-key <key>', 'where the server requires one').env('WINDJAMMER_API_KEY'))
    .addOption(
      new Option('--ca <file>', 'PEM of the authority that signed the certificate of an https server').env(
        'WINDJAMMER_CA',
      ),
    )
    .option('--client-cert <file>', 'PEM of a certificate to show, where the server asks for one')
    .option('--client-key <file>', 'PEM of its key');
}

/** For commands that ask the query interface. */
export function withQueryOptions(command: Command): Command {
  return withSecurityOptions(command)
    .addOption(
      new Option('--url <url>', 'address of the query interface')
        .env('WINDJAMMER_URL')
        .default('http://127.0.0.1:1337'),
    )
    .option('--timeout-ms <ms>', 'give up without an answer after so long', milliseconds, 30_000)
    .option('--json', 'print JSON');
}

/** For commands that ask the management interface. */
export function withManagementOptions(command: Command): Command {
  return withSecurityOptions(command)
    .addOption(
      new Option('--management-url <url>', 'address of the management interface')
        .env('WINDJAMMER_MANAGEMENT_URL')
        .default('http://127.0.0.1:1338'),
    )
    .option('--timeout-ms <ms>', 'give up without an answer after so long', milliseconds, 30_000)
    .option('--json', 'print JSON');
}

/** @throws CommandError on an address that is none. */
export async function clientOf(options: Partial<ClientOptions>): Promise<WindjammerClient> {
  // Loaded when it is needed: most commands start without it.
  const { WindjammerClient } = await import('../client/index.js');
  const connection = connectionOf(options);
  return checkedAddress(
    () =>
      new WindjammerClient({
        queryUrl: options.url,
        managementUrl: options.managementUrl,
        timeoutMs: options.timeoutMs,
        ...connection,
      }),
  );
}

/** Calls whose answers are printed as they come. @throws CommandError on an address that is none. */
export async function rawCalls(url: string, options: SecurityOptions): Promise<HttpCalls> {
  const { HttpCalls } = await import('../client/index.js');
  return checkedAddress(() => new HttpCalls(url, undefined, connectionOf(options)));
}

/** @throws CommandError on a file that cannot be read */
export function connectionOf({ apiKey, ca, clientCert, clientKey }: SecurityOptions): ConnectionOptions {
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw new CommandError('--client-cert and --client-key go together');
  }
  return {
    apiKey,
    ca: pemText(ca, '--ca'),
    cert: pemText(clientCert, '--client-cert'),
    key: pemText(clientKey, '--client-key'),
  };
}

function pemText(path: string | undefined, option: string): string | undefined {
  return path === undefined ? undefined : optionPem(option, path);
}

function checkedAddress<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}
