import { ELEMENT_BYTES, type InputForm } from '../protocol/index.js';
import { DEVICE_ELEMENT_BYTES, type KernelModelManifest } from './manifest.js';
import { ExpressionError, parseExpression, type Scope } from './expression.js';

/** A piece of device memory that launches point at by name. */
export interface DeviceRegion {
  readonly name: string;
  /** Weights are there once a replica; the others once a batch in flight. */
  readonly kind: 'input' | 'weight' | 'buffer' | 'output';
  /** At the largest batch. */
  readonly bytes: number;
}

/** What went wrong in one field of the manifest, before the file's name is known. */
export class FieldError extends Error {
  override readonly name = 'FieldError';

  constructor(
    readonly field: string,
    readonly problem: string,
  ) {
    super(`${field}: ${problem}`);
  }
}

export function scopeOf(manifest: KernelModelManifest, batch: number): Scope {
  return new Map([...Object.entries(manifest.constants), ['batch', batch]]);
}

/** Evaluates one expression of the manifest. @throws FieldError. */
export function evaluateField(source: string | number, scope: Scope, field: string): number {
  try {
    return parseExpression(source).evaluate(scope);
  } catch (error) {
    if (error instanceof ExpressionError) throw new FieldError(field, error.message);
    throw error;
  }
}

/** Elements of a shape. @throws FieldError. */
export function elementsOf(shape: readonly (string | number)[], scope: Scope, field: string): number {
  return shape.reduce<number>((product, extent, index) => {
    const value = evaluateField(extent, scope, `${field}[${index}]`);
    if (value < 1) throw new FieldError(`${field}[${index}]`, `must be at least 1, is ${value}`);
    const grown = product * value;
    if (!Number.isSafeInteger(grown)) throw new FieldError(field, 'the product of the extents is too large');
    return grown;
  }, 1);
}

/** Elements of one item of the input. */
export function inputLength(manifest: KernelModelManifest): number {
  return elementsOf(manifest.inputs[0].shape, itemScope(manifest), 'inputs[0].shape');
}

/** What the manifest declares of the model's input. */
export function inputForm(manifest: KernelModelManifest): InputForm {
  const { type, minimum, maximum, missing, encoding } = manifest.inputs[0];
  if (encoding !== undefined)
    return encoding.columns === undefined ? { type } : { type, columns: encoding.columns };
  const length = inputLength(manifest);
  if (minimum === undefined && maximum === undefined && missing === undefined) return { type, length };
  const range = {
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(missing === undefined ? {} : { missing }),
  };
  return { type, length, range };
}

/** Bytes of one item of the input, as the device has it: of strings doubles. */
export function inputItemBytes(manifest: KernelModelManifest): number {
  const { type } = manifest.inputs[0];
  return inputLength(manifest) * ELEMENT_BYTES[type === 'strings' ? 'doubles' : type];
}

/** Elements of one item of the named output. */
export function outputLength(manifest: KernelModelManifest, name: string): number {
  const index = manifest.outputs.findIndex((output) => output.name === name);
  if (index < 0) throw new FieldError('outputs', `there is no output '${name}'`);
  return elementsOf(manifest.outputs[index].shape, itemScope(manifest), `outputs[${index}].shape`);
}

/** Bytes of one weight tensor. */
export function weightBytes(manifest: KernelModelManifest, index: number): number {
  const weight = manifest.weights[index];
  const elements = elementsOf(weight.shape, itemScope(manifest), `weights[${index}].shape`);
  return elements * DEVICE_ELEMENT_BYTES[weight.element];
}

/** Every region that launches may name, sized for the largest batch. @throws FieldError. */
export function deviceRegions(manifest: KernelModelManifest): readonly DeviceRegion[] {
  const largest = scopeOf(manifest, manifest.maxBatchSize);
  return [
    ...manifest.inputs.map(({ name }) => ({
      name,
      kind: 'input' as const,
      bytes: manifest.maxBatchSize * inputItemBytes(manifest),
    })),
    ...manifest.weights.map(({ name }, index) => ({
      name,
      kind: 'weight' as const,
      bytes: weightBytes(manifest, index),
    })),
    ...manifest.buffers.map(({ name, element, shape }, index) => ({
      name,
      kind: 'buffer' as const,
      bytes: elementsOf(shape, largest, `buffers[${index}].shape`) * DEVICE_ELEMENT_BYTES[element],
    })),
    ...manifest.outputs.map(({ name, element }) => ({
      name,
      kind: 'output' as const,
      bytes: manifest.maxBatchSize * outputLength(manifest, name) * DEVICE_ELEMENT_BYTES[element],
    })),
  ];
}

/** Constants only: what an item or a weight is must not depend on the batch. */
function itemScope(manifest: KernelModelManifest): Scope {
  return new Map(Object.entries(manifest.constants));
}
