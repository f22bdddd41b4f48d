import type { Command } from 'commander';
import { clientOf, withSecurityOptions, type SecurityOptions } from './clientOptions.js';
import { wholeNumber } from './optionValues.js';
import { printDone } from './printing.js';

interface RepairOptions extends SecurityOptions {
  readonly from: string;
  readonly timeoutMs: number;
  readonly json?: true;
}

/** Several frontends that share a store. */
export function addClusterCommand(program: Command): void {
  const cluster = program
    .command('cluster')
    .description('frontends that share a store: docs/guides/shared-store.md');
  withSecurityOptions(
    cluster
      .command('repair')
      .description(
        'after the shared store has lost changes: what one frontend knows becomes the state of all',
      )
      .requiredOption('--from <url>', 'the management interface of the frontend whose state is right')
      .option(
        '--timeout-ms <ms>',
        'give up without an answer after so long',
        wholeNumber(1, 3_600_000),
        60_000,
      )
      .option('--json', 'print JSON'),
  ).action(async ({ from, ...options }: RepairOptions) => {
    const managementUrl = from.includes('://') ? from : `http://${from}`;
    const { management } = await clientOf({ ...options, managementUrl });
    printDone(options.json, await management.repairStore());
  });
}
