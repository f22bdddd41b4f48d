import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { INPUT_TYPES, type InputType, type LaunchClass } from '../../containers/protocol/index.js';
import type { ManagementClient } from '../client/index.js';
import type { ApplicationAnswer, ContainerAnswer } from '../management/index.js';
import { addWithFiles } from './addWithFiles.js';
import { batchDelayOption, batchingOption, type BatchingStrategy } from './batchingOption.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { canaryOption, type CanaryOption } from './canaryOption.js';
import type { OutgoingBundle } from '../bundles/index.js';
import { CommandError } from './commandError.js';
import { launchClassOption } from './launchClassOption.js';
import { tryAsSent } from './moduleTrial.js';
import { MOST_REPLICAS, wholeNumber } from './optionValues.js';
import { print } from './printing.js';
import { processFieldsOf, processTrial, withProcessOptions, type ProcessOptions } from './processOptions.js';
import { ProgressLine } from './progressLine.js';

interface DeployOptions extends ClientOptions, ProcessOptions {
  readonly name: string;
  readonly version: string;
  readonly app?: string;
  readonly inputType?: InputType;
  readonly batchSize: number;
  readonly batching?: BatchingStrategy;
  readonly batchDelayMicros?: number;
  readonly replicas?: number;
  readonly waitSeconds: number;
  readonly launchClass?: LaunchClass;
  readonly gpu?: string;
  readonly upload?: true;
  readonly canary?: CanaryOption;
}

const KERNEL_MODEL = 'windjammer/kernel-model';
const POLL_MS = 100;

export function addDeployCommand(program: Command): void {
  const command = withManagementOptions(
    program
      .command('deploy')
      .description('check a model, register it on a running server, wait until it is up, and link it')
      .argument(
        '<path>',
        'the model folder, the JavaScript or Python module of a model, or with --command the folder of a program; sent to a server that does not see the same files there',
      )
      .requiredOption('--name <name>', 'the name of the model')
      .requiredOption(
        '--version <version>',
        'the version; it becomes the current one, unless --canary is given',
      )
      .option('--app <application>', 'the application to link it to')
      .addOption(
        new Option(
          '--input-type <type>',
          "of a program, and of a module in Python that does not say it: what its inputs are, the application's unless given",
        ).choices([...INPUT_TYPES]),
      )
      .option(
        '--batch-size <number>',
        '-1: adaptive; otherwise the largest batch',
        wholeNumber(-1, 65_535),
        -1,
      )
      .addOption(batchingOption())
      .addOption(batchDelayOption())
      .addOption(
        canaryOption(
          '--canary [json]',
          'try it beside the current version first, with a share of the queries that grows; it is promoted when it is shown to be no worse, and withdrawn when it is worse. Parameters of the policy canary may follow, such as {"loss":0.01}',
        ),
      )
      .option('--replicas <number>', 'replicas that run, 1 unless given', wholeNumber(1, MOST_REPLICAS))
      .addOption(launchClassOption('a kernel model', 'standard'))
      .option('--gpu <node/index>', 'the only GPU that replicas of a kernel model run on, such as node0/1')
      .option('--upload', 'send the files in any case: the server keeps them as they are now')
      .option('--wait-seconds <number>', 'for its first replica', wholeNumber(1, 3600), 60),
  );
  withProcessOptions(command).action(deploy);
}

async function deploy(given: string, options: DeployOptions): Promise<void> {
  const { name, version, app } = options;
  const path = resolve(given);
  const progress = new ProgressLine();
  try {
    progress.show(`checking ${given}`);
    const { management } = await clientOf(options);
    let application: ApplicationAnswer | undefined;
    if (app !== undefined && mayBeSilent(path, options)) application = await management.application(app);
    const isProcess = runsInProcess(path, options);
    const files = await outgoingFiles(path, isProcess, options);
    if (files === undefined && options.upload === true) {
      throw new CommandError(
        `there is nothing to send: --command names no file by its path from ${path}; leave --upload out where the server has all that it needs`,
      );
    }
    // Here first: a mistake in the model is found without touching the server.
    const inputType = options.inputType ?? application?.input_type;
    const what = await checked(path, isProcess, files, options, inputType);
    if (app !== undefined && application === undefined) await management.application(app);
    progress.show(`registering ${name} ${version}`);
    const previous = await currentVersion(management, name);
    if (options.canary !== undefined && previous === undefined) {
      throw new CommandError(
        `model ${name} has no version that serves, beside which ${version} could be tried: deploy it without --canary`,
      );
    }
    const { isSent } = await addWithFiles(
      management,
      files,
      { path, isSent: options.upload === true, onlyHere: what.onlyHere, progress },
      {
        model_name: name,
        model_version: version,
        input_type: what.inputType,
        container_name: what.containerName,
        ...processFieldsOf(options),
        batch_size: options.batchSize,
        batching: options.batching,
        batch_delay_micros: options.batchDelayMicros,
        num_replicas: options.replicas,
        launch_class: options.launchClass,
        gpu: options.gpu,
        canary: options.canary,
      },
    );
    const replica = await firstReplica(management, options, progress, previous);
    const isNewLink = app !== undefined && (await link(management, app, name));
    progress.clear();
    const warnings = [...(await management.model(name, version)).warnings];
    if (!isSent && what.onlyHere !== undefined) warnings.push(what.onlyHere);
    for (const warning of warnings) process.stderr.write(`Warning: ${warning}.\n`);
    const linked = app === undefined ? '' : `, ${isNewLink ? 'linked' : 'was linked already'} to ${app}`;
    print(
      options.json,
      {
        model_name: name,
        model_version: version,
        replica: replica.state,
        app_name: app,
        linked: isNewLink,
        warnings,
        ...(options.canary === undefined ? {} : { canary: true }),
      },
      options.canary === undefined
        ? `${name} ${version} is up and current${linked}.`
        : `${name} ${version} is up, and tried beside ${previous}${linked}: windjammer canary show ${name}`,
    );
  } finally {
    progress.clear();
  }
}

