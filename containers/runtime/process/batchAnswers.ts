import { ELEMENT_BYTES, type BatchItem, type InputType, type ItemResult } from '../../protocol/index.js';
import type { LoadedModel } from './loadedModel.js';

const MAX_MESSAGE_LENGTH = 1000;
// A leading U+FEFF is part of the input.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Runs a batch through a model: one result an item. Never throws. */
export async function answersOf(
  model: LoadedModel,
  items: readonly BatchItem[],
  isCancelled: (id: number) => boolean,
): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  const ids: number[] = [];
  const inputs: unknown[] = [];
  for (const { id, bytes } of items) {
    const refusal = lengthRefusal(model, bytes);
    if (isCancelled(id))
      results.push({ id, ok: false, code: 'cancelled', message: 'cancelled before it began' });
    else if (refusal !== undefined) results.push({ id, ok: false, code: 'invalidInput', message: refusal });
    else {
      ids.push(id);
      inputs.push(inputOf(model.inputType, bytes));
    }
  }
  if (ids.length > 0) results.push(...(await run(model, ids, inputs)));
  return results;
}

async function run(
  { predict, predictOne }: LoadedModel,
  ids: readonly number[],
  inputs: readonly unknown[],
): Promise<ItemResult[]> {
  if (predictOne !== undefined) {
    // An async function: what is thrown before its first await is a rejection, too.
    const one = async (input: unknown): Promise<unknown> => await predictOne(input);
    return settled(ids, inputs.map(one));
  }
  let failure: string;
  try {
    const outputs = await predict?.(inputs);
    if (Array.isArray(outputs) && outputs.length === ids.length) {
      // Of inputs.map(async …).
      if (outputs.some((output) => output instanceof Promise)) return await settled(ids, outputs);
      return ids.map((id, index) => resultOf(id, outputs[index]));
    }
    failure = Array.isArray(outputs)
      ? `predict gave ${outputs.length} outputs for ${ids.length} inputs`
      : `predict gave no array but ${outputs === null ? 'null' : typeof outputs}`;
  } catch (error) {
    failure = messageOf(error);
  }
  return ids.map((id) => failed(id, failure));
}

/** Each output, or why there is none, once it is there. */
async function settled(ids: readonly number[], outputs: readonly unknown[]): Promise<ItemResult[]> {
  const ends = await Promise.allSettled(outputs);
  return ends.map((end, index) =>
    end.status === 'fulfilled' ? resultOf(ids[index], end.value) : failed(ids[index], messageOf(end.reason)),
  );
}

function lengthRefusal({ inputType, inputLength }: LoadedModel, bytes: Uint8Array): string | undefined {
  const length = bytes.length / ELEMENT_BYTES[inputType];
  if (!Number.isInteger(length)) return `${bytes.length} bytes are no ${inputType}`;
  if (inputLength === undefined) return undefined;
  // A text's length is counted in characters, as a model sees it.
  const found = inputType === 'strings' ? decoder.decode(bytes).length : length;
  return found === inputLength ? undefined : `the model takes ${inputLength} values, the input has ${found}`;
}

function inputOf(inputType: InputType, bytes: Uint8Array): unknown {
  if (inputType === 'strings') return decoder.decode(bytes);
  // A copy of its own: aligned, and the model's to keep or change.
  const own = Uint8Array.from(bytes);
  switch (inputType) {
    case 'integers':
      return new Int32Array(own.buffer);
    case 'bytes':
      return own;
    case 'floats':
      return new Float32Array(own.buffer);
    case 'doubles':
      return new Float64Array(own.buffer);
  }
}

function resultOf(id: number, value: unknown): ItemResult {
  try {
    if (!isScored(value)) return { id, ok: true, output: textOf(value) };
    // A score that is no number becomes NaN, which answers show as null.
    return { id, ok: true, output: textOf(value.output), scores: Float32Array.from(value.scores) };
  } catch (error) {
    return failed(id, messageOf(error));
  }
}

function isScored(value: unknown): value is { readonly output: unknown; readonly scores: ArrayLike<number> } {
  if (typeof value !== 'object' || value === null || !('output' in value) || !('scores' in value))
    return false;
  return Object.keys(value).length === 2 && typeof value.scores === 'object' && value.scores !== null;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  // What JSON has no word for comes back as undefined, which its type does not say.
  const text = JSON.stringify(value, withoutViews) as string | undefined;
  if (text === undefined) throw new Error(`the model gave an output that is no JSON: ${typeof value}`);
  return text;
}

/** A typed array is a list; JSON.stringify would make an object of it. */
function withoutViews(_key: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value as unknown as ArrayLike<number>)
    : value;
}

function failed(id: number, message: string): ItemResult {
  return { id, ok: false, code: 'modelError', message: message.slice(0, MAX_MESSAGE_LENGTH) };
}

export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return 'something was thrown that has no text';
  }
}
