import type { InputForm } from '../../containers/protocol/index.js';
import { PIXELS } from '../../containers/models/index.js';
import { LoadError } from '../trace/index.js';
import { DigitSamples } from './digitSamples.js';
import { FileInputs } from './fileInputs.js';
import type { InputPool } from './inputPool.js';
import { MadeInputs } from './madeInputs.js';

export interface PoolRequest {
  readonly seed: number;
  /** A file of inputs. */
  readonly inputs?: string | undefined;
  /** Share of queries that repeat a sample exactly. */
  readonly repeats?: number | undefined;
}

/**
 * Where the inputs of one application come from.
 * @param applications that are asked beside it, it included
 * @throws LoadError naming the option at fault
 */
export function poolFor(form: InputForm, request: PoolRequest, applications: number): InputPool {
  const { inputs, repeats, seed } = request;
  const isDigits = form.type === 'floats' && form.length === PIXELS;
  if (repeats !== undefined && (inputs !== undefined || (!isDigits && applications === 1))) {
    throw new LoadError('--repeats', 'it is for the digits that come with the product: leave it out');
  }
  if (inputs === undefined) {
    return isDigits ? new DigitSamples(repeats ?? 0, seed) : new MadeInputs(form, seed);
  }
  if (applications > 1) {
    throw new LoadError(
      '--inputs',
      'it is for one application: choose one with --app, or put an input column into the trace',
    );
  }
  return new FileInputs(inputs, form);
}
