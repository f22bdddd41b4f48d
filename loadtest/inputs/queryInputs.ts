import { createHash } from 'node:crypto';
import type { InputForm } from '../../containers/protocol/index.js';
import { KeyedDraw } from '../../selection/index.js';
import { encodeInput } from '../../services/frontend/index.js';
import { LoadError, type Arrival } from '../trace/index.js';
import type { InputPool } from './inputPool.js';

/** What a query asks, and what should be answered. */
export interface AskedInput {
  /** As bytes of the application's input type. */
  readonly input: Uint8Array;
  /** The true output, when it is known. */
  readonly label: string | undefined;
}

/** The inputs of a trace's arrivals: their own, or one that is drawn by seed and number, the same wherever the trace is run. */
export class QueryInputs {
  private readonly draw: KeyedDraw;

  constructor(seed: number) {
    this.draw = new KeyedDraw(seed);
  }

  /** @throws LoadError naming the arrival. */
  of(arrival: Arrival, number: number, form: InputForm, pool: InputPool): AskedInput {
    if (arrival.input !== undefined) {
      const input = encodeInput(form, arrival.input, 'input');
      if (input instanceof Error) throw new LoadError(arrival.where, input.message, { cause: input });
      return { input, label: arrival.label };
    }
    // What came twice in the recording comes twice again.
    const key = arrival.inputHash === undefined ? number : hashNumber(arrival.inputHash);
    const sample = this.sampleOf(arrival, pool.size, key);
    return { input: pool.input(sample, key), label: arrival.label ?? pool.label(sample) };
  }

  private sampleOf({ sample, where }: Arrival, size: number, number: number): number {
    if (sample !== undefined && sample >= size) {
      const are = size === 0 ? 'this application has none: give --inputs' : `there are 0 to ${size - 1}`;
      throw new LoadError(where, `there is no sample ${sample}: ${are}`);
    }
    if (sample !== undefined || size === 0) return sample ?? 0;
    return Math.floor(this.draw.of(`sample ${number}`)() * size);
  }
}

/** A whole number for a text, below 2^44: inputs that are made have room for that. */
function hashNumber(text: string): number {
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 11), 16);
}
