import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { INPUT_TYPES, type InputType, type LaunchClass } from '../../containers/protocol/index.js';
import type { ContainerAnswer, ModelAnswer } from '../management/index.js';
import { batchDelayOption, batchingOption, type BatchingStrategy } from './batchingOption.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { launchClassOption } from './launchClassOption.js';
import { MOST_REPLICAS, wholeNumber } from './optionValues.js';
import { processFieldsOf, withProcessOptions, type ProcessOptions } from './processOptions.js';
import { print, printDone, table } from './printing.js';

interface AddOptions extends ClientOptions, ProcessOptions {
  readonly version: string;
  readonly inputType: InputType;
  readonly container: string;
  readonly path?: string;
  readonly output?: string;
  readonly labels?: string;
  readonly batchSize: number;
  readonly batching?: BatchingStrategy;
  readonly batchDelayMicros?: number;
  readonly replicas?: number;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly warmUp: boolean;
  readonly launchClass?: LaunchClass;
  readonly gpu?: string;
}

interface ScaleOptions extends ClientOptions {
  readonly min?: number;
  readonly max?: number;
}

/** Models, as Clipper's administration names their verbs. `deploy` does more: it reads the manifest and waits. */
export function addModelCommand(program: Command): void {
  const model = program.command('model').description('models of a running server, version by version');
  const addCommand = withManagementOptions(
    model
      .command('add')
      .description('register a version of a model; it becomes the current one')
      .argument('<name>')
      .requiredOption('--version <version>', 'the version')
      .addOption(
        new Option('--input-type <type>', 'what its inputs are')
          .choices([...INPUT_TYPES])
          .makeOptionMandatory(),
      )
      .requiredOption(
        '--container <name>',
        'what runs it: kernel-model, process (a JavaScript module), python, exec (a program) or constant; any other name for containers that dial in (serve --clipper-port)',
      )
      .option(
        '--path <path>',
        'the folder of a kernel model, the module of a process; the folder that a program runs in, this one unless given',
      )
      .option('--output <text>', 'what a constant answers')
      .option('--labels <list>', 'labels of its classes, with commas between')
      .option(
        '--batch-size <number>',
        '-1: adaptive; otherwise the largest batch',
        wholeNumber(-1, 65_535),
        -1,
      )
      .addOption(batchingOption())
      .addOption(batchDelayOption())
      .option('--replicas <number>', 'replicas that run, 1 unless given', wholeNumber(0, MOST_REPLICAS))
      .option('--min-replicas <number>', 'with a larger maximum: by load', wholeNumber(1, MOST_REPLICAS))
      .option('--max-replicas <number>', 'the most that the load may ask for', wholeNumber(1, MOST_REPLICAS))
      .addOption(launchClassOption('a kernel model', 'standard'))
      .option('--gpu <node/index>', 'the only GPU that replicas of a kernel model run on, such as node0/1')
      .option('--no-warm-up', 'let new replicas serve before they have answered anything'),
  );
  withProcessOptions(addCommand).action(add);
  withManagementOptions(
    model
      .command('delete')
      .description('delete a version of a model')
      .argument('<name>')
      .argument('<version>'),
  ).action(async (name: string, version: string, options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.deleteModel(name, version)),
  );
  withManagementOptions(model.command('list').description('every version of every model')).action(list);
  withManagementOptions(
    model.command('show').description('one version of a model').argument('<name>').argument('<version>'),
  ).action(show);
  withManagementOptions(
    model
      .command('set-version')
      .description('make a registered version the current one: roll back or forward')
      .argument('<name>')
      .argument('<version>'),
  ).action(async (name: string, version: string, options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.setModelVersion(name, version)),
  );
  withManagementOptions(
    model
      .command('scale')
      .description(
        'say how many replicas of a version run: a number, or two limits for the load to choose between',
      )
      .argument('<name>')
      .argument('<version>')
      .argument('[replicas]', 'with --min and --max: where to begin', wholeNumber(0, MOST_REPLICAS))
      .option('--min <number>', 'fewest replicas', wholeNumber(1, MOST_REPLICAS))
      .option('--max <number>', 'most replicas', wholeNumber(1, MOST_REPLICAS)),
  ).action(scale);
  withManagementOptions(
    model
      .command('replicas')
      .description('replicas and what became of them')
      .argument('[name]', 'of this model only'),
  ).action(replicas);
}

async function add(name: string, options: AddOptions): Promise<void> {
  const { management } = await clientOf(options);
  const container = containerName(options.container);
  const path = options.path ?? (container === 'windjammer/exec' ? '.' : undefined);
  const sentence = await management.addModel({
    model_name: name,
    model_version: options.version,
    input_type: options.inputType,
    container_name: container,
    model_data_path: path === undefined ? undefined : resolve(path),
    output: options.output,
    labels: options.labels?.split(','),
    batch_size: options.batchSize,
    batching: options.batching,
    batch_delay_micros: options.batchDelayMicros,
    num_replicas: options.replicas,
    min_replicas: options.minReplicas,
    max_replicas: options.maxReplicas,
    warm_up: options.warmUp ? undefined : false,
    launch_class: options.launchClass,
    gpu: options.gpu,
    ...processFieldsOf(options),
  });
  printDone(options.json, sentence);
}

