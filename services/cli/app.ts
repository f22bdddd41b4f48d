import { InvalidArgumentError, Option, type Command } from 'commander';
import { INPUT_TYPES, type InputType, type LaunchClass } from '../../containers/protocol/index.js';
import { LOSS_NAMES, type Json } from '../../selection/index.js';
import type { AddApplicationFields } from '../management/index.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { CLASSES, launchClassOption } from './launchClassOption.js';
import { wholeNumber } from './optionValues.js';
import { readPolicyFile } from './policyFileOption.js';
import { print, printDone, table } from './printing.js';

interface AddOptions extends ClientOptions {
  readonly inputType: InputType;
  readonly defaultOutput: string;
  readonly sloMicros: number;
  readonly maxInFlight?: number;
  readonly strict?: true;
  readonly launchClass?: LaunchClass;
  readonly contextTtlDays?: number;
  readonly loss?: string;
  readonly lossOfLate?: number;
  readonly policy?: string;
  readonly policyFile?: string;
  readonly policyParameters: string;
}

interface SetOptions extends ClientOptions {
  readonly defaultOutput?: string;
  readonly sloMicros?: number;
  readonly maxInFlight?: number | typeof ANY;
  readonly strict?: boolean;
  readonly launchClass?: LaunchClass | typeof OF_MODELS;
  readonly contextTtlDays?: number | typeof USUAL;
  readonly loss?: string;
  readonly lossOfLate?: number | typeof NOTHING;
  readonly policy?: string;
  readonly policyFile?: string;
  readonly policyParameters?: string;
  readonly forgetLearned?: true;
}

type LossFields = NonNullable<AddApplicationFields['loss']>;

const microseconds = wholeNumber(1, 3_600_000_000);
const inFlight = wholeNumber(1, 1_000_000);
const days = wholeNumber(1, 36_500);
const LOSS_HELP = `how labels judge its models: ${LOSS_NAMES.join(', ')}, one of the policy file, or an object such as {"name":"pinball","quantile":0.9,"scale":10}`;
const FILE_HELP =
  'a policy of your own, and losses: an ES module, sent to the server; with --policy NAME for its losses alone';
/** The policy of a file, where policies are named. */
const FILE_POLICY = 'file';
const LATE_HELP = 'what it costs a model, from 0 to 1, not to answer in time, whatever it says';
const TTL_HELP = 'what is learned for a context (uid) that was not used for so many days is forgotten';
/** In place of a number: lateness costs nothing. */
const NOTHING = 'nothing';
/** In place of a number: no limit. */
const ANY = 'any';
/** In place of a number: as of an application that does not say it. */
const USUAL = 'usual';
/** In place of a class: each model's own. */
const OF_MODELS = 'models';

/** Parser of an option that takes a word in place of a value. Commander takes null for an option without one: the word stays. */
function orWord<Value, Word extends string>(
  word: Word,
  parse: (text: string) => Value,
): (text: string) => Value | Word {
  return (text) => (text === word ? word : parse(text));
}

/** What a change takes: null where the word was given that takes the value away. */
function orNull<Value, Word extends string>(
  word: Word,
  value: Value | Word | undefined,
): Exclude<Value, Word> | null | undefined {
  return value === word ? null : (value as Exclude<Value, Word> | undefined);
}

/** @throws InvalidArgumentError */
function lossOfLate(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('give a number from 0 to 1');
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
      .option('--slo-micros <us>', 'latency objective', microseconds, 100_000)
      .option(
        '--max-in-flight <number>',
        'queries without an answer that it may have, any number unless given',
        inFlight,
      )
      .addOption(launchClassOption('its queries', "each model's own"))
      .option('--strict', 'answer an error in place of the default output, unless a query says otherwise')
      .option('--policy <name>', 'how linked models are chosen and combined: static unless given')
      .option('--policy-file <file>', FILE_HELP)
      .option('--policy-parameters <json>', 'parameters of the policy', '{}')
      .option('--context-ttl-days <days>', `${TTL_HELP}, 30 unless given`, days)
      .option('--loss <name>', LOSS_HELP)
      .option('--loss-of-late <number>', `${LATE_HELP}, nothing unless given`, lossOfLate),
  ).action(add);
  withManagementOptions(
    app
      .command('set')
      .description(
        'change an application; what is not given stays, and so do its links and what it has learned',
      )
      .argument('<name>')
      .option('--default-output <text>', 'answered when there is no prediction in time')
      .option('--slo-micros <us>', 'latency objective', microseconds)
      .option(
        '--max-in-flight <number>',
        `queries without an answer that it may have, or ${ANY}`,
        orWord(ANY, inFlight),
      )
      .addOption(
        new Option(
          '--launch-class <class>',
          `how long kernels of its queries may be made to wait by others on their GPU; ${OF_MODELS}: each model's own`,
        ).choices([...CLASSES, OF_MODELS]),
      )
      .option('--strict', 'answer an error in place of the default output, unless a query says otherwise')
      .option('--no-strict', 'answer the default output')
      .option('--policy-parameters <json>', 'parameters of the policy, in place of all the present ones')
      .option('--context-ttl-days <days>', `${TTL_HELP}, or ${USUAL}: 30`, orWord(USUAL, days))
      .option('--loss <name>', `${LOSS_HELP}; zeroOne: right or wrong`)
      .option('--loss-of-late <number>', `${LATE_HELP}, or ${NOTHING}`, orWord(NOTHING, lossOfLate))
      .option('--policy <name>', 'another policy, which begins anew: only where nothing was learned')
      .option(
        '--policy-file <file>',
        `${FILE_HELP}; another file of the same policy goes on from what was learned`,
      )
      .option('--forget-learned', 'with --policy or --policy-file: what was learned may go'),
  ).action(set);
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

