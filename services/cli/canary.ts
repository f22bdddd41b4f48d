import type { Command } from 'commander';
import type { CanaryAnswer } from '../management/index.js';
import { canaryOption, type CanaryOption } from './canaryOption.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { print, printDone, table } from './printing.js';

interface StartOptions extends ClientOptions {
  readonly parameters?: CanaryOption;
}

/** Versions that are tried beside the one that serves. `deploy --canary` begins with one. */
export function addCanaryCommand(program: Command): void {
  const canary = program.command('canary').description('versions that are tried beside the one that serves');
  withManagementOptions(
    canary.command('list').description('of each model the version that is tried, or was last'),
  ).action(list);
  withManagementOptions(
    canary
      .command('show')
      .description('the version of a model that is tried, or was last, and what was seen of it')
      .argument('<model>'),
  ).action(show);
  withManagementOptions(
    canary
      .command('start')
      .description('try a registered version beside the current one')
      .argument('<model>')
      .argument('<version>')
      .addOption(canaryOption('--parameters <json>', 'parameters of the policy canary')),
  ).action(async (model: string, version: string, options: StartOptions) => {
    const { management } = await clientOf(options);
    const parameters = options.parameters === true ? {} : options.parameters;
    printDone(options.json, await management.startCanary(model, version, parameters));
  });
  withManagementOptions(
    canary
      .command('promote')
      .description('make the version that is tried the current one, whatever was seen of it')
      .argument('<model>'),
  ).action(async (model: string, options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.promoteCanary(model)),
  );
  withManagementOptions(
    canary
      .command('abort')
      .description('try it no longer: the one that serves answers all')
      .argument('<model>'),
  ).action(async (model: string, options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.abortCanary(model)),
  );
}

async function list(options: ClientOptions): Promise<void> {
  const canaries = await (await clientOf(options)).management.canaries();
  const rows = canaries.map((one) => [
    one.model_name,
    one.candidate_version,
    one.incumbent_version,
    phaseOf(one),
    one.reason ?? '',
  ]);
  print(options.json, canaries, table(['MODEL', 'CANDIDATE', 'BESIDE', 'STATE', 'WHY'], rows));
}

async function show(model: string, options: ClientOptions): Promise<void> {
  const canary = await (await clientOf(options)).management.canary(model);
  const { rails, step, asked } = canary;
  const rows = [
    ['candidate', canary.candidate_version],
    ['beside', canary.incumbent_version],
    ['state', phaseOf(canary)],
    ...(canary.reason === undefined ? [] : [['why', canary.reason]]),
    ['parameters', JSON.stringify(canary.parameters)],
    ...(step === undefined ? [] : [['step', `${step + 1}, asked ${asked ?? 0} times at it`]]),
    ...(rails === undefined
      ? []
      : [
          ['loss', `${meanOf(rails.loss.candidate)}, beside ${meanOf(rails.loss.incumbent)}`],
          ['slow or late', `${timesOf(rails.latency.candidate)}, beside ${timesOf(rails.latency.incumbent)}`],
          ['failed', `${timesOf(rails.errors.candidate)}, beside ${timesOf(rails.errors.incumbent)}`],
        ]),
  ];
  print(options.json, canary, table(['CANARY', ''], rows));
}

function phaseOf({ phase, share }: CanaryAnswer): string {
  if (phase !== 'ramping' || share === undefined) return phase;
  return share === 0 ? 'waits for a replica' : `gets ${Number((100 * share).toFixed(1))} % of the queries`;
}

type Seen = NonNullable<CanaryAnswer['rails']>['loss']['candidate'];

function meanOf({ queries, sum }: Seen): string {
  return queries === 0 ? 'nothing judged' : `${(sum / queries).toFixed(4)} on average of ${queries}`;
}

function timesOf({ queries, sum }: Seen): string {
  return `${sum} of ${queries} times`;
}
