import { Option, type Command } from 'commander';
import { INPUT_TYPES, type InputType, type LaunchClass } from '../../containers/protocol/index.js';
import type { Json } from '../../selection/index.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { launchClassOption } from './launchClassOption.js';
import { wholeNumber } from './optionValues.js';
import { print, printDone, table } from './printing.js';

interface AddOptions extends ClientOptions {
  readonly inputType: InputType;
  readonly defaultOutput: string;
  readonly sloMicros: number;
  readonly maxInFlight?: number;
  readonly strict?: true;
  readonly launchClass?: LaunchClass;
  readonly policy: string;
  readonly policyParameters: string;
}

/** Applications, as Clipper's administration names their verbs. */
export function addAppCommand(program: Command): void {
  const app = program.command('app').description('applications of a running server');
  withManagementOptions(
    app
      .command('add')
      .description('register an application')
      .argument('<name>')
      .addOption(
        new Option('--input-type <type>', 'what its inputs are')
          .choices([...INPUT_TYPES])
          .makeOptionMandatory(),
      )
      .requiredOption('--default-output <text>', 'answered when there is no prediction in time')
      .option('--slo-micros <us>', 'latency objective', wholeNumber(1, 3_600_000_000), 100_000)
      .option(
        '--max-in-flight <number>',
        'queries without an answer that it may have, any number unless given',
        wholeNumber(1, 1_000_000),
      )
      .addOption(launchClassOption('its queries', "each model's own"))
      .option('--strict', 'answer an error in place of the default output, unless a query says otherwise')
      .option('--policy <name>', 'how linked models are chosen and combined', 'static')
      .option('--policy-parameters <json>', 'parameters of the policy', '{}'),
  ).action(add);
  withManagementOptions(
    app.command('delete').description('delete an application and its links').argument('<name>'),
  ).action(async (name: string, options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.deleteApplication(name)),
  );
  withManagementOptions(app.command('list').description('every application')).action(list);
  withManagementOptions(
    app
      .command('show')
      .description('one application, and the share of its queries that each model gets')
      .argument('<name>')
      .option('--context <name>', 'shares in this selection context (uid)'),
  ).action(show);
}

async function add(name: string, options: AddOptions): Promise<void> {
  let parameters: Json;
  try {
    parameters = JSON.parse(options.policyParameters) as Json;
  } catch (cause) {
    throw new CommandError(`--policy-parameters is not JSON: ${(cause as Error).message}`, { cause });
  }
  const { management } = await clientOf(options);
  const sentence = await management.addApplication({
    name,
    input_type: options.inputType,
    default_output: options.defaultOutput,
    latency_slo_micros: options.sloMicros,
    max_in_flight: options.maxInFlight,
    strict: options.strict,
    launch_class: options.launchClass,
    policy: { name: options.policy, parameters },
  });
  printDone(options.json, sentence);
}

async function list(options: ClientOptions): Promise<void> {
  const applications = await (await clientOf(options)).management.applications();
  const rows = applications.map((one) => [
    one.name,
    one.input_type,
    `${one.latency_slo_micros / 1000} ms`,
    one.policy.name,
    one.default_output,
    one.linked_models.join(', '),
  ]);
  print(
    options.json,
    applications,
    table(['NAME', 'INPUT', 'OBJECTIVE', 'POLICY', 'DEFAULT', 'MODELS'], rows),
  );
}

async function show(name: string, options: ClientOptions & { readonly context?: string }): Promise<void> {
  const { management } = await clientOf(options);
  const application = await management.application(name);
  const { shares } = await management.state(name, options.context);
  const rows = [
    ['name', application.name],
    ['input type', application.input_type],
    ['latency objective', `${application.latency_slo_micros / 1000} ms`],
    ...(application.max_in_flight === undefined
      ? []
      : [['in flight', `at most ${application.max_in_flight}`]]),
    ...(application.launch_class === undefined ? [] : [['launch class', application.launch_class]]),
    ['policy', `${application.policy.name} ${JSON.stringify(application.policy.parameters)}`],
    ['default output', application.default_output],
    ['strict', application.strict ? 'yes' : 'no'],
    ...application.linked_models.map((model) => [
      `model ${model}`,
      shares[model] === undefined ? 'no share yet' : `${(100 * shares[model]).toFixed(1)} % of the queries`,
    ]),
  ];
  print(options.json, { ...application, shares }, table(['APPLICATION', ''], rows));
}
