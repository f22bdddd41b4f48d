import { MAX_FRAME_BYTES, type BatchItem, type ItemResult } from '../../protocol/index.js';
import type { StrayRejections } from './strayRejections.js';

const MAX_MESSAGE_LENGTH = 1000;
/** A longer output would take others' answers with it: a frame holds those of a batch. */
const MAX_OUTPUT_LENGTH = MAX_FRAME_BYTES / 4;

/**
 * Each output, or why there is none, once it is there. Where something is rejected meanwhile that nobody waits for, those that are not
 * there may never be: they are undecided, but for one that is asked by itself.
 */
export async function settled(
  items: readonly BatchItem[],
  outputs: readonly unknown[],
  strays: StrayRejections,
): Promise<ItemResult[]> {
  const results: (ItemResult | undefined)[] = outputs.map(() => undefined);
  const each = outputs.map(async (output, index) => {
    const { id } = items[index];
    try {
      // Whatever has `then`, and not only the language's own promises.
      results[index] = resultOf(id, await output);
    } catch (error) {
      results[index] = failed(id, messageOf(error));
    }
  });
  let why = '';
  try {
    await strays.during(() => Promise.all(each));
  } catch (error) {
    why = messageOf(error);
  }
  const code = items.length === 1 ? 'modelError' : 'undecided';
  return results.map((result, index) => result ?? failed(items[index].id, why, code));
}

export function cancelled(id: number): ItemResult {
  return { id, ok: false, code: 'cancelled', message: 'cancelled before it began' };
}

/** Of what a model gave for an input: its answer, or an error that stands in its place. */
export function resultOf(id: number, value: unknown): ItemResult {
  try {
    if (value instanceof Error) return failed(id, messageOf(value));
    if (!isScored(value)) return { id, ok: true, output: checkedTextOf(value) };
    // A score that is no number becomes NaN, which answers show as null.
    return { id, ok: true, output: checkedTextOf(value.output), scores: Float32Array.from(value.scores) };
  } catch (error) {
    return failed(id, messageOf(error));
  }
}

/** Whether it has to be waited for. */
export function isThenable(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  try {
    return typeof (value as { readonly then?: unknown }).then === 'function';
  } catch {
    return false;
  }
}

function isScored(value: unknown): value is { readonly output: unknown; readonly scores: ArrayLike<number> } {
  if (typeof value !== 'object' || value === null || !('output' in value) || !('scores' in value))
    return false;
  return Object.keys(value).length === 2 && typeof value.scores === 'object' && value.scores !== null;
}

function checkedTextOf(value: unknown): string {
  const text = textOf(value);
  if (text.length <= MAX_OUTPUT_LENGTH) return text;
  throw new Error(
    `the model gave an output of ${text.length} characters: at most ${MAX_OUTPUT_LENGTH} can be`,
  );
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

export function failed(
  id: number,
  message: string,
  code: 'modelError' | 'undecided' = 'modelError',
): ItemResult {
  return { id, ok: false, code, message: message.slice(0, MAX_MESSAGE_LENGTH) };
}

export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return 'something was thrown that has no text';
  }
}
