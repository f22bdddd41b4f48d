import { fittedModel, type TileForm } from '../../../tensor/index.js';
import type { Library } from '../library/index.js';
import { fusedVectors, fusedVectorsScratch } from './fusedVectors.js';
import { integerVectors, integerVectorsScratch } from './integerVectors.js';
import { doubleChain, doubleChainScratch, exactChain } from './doubleChain.js';
import { exactFused, exactFusedScratch } from './exactFused.js';

/**
 * A warp's matrix product as a function of a module: (words, result, scratch) → (), three addresses. Words are those of
 * {@link computeTile}: A, B, C and of a sparse form 32 of metadata, unit `register * 32 + lane` of each; D is left in the same way, to the
 * bit of what `computeTile` makes of the form's fitted model. The three do not overlap.
 */
export interface TileFunction {
  /** Bytes that it may write at `scratch`; what is in them matters to no call. */
  readonly scratchBytes: number;
  /** The index to call it by; it and what it calls are added to the module once. */
  index(library: Library): number;
}

/** @throws RangeError of a form that a warp does not compute */
export function tileFunction(form: TileForm): TileFunction {
  const model = fittedModel(form);
  if (model.kind === 'integer')
    return {
      scratchBytes: integerVectorsScratch(form),
      index: (library) => library.once(form.name, () => integerVectors(form)),
    };
  if (model.kind === 'chain') {
    const exact = (library: Library): number =>
      library.once(`exact ${form.name}`, () => exactChain(form, library));
    return {
      scratchBytes: doubleChainScratch(form),
      index: (library) =>
        form.rounding === 'rn' && library.fusesMultiplyAdd
          ? library.once(form.name, () => doubleChain(form, exact(library)))
          : exact(library),
    };
  }
  if (model.kind !== 'fused') throw new RangeError(`no tile function of ${form.name}`);
  const exact = (library: Library): number =>
    library.once(`exact ${form.name}`, () => exactFused(form, model));
  const scratchBytes = exactFusedScratch(form);
  return {
    scratchBytes: Math.max(scratchBytes, fusedVectorsScratch(form)),
    index: (library) => {
      const slow = exact(library);
      return library.once(form.name, () => fusedVectors(form, model, library, slow));
    },
  };
}
