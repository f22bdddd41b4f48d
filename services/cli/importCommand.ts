import { readFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  IMPORT_INPUT_TYPES,
  importBoosted,
  importOnnx,
  importSklearn,
  writeModelFolder,
  type BoostedLibrary,
  type ImportInputType,
  type ImportedModel,
  type KernelModel,
  type KernelModelManifest,
} from '../../containers/models/index.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';

const MAX_BATCH = 4096;

interface ImportOptions {
  readonly out: string;
  readonly name?: string;
  readonly maxBatch: number;
  readonly json?: boolean;
}

interface SklearnOptions extends ImportOptions {
  readonly inputType: ImportInputType;
}

interface BoostedOptions extends SklearnOptions {
  readonly labels?: readonly string[];
}

interface OnnxOptions extends ImportOptions {
  readonly inputShape?: readonly number[];
  readonly extents?: Readonly<Record<string, number>>;
  readonly labels?: readonly string[];
  readonly values?: boolean;
  readonly whole?: boolean;
}

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description('make a model folder of a trained model, onto kernels that are there already');
  withCommonOptions(
    command
      .command('sklearn')
      .description('a scikit-learn classifier, as containers/models/import/sklearnExport.py wrote it')
      .argument('<export>', 'the JSON file of sklearnExport.py'),
  )
    .addOption(inputTypeOption())
    .action(importFromSklearn);
  addBoosted(command, 'xgboost', 'the JSON that XGBoost saves: save_model("model.json")');
  addBoosted(command, 'lightgbm', 'the JSON of LightGBM: json.dumps(booster.dump_model())');
  withCommonOptions(
    command
      .command('onnx')
      .description('an ONNX file of the operators in docs/reference/onnx.md')
      .argument('<model>', 'the .onnx file'),
  )
    .option('--input-shape <extents>', 'shape of one query, without the batch, such as 1,28,28', shapeOption)
    .option(
      '--extents <names>',
      'how long extents are that the file leaves open, such as sequence_length=128',
      extentsOption,
    )
    .option('--labels <labels>', "what the output's values stand for, such as cat,dog", labelsOption)
    .option('--whole', 'one query is all that the graph takes: its first extent is no batch')
    .option('--values', "answer the output's values instead of the label of the largest")
    .action(importFromOnnx);
}

function addBoosted(command: Command, library: BoostedLibrary, what: string): void {
  withCommonOptions(command.command(library).description(what).argument('<model>', 'the JSON file'))
    .addOption(inputTypeOption())
    .option('--labels <labels>', 'the classes in order, such as cat,dog', labelsOption)
    .action((path: string, options: BoostedOptions) => {
      const { inputType, labels, maxBatch, name } = options;
      write(
        importBoosted(library, textOf(path), path, {
          name: name ?? basename(path, extname(path)),
          inputType,
          maxBatchSize: maxBatch,
          ...(labels === undefined ? {} : { labels }),
        }),
        options,
      );
    });
}

function inputTypeOption(): Option {
  return new Option(
    '--input-type <type>',
    'what the model takes; it computes in double precision in any case',
  )
    .choices(IMPORT_INPUT_TYPES)
    .default('doubles');
}

function textOf(path: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: false }).decode(readInput(path));
}

function withCommonOptions(command: Command): Command {
  return command
    .requiredOption('--out <folder>', 'the folder to write; an earlier import there is replaced')
    .option('--name <name>', "the model's name")
    .option('--max-batch <size>', 'the largest batch', wholeNumber(1, MAX_BATCH), 256)
    .option('--json', 'print what was written as JSON');
}

function importFromSklearn(path: string, options: SklearnOptions): void {
  const { inputType, maxBatch, name } = options;
  write(
    importSklearn(textOf(path), path, {
      inputType,
      maxBatchSize: maxBatch,
      ...(name === undefined ? {} : { name }),
    }),
    options,
  );
}

function importFromOnnx(path: string, options: OnnxOptions): void {
  const { inputShape, extents, labels, values, whole, maxBatch, name } = options;
  write(
    importOnnx(readInput(path), path, {
      name: name ?? basename(path, extname(path)),
      maxBatchSize: maxBatch,
      folder: dirname(path),
      ...(inputShape === undefined ? {} : { inputShape }),
      ...(extents === undefined ? {} : { extents }),
      ...(labels === undefined ? {} : { labels }),
      ...(values === undefined ? {} : { answersValues: values }),
      ...(whole === undefined ? {} : { isWhole: whole }),
    }),
    options,
  );
}

function write(model: ImportedModel, { out, json }: ImportOptions): void {
  let written: KernelModel;
  try {
    written = writeModelFolder(model, resolve(out));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CommandError(`cannot write to ${out}: ${error.message}; name another folder with --out`, {
      cause: error,
    });
  }
  const { manifest, folder } = written;
  const [input] = manifest.inputs;
  const summary = {
    folder,
    name: manifest.name,
    description: manifest.description,
    inputType: input.type,
    inputShape: input.shape,
    inputColumns: input.encoding?.columns,
    labels: 'labels' in manifest.answer ? manifest.answer.labels : undefined,
    launches: manifest.launches.map(({ kernel }) => kernel),
    weightBytes: model.weights.length,
    goldenCases: model.golden?.cases.length ?? 0,
  };
  process.stdout.write(
    json === true
      ? `${JSON.stringify(summary)}\n`
      : `${folder}\n` +
          `  ${summary.name}: ${summary.description}\n` +
          `  takes ${takenText(input)}, answers ${summary.labels?.join(', ') ?? 'values'}\n` +
          `  ${summary.launches.length} launches (${summary.launches.join(', ')}), ${summary.weightBytes} bytes of weights, ` +
          `${summary.goldenCases} golden inputs\n` +
          `  try it: windjammer test ${out}\n`,
  );
}

function takenText({ type, shape, encoding }: KernelModelManifest['inputs'][number]): string {
  if (encoding === undefined) return `${type} of shape [${shape.join(', ')}]`;
  const { columns } = encoding;
  return columns === undefined ? `${type}, a text each` : `${type}, rows of ${columns.join(', ')}`;
}

function readInput(path: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function shapeOption(text: string): number[] {
  const extents = text.split(/[,x]/).map(Number);
  if (extents.every((extent) => Number.isSafeInteger(extent) && extent > 0)) return extents;
  throw new InvalidArgumentError('expected whole numbers from 1 with commas between, such as 1,28,28.');
}

function extentsOption(text: string): Record<string, number> {
  const pairs = text.split(',').map((pair): [string, number] => {
    const at = pair.lastIndexOf('=');
    return [pair.slice(0, at).trim(), Number(pair.slice(at + 1))];
  });
  if (pairs.every(([name, extent]) => name !== '' && Number.isSafeInteger(extent) && extent > 0))
    return Object.fromEntries(pairs);
  throw new InvalidArgumentError(
    'expected names and whole numbers from 1, such as sequence_length=128,channels=3.',
  );
}

function labelsOption(text: string): string[] {
  const labels = text.split(',').map((label) => label.trim());
  if (labels.every((label) => label !== '') && new Set(labels).size === labels.length) return labels;
  throw new InvalidArgumentError('expected different labels with commas between, such as cat,dog.');
}
