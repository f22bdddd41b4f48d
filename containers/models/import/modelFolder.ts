import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, packageRoot } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import { BATCHES_IN_FLIGHT } from '../memoryNeeds.js';
import {
  DEVICE_ELEMENT_BYTES,
  type KernelModelManifest,
  type ManifestAnswer,
  type NamedTensor,
} from '../manifest.js';
import type { InputEncoding } from '../encoding/index.js';
import type { GoldenFile } from '../golden.js';
import { GOLDEN_FILE } from '../manifest.js';
import { loadKernelModel, MANIFEST_FILE, type KernelModel } from '../kernelModel.js';
import { ModelError } from '../modelError.js';
import type { DraftEncoding, LibraryModule, ModelDraft, Tensor, WeightValues } from './modelDraft.js';

/** A model as imported, ready to be written: what its folder will hold. */
export interface ImportedModel {
  readonly manifest: KernelModelManifest;
  /** In the order of `manifest.weights`. */
  readonly weights: Uint8Array;
  readonly modules: readonly LibraryModule[];
  readonly golden: GoldenFile | undefined;
  /** Of a model of strings. */
  readonly encoding?: InputEncoding;
}

/** An output on the device, and what the source calls it. */
export interface ImportedOutput {
  readonly tensor: Tensor;
  readonly named?: NamedTensor;
}

/** What an import says of a model beside its layers. */
export interface ImportedModelDescription {
  readonly name: string;
  readonly description: string;
  readonly maxBatchSize: number;
  /** What an item is put together of, as the source calls it. */
  readonly inputs?: readonly NamedTensor[];
  readonly answer:
    | { readonly kind: 'values'; readonly output: ImportedOutput }
    | {
        readonly kind: 'argmax';
        readonly output: ImportedOutput;
        readonly labels: readonly string[];
        readonly scores: ImportedOutput;
      }
    | {
        readonly kind: 'label';
        readonly output: ImportedOutput;
        readonly labels?: readonly string[];
        readonly scores?: ImportedOutput;
      }
    | { readonly kind: 'tensors'; readonly outputs: readonly ImportedOutput[] };
  readonly golden?: GoldenFile;
}

const WEIGHTS_FILE = 'weights.bin';
const ENCODING_FILE = 'encoding.json';
const LIBRARY = 'containers/models/kernels';

/** Makes the manifest and the weights of a draft. */
export function finishModel(draft: ModelDraft, description: ImportedModelDescription): ImportedModel {
  const { answer } = description;
  const outputs = new Map(outputsOf(answer).map(({ tensor, named }) => [tensor, named]));
  const isOutput = (tensor: Tensor): boolean => outputs.has(tensor);
  const modules = [...new Set(draft.launches.map(({ module }) => module))];
  let offsetBytes = 0;
  const weights = draft.weights.map(({ name, values }) => {
    const weight = {
      name,
      element: elementOf(values),
      shape: [values.length],
      file: WEIGHTS_FILE,
      offsetBytes,
    };
    offsetBytes += values.byteLength;
    return weight;
  });
  const bytes = new Uint8Array(offsetBytes);
  draft.weights.forEach(({ values }, index) => {
    bytes.set(
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
      weights[index].offsetBytes,
    );
  });
  const perItem = [draft.input, ...draft.tensors].reduce(
    (sum, { element, width }) => sum + width * DEVICE_ELEMENT_BYTES[element],
    0,
  );
  const instructions = draft.launches.reduce((sum, launch) => sum + launch.instructions, 0);
  const manifest: KernelModelManifest = {
    manifestVersion: 1,
    name: description.name,
    description: description.description,
    gpus: 1,
    maxBatchSize: description.maxBatchSize,
    constants: {},
    inputs: [
      {
        name: draft.input.name,
        type: draft.encoding === undefined ? draft.inputType : 'strings',
        shape: [...draft.inputShape],
        ...(draft.encoding === undefined ? {} : { encoding: declaredEncoding(draft.encoding) }),
        ...(draft.takesMissing ? { missing: true as const } : {}),
        ...(description.inputs === undefined ? {} : { tensors: description.inputs.map(copyOf) }),
      },
    ],
    weights,
    buffers: draft.tensors
      .filter((tensor) => !isOutput(tensor))
      .map(({ name, element, width }) => ({ name, element, shape: ['batch', width] })),
    outputs: draft.tensors.filter(isOutput).map((tensor) => {
      const { name, element, width } = tensor;
      const named = outputs.get(tensor);
      return {
        name,
        element: element === 'u8' ? 'i32' : element,
        shape: [width],
        ...(named === undefined ? {} : { tensor: copyOf(named) }),
      };
    }),
    modules: modules.map((name) => ({ name, file: `${name}.ptx` })),
    launches: draft.launches.map((launch) => ({
      module: launch.module,
      kernel: launch.kernel,
      grid: [...launch.grid],
      block: [...launch.block],
      dynamicSharedBytes: launch.dynamicSharedBytes ?? 0,
      arguments: [...launch.arguments],
    })),
    answer: answerOf(answer),
    limits: {
      deviceBytes: bytes.length + BATCHES_IN_FLIGHT * description.maxBatchSize * perItem,
      // Room for what the estimate does not see, and still a bound.
      threadInstructionsPerQuery: Math.ceil((1.5 * instructions) / 10_000) * 10_000,
    },
  };
  return {
    manifest,
    weights: bytes,
    modules,
    golden: description.golden,
    ...(draft.encoding === undefined ? {} : { encoding: draft.encoding.encoding }),
  };
}

