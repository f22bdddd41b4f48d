import { ELEMENT_BYTES, type HelloFrame, type ItemResult } from '../../../containers/protocol/index.js';
import { goldenProblem, inputBytes } from '../../../containers/runtime/index.js';
import type { ModelRecord } from '../../registry/index.js';

/** What a new replica is asked before it serves. */
export interface WarmUp {
  readonly batches: readonly (readonly Uint8Array[])[];
  /**
   * What is wrong with an answer, where the right one is known: such a replica does not serve. Without it nothing that
   * the replica answers keeps it down.
   */
  readonly problem?: (place: number, result: ItemResult) => string | undefined;
}

/** Of the batch between two single inputs: what is compiled for the first of each is compiled before it serves. */
const LARGEST_BATCH = 8;
/** Longer made-up inputs are not worth their memory. */
const MOST_INPUT_BYTES = 64 * 1024 * 1024;

/**
 * The model's golden inputs where it has them, or else a made-up one of the right length. A kernel model without golden
 * inputs is asked nothing: its container computes whole batches before it says hello. Nor is a container that dials in.
 * @returns undefined when there is nothing to warm up.
 * @throws Error when the golden inputs could not be read.
 */
export function warmUpInputs(model: ModelRecord, hello: HelloFrame): WarmUp | undefined {
  const { kind } = model.container;
  // Nobody knows how long an external container's inputs are, and Clipper's end themselves over one that they cannot take.
  if (model.warmUp === false || kind === 'constant' || kind === 'external') return undefined;
  if (model.container.kind === 'kernelModel') return goldenWarmUp(hello);
  const input = madeUpInput(model, hello);
  return input === undefined ? undefined : { batches: inBatches([input], hello) };
}

function goldenWarmUp(hello: HelloFrame): WarmUp | undefined {
  const { golden, inputType } = hello;
  if (golden === undefined) return undefined;
  if ('problem' in golden) throw new Error(golden.problem);
  const { tolerance } = golden;
  const cases = golden.cases.slice(0, LARGEST_BATCH);
  return {
    batches: inBatches(
      cases.map(({ input }) => inputBytes(inputType, input)),
      hello,
    ),
    problem: (place, result) => {
      const index = place % cases.length;
      const found = goldenProblem(cases[index], result, tolerance);
      return found === undefined ? undefined : `golden input ${index}: ${found}`;
    },
  };
}

/** The first alone, then all of them, as often as a batch has room, and the first alone again: that one is measured. */
function inBatches(inputs: readonly Uint8Array[], { maxBatchSize }: HelloFrame): Uint8Array[][] {
  const size = Math.min(LARGEST_BATCH, maxBatchSize);
  const batch = Array.from({ length: size }, (_, place) => inputs[place % inputs.length]);
  const single = batch.slice(0, 1);
  return size === 1 ? [single, single] : [single, batch, single];
}

function madeUpInput(model: ModelRecord, hello: HelloFrame): Uint8Array | undefined {
  const { inputType } = hello;
  const length = hello.inputLength ?? model.inputLength ?? 1;
  if (length * ELEMENT_BYTES[inputType] > MOST_INPUT_BYTES) return undefined;
  if (inputType === 'strings') return new TextEncoder().encode('a'.repeat(length));
  return new Uint8Array(length * ELEMENT_BYTES[inputType]);
}