/** @throws CommandError */
function parametersIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new CommandError(`--policy-parameters is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** `NAME`, or a JSON object of the name and what belongs to it. The server says what is wrong with it. @throws CommandError */
function lossIn(text: string): LossFields {
  if (!text.startsWith('{')) return { name: text };
  try {
    return JSON.parse(text) as LossFields;
  } catch (cause) {
    throw new CommandError(`--loss is no JSON: ${(cause as Error).message}`, { cause });
  }
}

async function set(name: string, options: SetOptions): Promise<void> {
  const { policyFile, policyParameters, launchClass } = options;
  const policy = options.policy ?? (policyFile === undefined ? undefined : FILE_POLICY);
  const parameters = policyParameters === undefined ? undefined : parametersIn(policyParameters);
  const { management } = await clientOf(options);
  const sentence = await management.setApplication({
    name,
    default_output: options.defaultOutput,
    latency_slo_micros: options.sloMicros,
    max_in_flight: orNull(ANY, options.maxInFlight),
    strict: options.strict,
    launch_class: orNull(OF_MODELS, launchClass),
    context_ttl_days: orNull(USUAL, options.contextTtlDays),
    loss: options.loss === undefined ? undefined : lossIn(options.loss),
    loss_of_late: orNull(NOTHING, options.lossOfLate),
    policy: policy === undefined && parameters === undefined ? undefined : { name: policy, parameters },
    policy_file: policyFile === undefined ? undefined : await readPolicyFile(policyFile),
    forget_learned: options.forgetLearned,
  });
  printDone(options.json, sentence);
}

async function add(name: string, options: AddOptions): Promise<void> {
  const parameters = parametersIn(options.policyParameters);
  const { policyFile, policy = policyFile === undefined ? 'static' : FILE_POLICY } = options;
  const sent = policyFile === undefined ? undefined : await readPolicyFile(policyFile);
  const { management } = await clientOf(options);
  const sentence = await management.addApplication({
    name,
    input_type: options.inputType,
    default_output: options.defaultOutput,
    latency_slo_micros: options.sloMicros,
    max_in_flight: options.maxInFlight,
    strict: options.strict,
    launch_class: options.launchClass,
    context_ttl_days: options.contextTtlDays,
    loss: options.loss === undefined ? undefined : lossIn(options.loss),
    loss_of_late: options.lossOfLate,
    policy: { name: policy, parameters },
    policy_file: sent,
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
    ...(application.context_ttl_days === undefined
      ? []
      : [['contexts kept', `${application.context_ttl_days} days`]]),
    ...(application.loss === undefined ? [] : [['loss', JSON.stringify(application.loss)]]),
    ...(application.loss_of_late === undefined ? [] : [['loss of late', String(application.loss_of_late)]]),
    ['policy', `${application.policy.name} ${JSON.stringify(application.policy.parameters)}`],
    ...(application.policy_file === undefined
      ? []
      : [
          [
            'policy file',
            `${application.policy_file.name} (${application.policy_file.policy ?? 'losses alone'}), ${application.policy_file.content_hash.slice(0, 12)}`,
          ],
        ]),
    ['default output', application.default_output],
    ['strict', application.strict ? 'yes' : 'no'],
    ...application.linked_models.map((model) => [
      `model ${model}`,
      shares[model] === undefined ? 'no share yet' : `${(100 * shares[model]).toFixed(1)} % of the queries`,
    ]),
  ];
  print(options.json, { ...application, shares }, table(['APPLICATION', ''], rows));
}
