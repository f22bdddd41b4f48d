import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { DeviceProfile } from '../../simulator/gpu/index.js';
import {
  lowerModule,
  parseModule,
  PtxParseError,
  type IrFunction,
  type IrModule,
} from '../../simulator/ptx/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { HelloFrame } from '../protocol/index.js';
import { FieldError, deviceRegions, weightBytes, type DeviceRegion } from './deviceLayout.js';
import { deviceMisfits, type CardMisfits } from './deviceFit.js';
import { memoryNeeds, type MemoryNeeds } from './memoryNeeds.js';
import { fileSize } from './fileSize.js';
import { GOLDEN_FILE } from './manifest.js';
import { planLaunches } from './launchPlan.js';
import { fieldPath, manifestSchema, type KernelModelManifest } from './manifest.js';
import { checkManifest } from './manifestCheck.js';
import { ModelError } from './modelError.js';
import { readEncoding } from './encodingFile.js';
import type { InputEncoding } from './encoding/index.js';
import { packageRoot } from '../../simulator/files/index.js';

export const MANIFEST_FILE = 'manifest.json';

/** Of all modules of a model together: checking a MiB takes up to a second. */
const MAX_PTX_BYTES = 2 ** 20;
const MAX_MANIFEST_BYTES = 2 ** 20;

/** A kernel model read from its folder and checked: everything a GPU node needs to run it. */
export interface KernelModel {
  readonly folder: string;
  readonly manifest: KernelModelManifest;
  /** In the order of `manifest.modules`. */
  readonly modules: readonly { readonly name: string; readonly file: string; readonly ptx: string }[];
  /** Little-endian bytes, by the weight's name. */
  readonly weights: ReadonlyMap<string, Uint8Array>;
  readonly regions: readonly DeviceRegion[];
  /** Of one replica. */
  readonly memory: MemoryNeeds;
  /** Of the cards that were asked about. */
  readonly misfits: CardMisfits;
  /** How strings become what its kernels take. */
  readonly encoding?: InputEncoding;
  /** Where they were read with it. */
  readonly golden?: HelloFrame['golden'];
}

/** Models that come with the product, all of them of handwritten digits. */
export const BUILT_IN_MODELS = [
  'digits-logistic',
  'digits-mlp',
  'digits-linear-svm',
  'digits-rbf-svm',
  'digits-random-forest',
] as const;

export type BuiltInModel = (typeof BUILT_IN_MODELS)[number];

/** Folder of a model that comes with the product. */
export function builtInModelPath(name: BuiltInModel): string {
  return `containers/models/${name}`;
}

/**
 * Reads a model's folder and checks it whole.
 * @param path absolute, or relative to the package's root (as `builtInModelPath` gives it).
 * @param cards that `misfits` is to be told of
 * @throws ModelError naming the file and the field.
 */
export function loadKernelModel(path: string, cards: readonly DeviceProfile[] = []): KernelModel {
  const folder = isAbsolute(path) ? path : join(packageRoot(), path);
  const manifestFile = join(folder, MANIFEST_FILE);
  const manifest = readManifest(manifestFile);
  try {
    checkManifest(manifest);
    const modules = readModules(folder, manifestFile, manifest);
    const parsed = new Map(modules.map(({ name, file, ptx }) => [name, parse(file, ptx)]));
    checkKernels(manifest, parsed);
    const regions = deviceRegions(manifest);
    const misfits = [...deviceMisfits(manifest, parsed, cards)];
    const encoding = readEncoding(folder, manifest);
    return {
      ...(encoding === undefined ? {} : { encoding }),
      folder,
      manifest,
      modules,
      weights: readWeights(folder, manifestFile, manifest),
      regions,
      memory: memoryNeeds(regions, parsed.values()),
      misfits: Object.fromEntries(misfits.map(([card, { message }]) => [card, message])),
    };
  } catch (error) {
    throw asModelError(error, manifestFile);
  }
}

function asModelError(error: unknown, manifestFile: string): unknown {
  return error instanceof FieldError
    ? new ModelError('manifestInvalid', manifestFile, error.field, error.problem)
    : error;
}

/**
 * Every file that makes a kernel model what it is, the manifest first; golden inputs too, where it has them.
 * @param path of the model's folder, as in `loadKernelModel`.
 * @throws ModelError `manifestMissing` or `manifestInvalid`.
 */
export function kernelModelFiles(path: string): string[] {
  const folder = isAbsolute(path) ? path : join(packageRoot(), path);
  const { modules, weights, inputs } = loadManifest(path);
  const names = new Set([...modules, ...weights].map(({ file }) => file));
  for (const { encoding } of inputs) if (encoding !== undefined) names.add(encoding.file);
  if (existsSync(join(folder, GOLDEN_FILE))) names.add(GOLDEN_FILE);
  return [MANIFEST_FILE, ...[...names].sort()].map((name) => join(folder, name));
}

/**
 * The manifest alone: what a model takes and answers, without its weights and kernels.
 * @param path of the model's folder, as in `loadKernelModel`.
 * @throws ModelError `manifestMissing` or `manifestInvalid`.
 */
export function loadManifest(path: string): KernelModelManifest {
  return readManifest(join(isAbsolute(path) ? path : join(packageRoot(), path), MANIFEST_FILE));
}

/**
 * What one replica of a model takes, by its manifest and its kernels alone.
 * @param path of the model's folder, as in `loadKernelModel`.
 * @throws ModelError naming the file and the field.
 */
