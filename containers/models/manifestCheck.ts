import {
  FieldError,
  deviceRegions,
  elementsOf,
  inputLength,
  outputLength,
  scopeOf,
  weightBytes,
} from './deviceLayout.js';
import { planLaunches } from './launchPlan.js';
import type { KernelModelManifest } from './manifest.js';
import { memoryNeeds } from './memoryNeeds.js';

/** What the schema cannot see: names, sizes and limits that must agree. @throws FieldError naming the field. */
export function checkManifest(manifest: KernelModelManifest): void {
  if (manifest.gpus !== 1) {
    throw new FieldError('gpus', `a replica over ${manifest.gpus} GPUs is not supported yet, use 1`);
  }
  if ('batch' in manifest.constants)
    throw new FieldError('constants.batch', 'batch is the size of the batch');
  checkNames(manifest);
  const length = inputLength(manifest);
  const { minimum, maximum } = manifest.inputs[0];
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    throw new FieldError('inputs[0].minimum', `${minimum} is above the maximum, ${maximum}`);
  }
  checkInputTensors(manifest, length);
  if (length > 0x7fffffff) throw new FieldError('inputs[0].shape', `${length} elements are too many`);
  manifest.weights.forEach((_, index) => weightBytes(manifest, index));
  checkAnswer(manifest);
  checkMemory(manifest);
  // Sizes may depend on the batch in any way; both ends catch most mistakes before the first query does.
  for (const batch of [1, manifest.maxBatchSize]) {
    const scope = scopeOf(manifest, batch);
    manifest.buffers.forEach(({ shape }, index) => elementsOf(shape, scope, `buffers[${index}].shape`));
    planLaunches(manifest, batch);
  }
}

function checkNames(manifest: KernelModelManifest): void {
  const regions = new Map<string, string>();
  for (const list of ['inputs', 'weights', 'buffers', 'outputs'] as const) {
    manifest[list].forEach(({ name }, index) => {
      const field = `${list}[${index}].name`;
      const earlier = regions.get(name);
      if (earlier !== undefined) throw new FieldError(field, `'${name}' is taken by ${earlier}`);
      regions.set(name, field);
    });
  }
  const modules = new Set<string>();
  manifest.modules.forEach(({ name }, index) => {
    if (modules.has(name)) throw new FieldError(`modules[${index}].name`, `'${name}' is taken`);
    modules.add(name);
  });
  manifest.launches.forEach((launch, index) => {
    const field = `launches[${index}]`;
    if (!modules.has(launch.module)) {
      throw new FieldError(`${field}.module`, `there is no module '${launch.module}', ${choices(modules)}`);
    }
    launch.arguments.forEach((argument, place) => {
      if ('pointer' in argument && !regions.has(argument.pointer)) {
        throw new FieldError(
          `${field}.arguments[${place}].pointer`,
          `nothing is named '${argument.pointer}', ${choices(regions.keys())}`,
        );
      }
    });
  });
}

function checkAnswer(manifest: KernelModelManifest): void {
  const { answer } = manifest;
  const outputs = manifest.outputs.map(({ name }) => name);
  const known = (name: string, field: string): void => {
    if (!outputs.includes(name))
      throw new FieldError(field, `there is no output '${name}', ${choices(outputs)}`);
  };
  if (answer.kind === 'tensors') {
    checkTensors(manifest, answer.outputs, known);
    return;
  }
  known(answer.output, 'answer.output');
  if (answer.kind === 'values') return;
  if (answer.kind === 'label') {
    if (answer.scores !== undefined) known(answer.scores, 'answer.scores');
    const values = outputLength(manifest, answer.output);
    if (values === 1) return;
    throw new FieldError('answer.output', `'${answer.output}' has ${values} values, a label is one`);
  }
  const length = outputLength(manifest, answer.output);
  if (answer.labels.length !== length) {
    throw new FieldError(
      'answer.labels',
      `${answer.labels.length} labels for the ${length} values of '${answer.output}'`,
    );
  }
  if (answer.scores === undefined) return;
  known(answer.scores, 'answer.scores');
}

/** Each is there, and has a name of its own in the answer. */
function checkTensors(
  manifest: KernelModelManifest,
  outputs: readonly string[],
  known: (name: string, field: string) => void,
): void {
  const names = new Set<string>();
  outputs.forEach((output, index) => {
    const field = `answer.outputs[${index}]`;
    known(output, field);
    const name = manifest.outputs.find((one) => one.name === output)?.tensor?.name ?? output;
    if (names.has(name)) throw new FieldError(field, `two outputs are named '${name}'`);
    names.add(name);
  });
}

/** Tensors that an item is put together of must be all of it. */
function checkInputTensors({ inputs }: KernelModelManifest, width: number): void {
  const { tensors, encoding } = inputs[0];
  if (tensors === undefined) return;
  // Of strings they are the columns.
  const length = encoding === undefined ? width : (encoding.columns?.length ?? 1);
  const elements = tensors.reduce(
    (sum, { shape }) => sum + shape.reduce((product, extent) => product * extent, 1),
    0,
  );
  if (elements !== length) {
    throw new FieldError('inputs[0].tensors', `they have ${elements} elements, the input has ${length}`);
  }
  const twice = tensors.find(
    ({ name }, index) => tensors.findIndex((other) => other.name === name) !== index,
  );
  if (twice !== undefined) throw new FieldError('inputs[0].tensors', `two tensors are named '${twice.name}'`);
}

function checkMemory(manifest: KernelModelManifest): void {
  const { arrayBytes: bytes } = memoryNeeds(deviceRegions(manifest), []);
  const limit = manifest.limits.deviceBytes;
  if (bytes > limit) {
    throw new FieldError('limits.deviceBytes', `the model needs ${bytes} bytes, its limit is ${limit}`);
  }
}

function choices(names: Iterable<string>): string {
  const list = [...names];
  return list.length === 0 ? 'and there are none' : `only ${list.join(', ')}`;
}
