import {
  ELEMENT_BYTES,
  type BatchItem,
  type InputType,
  type ItemResult,
  type PredictFrame,
} from '../../protocol/index.js';
import { cancelled, settled } from './itemResults.js';
import type { LoadedModel } from './loadedModel.js';
import { PredictCalls } from './predictCalls.js';
import { StrayRejections } from './strayRejections.js';

// A leading U+FEFF is part of the input.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** What became of a batch. */
export interface BatchAnswer {
  readonly results: readonly ItemResult[];
  /** Calls of `predict` that it took; 0 where inputs are asked one by one, and none can spoil another's answer. */
  readonly calls: number;
}

/** Runs batches through a user's model, one after the other. */
export class BatchAnswers {
  private readonly calls: PredictCalls | undefined;
  private readonly strays = new StrayRejections();

  constructor(private readonly model: LoadedModel) {
    const { predict, inputType } = model;
    if (predict !== undefined) {
      this.calls = new PredictCalls(
        (inputs) => predict(inputs),
        (bytes) => inputOf(inputType, bytes),
        () => performance.now() * 1e6,
        this.strays,
      );
    }
  }

  /** A promise was rejected that nobody waits for. */
  onStray(reason: unknown): void {
    this.strays.onRejection(reason);
  }

  /** One result an item. Never throws. */
  async answer(
    { items, isSuspect }: Pick<PredictFrame, 'items' | 'isSuspect'>,
    isCancelled: (id: number) => boolean,
  ): Promise<BatchAnswer> {
    const refused: ItemResult[] = [];
    const open: BatchItem[] = [];
    for (const item of items) {
      const { id, bytes } = item;
      const refusal = lengthRefusal(this.model, bytes);
      if (isCancelled(id)) refused.push(cancelled(id));
      else if (refusal !== undefined) refused.push({ id, ok: false, code: 'invalidInput', message: refusal });
      else open.push(item);
    }
    const { predictOne, inputType } = this.model;
    if (open.length === 0) return { results: refused, calls: 0 };
    if (predictOne !== undefined) {
      // An async function: what is thrown before its first await is a rejection, too.
      const one = async ({ bytes }: BatchItem): Promise<unknown> =>
        await predictOne(inputOf(inputType, bytes));
      return { results: [...refused, ...(await settled(open, open.map(one), this.strays))], calls: 0 };
    }
    const answer = await this.calls?.answer(open, isCancelled, isSuspect);
    return { results: [...refused, ...(answer?.results ?? [])], calls: answer?.calls ?? 0 };
  }
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
