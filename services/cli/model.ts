import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { INPUT_TYPES, type InputType } from '../../containers/protocol/index.js';
import type { ContainerAnswer, ModelAnswer } from '../management/index.js';
import { batchingOption, type BatchingStrategy } from './batchingOption.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { wholeNumber } from './optionValues.js';
import { print, printDone, table } from './printing.js';

interface AddOptions extends ClientOptions {
  readonly version: string;
  readonly inputType: InputType;
  readonly container: string;
  readonly path?: string;
  readonly output?: string;
  readonly labels?: string;
  readonly batchSize: number;
  readonly batching?: BatchingStrategy;
}

/** Models, as Clipper's administration names their verbs. `deploy` does more: it reads the manifest and waits. */
export function addModelCommand(program: Command): void {
  const model = program.command('model').description('models of a running server, version by version');
  withManagementOptions(
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
        'what runs it: windjammer/kernel-model, windjammer/process or windjammer/constant',
      )
      .option('--path <path>', 'the folder of a kernel model, the module of a process')
      .option('--output <text>', 'what a constant answers')
      .option('--labels <list>', 'labels of its classes, with commas between')
      .option(
        '--batch-size <number>',
        '-1: adaptive; otherwise the largest batch',
        wholeNumber(-1, 65_535),
        -1,
      )
      .addOption(batchingOption()),
  ).action(add);
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
      .command('replicas')
      .description('replicas and what became of them')
      .argument('[name]', 'of this model only'),
  ).action(replicas);
}

async function add(name: string, options: AddOptions): Promise<void> {
  const { management } = await clientOf(options);
  const sentence = await management.addModel({
    model_name: name,
    model_version: options.version,
    input_type: options.inputType,
    container_name: options.container,
    model_data_path: options.path === undefined ? undefined : resolve(options.path),
    output: options.output,
    labels: options.labels?.split(','),
    batch_size: options.batchSize,
    batching: options.batching,
  });
  printDone(options.json, sentence);
}

async function list(options: ClientOptions): Promise<void> {
  const models = await (await clientOf(options)).management.models();
  const rows = models.map((one) => [
    one.model_name,
    `${one.model_version}${one.is_current_version ? ' (current)' : ''}`,
    inputOf(one),
    one.container_name,
  ]);
  print(options.json, models, table(['MODEL', 'VERSION', 'INPUT', 'CONTAINER'], rows));
}

async function show(name: string, version: string, options: ClientOptions): Promise<void> {
  const model = await (await clientOf(options)).management.model(name, version);
  const rows = [
    ['model', model.model_name],
    ['version', `${model.model_version}${model.is_current_version ? ' (current)' : ''}`],
    ['input', inputOf(model)],
    ['container', model.container_name],
    ...(model.model_data_path === '' ? [] : [['path', model.model_data_path]]),
    ...(model.output === undefined ? [] : [['output', model.output]]),
    ...(model.labels.length === 0 ? [] : [['labels', model.labels.join(', ')]]),
    ['batches', model.batch_size === -1 ? `adaptive (${model.batching})` : `at most ${model.batch_size}`],
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
    String(one.restarts),
    one.last_failure ?? '',
  ]);
  print(
    options.json,
    found,
    table(['MODEL', 'VERSION', 'REPLICA', 'STATE', 'RESTARTS', 'LAST FAILURE'], rows),
  );
}

function inputOf({ input_type: type, input_length: length }: ModelAnswer): string {
  return length === undefined ? type : `${length} ${type}`;
}
