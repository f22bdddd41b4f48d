import { pathToFileURL } from 'node:url';
import { INPUT_TYPES, type InputType } from '../../protocol/index.js';
import { DEFAULT_MAX_BATCH_SIZE, isWhole, LARGEST_MAX_BATCH_SIZE } from './modelBounds.js';

type Call = (argument: unknown) => unknown;

/** A user's model, checked. */
export interface LoadedModel {
  readonly inputType: InputType;
  readonly inputLength: number | undefined;
  readonly maxBatchSize: number;
  readonly predict: Call | undefined;
  readonly predictOne: Call | undefined;
  readonly close: (() => unknown) | undefined;
}

/** Loads a module's default export and calls its `load`. @throws Error that says what is wrong with it. */
export async function loadModel(path: string): Promise<LoadedModel> {
  const exported = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  const model = instanceOf(defaultOf(exported));
  const { inputType, inputLength, maxBatchSize = DEFAULT_MAX_BATCH_SIZE } = model;
  if (!INPUT_TYPES.includes(inputType as InputType)) {
    throw new Error(`inputType: ${shown(inputType)}, expected one of ${INPUT_TYPES.join(', ')}`);
  }
  if (inputLength !== undefined && !isWhole(inputLength, 0xffff_ffff)) {
    throw new Error(`inputLength: ${shown(inputLength)}, expected a whole number from 1`);
  }
  if (!isWhole(maxBatchSize, LARGEST_MAX_BATCH_SIZE)) {
    throw new Error(
      `maxBatchSize: ${shown(maxBatchSize)}, expected a whole number from 1 to ${LARGEST_MAX_BATCH_SIZE}`,
    );
  }
  const predict = method(model, 'predict');
  const predictOne = method(model, 'predictOne');
  if (predict === undefined && predictOne === undefined) {
    throw new Error('the default export has neither predict nor predictOne');
  }
  const load = method(model, 'load');
  const close = method(model, 'close');
  await load?.(undefined);
  return {
    inputType: inputType as InputType,
    inputLength,
    maxBatchSize,
    predict,
    predictOne,
    close: close && (() => close(undefined)),
  };
}

/** CommonJS that a compiler has made of an ECMAScript module has its default export one level deeper. */
function defaultOf({ default: found }: { readonly default?: unknown }): unknown {
  const isCompiled =
    typeof found === 'object' && found !== null && '__esModule' in found && 'default' in found;
  return isCompiled ? found.default : found;
}

function instanceOf(exported: unknown): Record<string, unknown> {
  if (typeof exported === 'function') {
    return new (exported as new () => Record<string, unknown>)();
  }
  if (typeof exported === 'object' && exported !== null) return exported as Record<string, unknown>;
  throw new Error('the module has no default export that is a model: an object or a class with predict');
}

function method(model: Record<string, unknown>, name: string): Call | undefined {
  const found = model[name];
  if (found === undefined) return undefined;
  if (typeof found !== 'function') throw new Error(`${name}: ${shown(found)}, expected a function`);
  return (argument) => (found as (this: unknown, argument: unknown) => unknown).call(model, argument);
}

function shown(value: unknown): string {
  return typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value));
}