const SHORT_NAMES = ['kernel-model', 'process', 'python', 'exec', 'constant'];

/** The server's containers may be named without what all of their names begin with. */
function containerName(given: string): string {
  return SHORT_NAMES.includes(given) ? `windjammer/${given}` : given;
}

async function scale(
  name: string,
  version: string,
  count: number | undefined,
  options: ScaleOptions,
): Promise<void> {
  if (count === undefined && options.min === undefined && options.max === undefined) {
    throw new CommandError('say how many: a number of replicas, or --min and --max');
  }
  if ((options.min === undefined) !== (options.max === undefined)) {
    const [given, missing] = options.min === undefined ? ['--max', '--min'] : ['--min', '--max'];
    throw new CommandError(`${given} needs ${missing} beside it: the load decides between both`);
  }
  const { management } = await clientOf(options);
  const sentence = await management.setReplicas({
    model_name: name,
    model_version: version,
    num_replicas: count,
    min_replicas: options.min,
    max_replicas: options.max,
  });
  printDone(options.json, sentence);
}

async function list(options: ClientOptions): Promise<void> {
  const models = await (await clientOf(options)).management.models();
  const rows = models.map((one) => [
    one.model_name,
    versionOf(one),
    inputOf(one),
    one.container_name,
    replicasOf(one),
  ]);
  print(options.json, models, table(['MODEL', 'VERSION', 'INPUT', 'CONTAINER', 'REPLICAS UP'], rows));
}

async function show(name: string, version: string, options: ClientOptions): Promise<void> {
  const model = await (await clientOf(options)).management.model(name, version);
  const rows = [
    ['model', model.model_name],
    ['version', versionOf(model)],
    ['input', inputOf(model)],
    ['container', model.container_name],
    ...(model.model_data_path === '' ? [] : [['path', model.model_data_path]]),
    ...(model.python === undefined ? [] : [['python', model.python]]),
    ...(model.command === undefined ? [] : [['command', model.command]]),
    ...(model.output === undefined ? [] : [['output', model.output]]),
    ...(model.labels.length === 0 ? [] : [['labels', model.labels.join(', ')]]),
    ['batches', model.batch_size === -1 ? `adaptive (${model.batching})` : `at most ${model.batch_size}`],
    ...(model.batch_delay_micros === undefined
      ? []
      : [['waits for company', `${model.batch_delay_micros / 1000} ms`]]),
    ...(model.launch_class === undefined ? [] : [['launch class', model.launch_class]]),
    ...(model.gpu === undefined ? [] : [['pinned to', model.gpu]]),
    ['replicas up', replicasOf(model)],
    ...(model.warm_up ? [] : [['warm-up', 'none']]),
  ];
  print(options.json, model, table(['MODEL', ''], rows));
}

async function replicas(name: string | undefined, options: ClientOptions): Promise<void> {
  const { management } = await clientOf(options);
  const all = await management.containers();
  const found = name === undefined ? all : all.filter((one) => one.model_name === name);
  const rows = found.map((one: ContainerAnswer) => [
    one.model_name,
    one.model_version,
    String(one.replica_id),
    one.state,
    one.gpu ?? '',
    String(one.restarts),
    one.last_failure ?? '',
  ]);
  print(
    options.json,
    found,
    table(['MODEL', 'VERSION', 'REPLICA', 'STATE', 'GPU', 'RESTARTS', 'LAST FAILURE'], rows),
  );
}

function inputOf({ input_type: type, input_length: length }: ModelAnswer): string {
  return length === undefined ? type : `${length} ${type}`;
}

/** The version, and where it stands when another one was chosen than answers. */
function versionOf(model: ModelAnswer): string {
  const { model_version: version, is_current_version: isCurrent, is_serving_version: isServing } = model;
  if (model.canary === 'ramping') return `${version} (canary)`;
  if (isCurrent) return `${version} (${isServing ? 'current' : 'current, not up yet'})`;
  return isServing ? `${version} (answers until the current one is up)` : version;
}

/** `1 of 2`, `1 of 1, by load 1 to 4`; of a container that dials in only how many are up. */
function replicasOf(model: ModelAnswer): string {
  const { replicas_up: up, num_replicas: wanted, min_replicas: least, max_replicas: most } = model;
  if (wanted === undefined) return String(up);
  return `${up} of ${wanted}${least === undefined ? '' : `, by load ${least} to ${most}`}`;
}
