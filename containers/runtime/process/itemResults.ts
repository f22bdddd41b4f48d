import type { BatchItem, ItemResult } from '../../protocol/index.js';

const MAX_MESSAGE_LENGTH = 1000;

/** Each output, or why there is none, once it is there. */
export async function settled(
  items: readonly BatchItem[],
  outputs: readonly unknown[],
): Promise<ItemResult[]> {
  const ends = await Promise.allSettled(outputs);
  return ends.map((end, index) =>
    end.status === 'fulfilled'
      ? resultOf(items[index].id, end.value)
      : failed(items[index].id, messageOf(end.reason)),
  );
}

export function cancelled(id: number): ItemResult {
  return { id, ok: false, code: 'cancelled', message: 'cancelled before it began' };
}

/** Of what a model gave for an input: its answer, or an error that stands in its place. */
export function resultOf(id: number, value: unknown): ItemResult {
  if (value instanceof Error) return failed(id, messageOf(value));
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
