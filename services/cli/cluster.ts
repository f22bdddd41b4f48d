import type { Command } from 'commander';
import {
  clientOf,
  withManagementOptions,
  withSecurityOptions,
  type ClientOptions,
  type SecurityOptions,
} from './clientOptions.js';
import { wholeNumber } from './optionValues.js';
import { frontendTable, nodeTable } from './clusterTables.js';
import { print, printDone } from './printing.js';

interface RepairOptions extends SecurityOptions {
  readonly from: string;
  readonly timeoutMs: number;
  readonly json?: true;
}

/** Several frontends that share a store. */
export function addClusterCommand(program: Command): void {
  const cluster = program
    .command('cluster')
    .description('frontends that share a store, and their nodes: docs/guides/cluster.md');
  withManagementOptions(
    cluster.command('status').description('frontends and nodes, as one frontend sees them'),
  ).action(async (options: ClientOptions) => {
    const status = await (await clientOf(options)).management.clusterStatus();
    print(options.json, status, `${frontendTable(status)}\n\n${nodeTable(status)}`);
  });
  withManagementOptions(cluster.command('nodes').description('nodes, as one frontend sees them')).action(
    async (options: ClientOptions) => {
      const status = await (await clientOf(options)).management.clusterStatus();
      print(options.json, status.nodes, nodeTable(status));
    },
  );
  for (const [name, isDrained, description] of [
    ['drain', true, 'place no replicas on a node, and those that it has on others'],
    ['undrain', false, 'place replicas on a node again'],
  ] as const) {
    withManagementOptions(
      cluster.command(name).description(description).argument('<node>', 'as nodes shows it'),
    ).action(async (node: string, options: ClientOptions) =>
      printDone(options.json, await (await clientOf(options)).management.drainNode(node, isDrained)),
    );
  }
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