function declaredEncoding({
  columns,
}: DraftEncoding): KernelModelManifest['inputs'][number]['encoding'] & {} {
  return { file: ENCODING_FILE, ...(columns === undefined ? {} : { columns: [...columns] }) };
}

/**
 * Writes a model folder, and loads it again as a GPU node would.
 * @throws ModelError `importInvalid` when the folder holds something else, and whatever loading says.
 */
export function writeModelFolder(
  { manifest, weights, modules, golden, encoding }: ImportedModel,
  folder: string,
): KernelModel {
  if (existsSync(folder) && !existsSync(join(folder, MANIFEST_FILE)) && readdirSync(folder).length > 0) {
    throw new ModelError(
      'importInvalid',
      folder,
      undefined,
      'the folder holds something that is no model; name a new folder, or an earlier import to replace',
    );
  }
  const isNew = !existsSync(folder);
  // Within the folder: what it is renamed to lies on the same disk.
  const part = join(folder, `.${process.pid}.part`);
  try {
    makeDirectory(part);
    writeFileSync(join(part, WEIGHTS_FILE), weights);
    for (const module of modules) {
      copyFileSync(join(packageRoot(), LIBRARY, `${module}.ptx`), join(part, `${module}.ptx`));
    }
    if (encoding !== undefined) writeFileSync(join(part, ENCODING_FILE), `${JSON.stringify(encoding)}\n`);
    if (golden !== undefined) writeFileSync(join(part, GOLDEN_FILE), `${JSON.stringify(golden)}\n`);
    writeFileSync(join(part, MANIFEST_FILE), `${manifestText(manifest)}\n`);
    // An earlier import stays as it was unless all of this one is there, and sound.
    loadKernelModel(part);
    for (const file of [GOLDEN_FILE, ENCODING_FILE]) rmSync(join(folder, file), { force: true });
    // The manifest last: it says what the others are.
    const names = readdirSync(part).filter((name) => name !== MANIFEST_FILE);
    for (const name of [...names, MANIFEST_FILE]) renameSync(join(part, name), join(folder, name));
    rmSync(part, { recursive: true });
  } catch (error) {
    rmSync(isNew ? folder : part, { recursive: true, force: true });
    if (error instanceof ModelError) throw error;
    const reason = reasonOf(error);
    throw new ModelError('importInvalid', folder, undefined, `cannot be written (${reason})`);
  }
  return loadKernelModel(folder);
}

/** To be read by people, unless it is so long that it would not be read at all. */
function manifestText(manifest: KernelModelManifest): string {
  const text = JSON.stringify(manifest, undefined, 2);
  return text.length < 2 ** 19 ? text : JSON.stringify(manifest);
}

function outputsOf(answer: ImportedModelDescription['answer']): readonly ImportedOutput[] {
  switch (answer.kind) {
    case 'values':
      return [answer.output];
    case 'argmax':
      return [answer.output, answer.scores];
    case 'label':
      return answer.scores === undefined ? [answer.output] : [answer.output, answer.scores];
    case 'tensors':
      return answer.outputs;
  }
}

function answerOf(answer: ImportedModelDescription['answer']): ManifestAnswer {
  switch (answer.kind) {
    case 'values':
      return { kind: 'values', output: answer.output.tensor.name };
    case 'argmax':
      return {
        kind: 'argmax',
        output: answer.output.tensor.name,
        labels: [...answer.labels],
        scores: answer.scores.tensor.name,
      };
    case 'label':
      return {
        kind: 'label',
        output: answer.output.tensor.name,
        ...(answer.labels === undefined ? {} : { labels: [...answer.labels] }),
        ...(answer.scores === undefined ? {} : { scores: answer.scores.tensor.name }),
      };
    case 'tensors':
      return { kind: 'tensors', outputs: answer.outputs.map(({ tensor }) => tensor.name) };
  }
}

function copyOf({
  name,
  datatype,
  shape,
}: NamedTensor): KernelModelManifest['outputs'][number]['tensor'] & {} {
  return { name, datatype, shape: [...shape] };
}

function elementOf(values: WeightValues): 'f32' | 'f64' | 'i32' {
  if (values instanceof Float32Array) return 'f32';
  return values instanceof Float64Array ? 'f64' : 'i32';
}