/** Whether its application may have to say what it takes. */
function mayBeSilent(path: string, options: DeployOptions): boolean {
  return options.inputType === undefined && (options.command !== undefined || path.endsWith('.py'));
}

/** A file is a module, which is started once, as a program is; any other folder is a model's. @throws CommandError */
function runsInProcess(path: string, options: DeployOptions): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandError(`there is no file and no folder ${path}`);
  return found.isFile() || options.command !== undefined;
}

async function outgoingFiles(
  path: string,
  isProcess: boolean,
  options: ProcessOptions,
): Promise<OutgoingBundle | undefined> {
  const { outgoingBundle } = await import('../bundles/index.js');
  return outgoingBundle(
    isProcess ? { kind: 'process', ...processTrial(path, options) } : { kind: 'kernelModel', path },
  );
}

interface CheckedModel {
  readonly inputType: InputType;
  readonly containerName: string;
  /** As of a trial. */
  readonly onlyHere?: string | undefined;
}

async function checked(
  path: string,
  isProcess: boolean,
  files: OutgoingBundle | undefined,
  options: DeployOptions,
  inputType: InputType | undefined,
): Promise<CheckedModel> {
  if (!isProcess) {
    const { loadKernelModel } = await import('../../containers/models/index.js');
    return { inputType: loadKernelModel(path).manifest.inputs[0].type, containerName: KERNEL_MODEL };
  }
  const source = processTrial(path, options);
  const { hello, onlyHere } = await tryAsSent(source, files, options.upload === true, inputType);
  return { inputType: hello.inputType, containerName: `windjammer/${source.kind}`, onlyHere };
}

async function currentVersion(management: ManagementClient, name: string): Promise<string | undefined> {
  const models = await management.models();
  return models.find((one) => one.model_name === name && one.is_current_version)?.model_version;
}

/** Waits until the version answers. @returns one of its replicas. @throws CommandError with why there is none. */
async function firstReplica(
  management: ManagementClient,
  { name, version, waitSeconds, canary }: DeployOptions,
  progress: ProgressLine,
  previous: string | undefined,
): Promise<ContainerAnswer> {
  const endMs = performance.now() + waitSeconds * 1000;
  const advice =
    canary !== undefined
      ? `version ${previous} answers; give it up with: windjammer canary abort ${name}`
      : previous === undefined
        ? `remove it with: windjammer model delete ${name} ${version}`
        : `version ${previous} goes on if it was up; roll back with: windjammer model set-version ${name} ${previous}`;
  for (;;) {
    const containers = await management.containers();
    const replicas = containers.filter((one) => one.model_name === name && one.model_version === version);
    const up = replicas.find(({ state }) => state === 'up');
    if (up !== undefined) {
      const { is_serving_version: answers, is_current_version: isCurrent } = await management.model(
        name,
        version,
      );
      // Somebody may have chosen another one meanwhile.
      if (answers || !isCurrent) return up;
    }
    const failure = replicas.find(({ last_failure: reason }) => reason !== undefined)?.last_failure;
    if (replicas.every(({ state }) => state === 'down') && failure !== undefined) {
      throw new CommandError(`${name} ${version} is registered and does not start: ${failure}; ${advice}`);
    }
    if (performance.now() > endMs) {
      const waited = `${name} ${version} is registered and not up after ${waitSeconds} s`;
      throw new CommandError(`${waited}: ${failure ?? 'it is still starting'}; ${advice}`);
    }
    progress.show(`waiting for the first replica of ${name} ${version}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** @returns false when it was linked before: a new version of it is asked from its registration on. */
async function link(management: ManagementClient, application: string, model: string): Promise<boolean> {
  try {
    await management.addLinks(application, [model]);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'link_exists') return false;
    throw error;
  }
}