export function replicaNeeds(path: string): MemoryNeeds {
  const folder = isAbsolute(path) ? path : join(packageRoot(), path);
  const manifestFile = join(folder, MANIFEST_FILE);
  const manifest = readManifest(manifestFile);
  try {
    const modules = readModules(folder, manifestFile, manifest);
    return memoryNeeds(
      deviceRegions(manifest),
      modules.map(({ file, ptx }) => parse(file, ptx)),
    );
  } catch (error) {
    throw asModelError(error, manifestFile);
  }
}

/** @throws ModelError `manifestMissing` or `manifestInvalid`. */
export function readManifest(file: string): KernelModelManifest {
  let text: string;
  try {
    if (fileSize(file) > MAX_MANIFEST_BYTES) throw new Error('more than 1 MiB');
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ModelError('manifestMissing', file, undefined, `cannot be read (${reasonOf(error)})`, {
      cause: error,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ModelError('manifestInvalid', file, undefined, `not JSON: ${reasonOf(error)}`);
  }
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ModelError('manifestInvalid', file, fieldPath(issue.path) || undefined, issue.message);
}

function readModules(
  folder: string,
  manifestFile: string,
  manifest: KernelModelManifest,
): KernelModel['modules'] {
  let left = MAX_PTX_BYTES;
  return manifest.modules.map(({ name, file: fileName }, index) => {
    const field = `modules[${index}].file`;
    const file = join(folder, fileName);
    const bytes = readFile(file, manifestFile, field, left);
    left -= bytes.length;
    return { name, file, ptx: new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes) };
  });
}

function readWeights(
  folder: string,
  manifestFile: string,
  manifest: KernelModelManifest,
): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, { bytes: Uint8Array; described: number }>();
  const weights = new Map<string, Uint8Array>();
  manifest.weights.forEach((weight, index) => {
    const field = `weights[${index}]`;
    const path = join(folder, weight.file);
    let file = files.get(path);
    if (file === undefined) {
      file = { bytes: readFile(path, manifestFile, `${field}.file`), described: 0 };
      files.set(path, file);
    }
    const bytes = weightBytes(manifest, index);
    const end = weight.offsetBytes + bytes;
    if (end > file.bytes.length) {
      throw new ModelError(
        'weightsInvalid',
        path,
        field,
        `'${weight.name}' takes bytes ${weight.offsetBytes} to ${end}, the file has ${file.bytes.length}`,
      );
    }
    file.described += bytes;
    weights.set(weight.name, file.bytes.subarray(weight.offsetBytes, end));
  });
  for (const [path, { bytes, described }] of files) {
    if (described !== bytes.length) {
      throw new ModelError(
        'weightsInvalid',
        path,
        'weights',
        `the file has ${bytes.length} bytes, the manifest describes ${described}`,
      );
    }
  }
  return weights;
}

function parse(file: string, ptx: string): IrModule {
  try {
    return lowerModule(parseModule(ptx, file));
  } catch (error) {
    if (error instanceof PtxParseError) throw new ModelError('moduleInvalid', file, undefined, error.message);
    throw error;
  }
}

/** Every launch must find its kernel, and pass what the kernel takes. */
function checkKernels(manifest: KernelModelManifest, modules: ReadonlyMap<string, IrModule>): void {
  planLaunches(manifest, 1).forEach((launch, index) => {
    const field = `launches[${index}]`;
    const module = modules.get(launch.module);
    if (module === undefined)
      throw new FieldError(`${field}.module`, `there is no module '${launch.module}'`);
    const kernel = module.functions.find(({ name, isEntry }) => isEntry && name === launch.kernel);
    if (kernel === undefined) {
      const names = module.functions.filter(({ isEntry }) => isEntry).map(({ name }) => name);
      throw new ModelError(
        'moduleInvalid',
        module.file,
        `${field}.kernel`,
        `there is no kernel '${launch.kernel}', only ${names.join(', ')}`,
      );
    }
    if (kernel.refusal !== undefined) {
      const { line, instruction, reason } = kernel.refusal;
      throw new ModelError(
        'moduleInvalid',
        module.file,
        `${field}.kernel`,
        `'${kernel.name}' cannot run: line ${line}, ${instruction}: ${reason}`,
      );
    }
    checkParameters(kernel, launch.layout, module.file, `${field}.arguments`);
  });
}

function checkParameters(
  kernel: IrFunction,
  layout: readonly { readonly offset: number; readonly bytes: number }[],
  file: string,
  field: string,
): void {
  const { parameters, name } = kernel;
  if (parameters.length !== layout.length) {
    throw new ModelError(
      'moduleInvalid',
      file,
      field,
      `'${name}' takes ${parameters.length} arguments, the manifest passes ${layout.length}`,
    );
  }
  parameters.forEach((parameter, index) => {
    const { offset, bytes } = layout[index];
    if (parameter.offset === offset && parameter.bytes === bytes) return;
    throw new ModelError(
      'moduleInvalid',
      file,
      `${field}[${index}]`,
      `'${name}' takes ${parameter.type} of ${parameter.bytes} bytes, the manifest passes ${bytes} bytes`,
    );
  });
}

function readFile(
  path: string,
  manifestFile: string,
  field: string,
  mostBytes = Number.POSITIVE_INFINITY,
): Uint8Array {
  try {
    const size = fileSize(path);
    if (size > mostBytes)
      throw new ModelError(
        'moduleInvalid',
        manifestFile,
        field,
        `${path} has ${size} bytes, and a model's PTX may have ${MAX_PTX_BYTES} in all`,
      );
    // A plain copy: a Buffer's own slice shares its pool.
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError('fileMissing', manifestFile, field, `${path} cannot be read (${reasonOf(error)})`, {
      cause: error,
    });
  }
}
