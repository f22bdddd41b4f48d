import { fittedModel, type TileForm } from '../../../tensor/index.js';
import type { Library } from '../library/index.js';
import { doubleChain, doubleChainScratch, exactChain } from './doubleChain.js';
import { exactFused, exactFusedScratch } from './exactFused.js';
import { fusedVectors, fusedVectorsScratch } from './fusedVectors.js';
import { integerVectors, integerVectorsScratch } from './integerVectors.js';
import { quadProducts, quadScratch } from './quadProducts.js';

/**
 * A warp's matrix product as a function of a module: (words, result, scratch) → (), three addresses. Words are those of
 * `computeTile`: A, B, C and of a sparse form 32 of metadata, unit `register * 32 + lane` of each; D is left in the same way, to the
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
  if (form.kind === 'wgmma') throw new RangeError(`${form.name} is computed by four warps`);
  const model = fittedModel(form);
  const { name } = form;
  const exactName = `exact ${name}`;
  switch (model.kind) {
    case 'fused':
      return {
        scratchBytes: Math.max(exactFusedScratch(form), fusedVectorsScratch(form)),
        index: (library) => {
          const exact = library.once(exactName, () => exactFused(form, model));
          return library.once(name, () => fusedVectors(form, model, library, exact));
        },
      };
    case 'integer':
      return {
        scratchBytes: integerVectorsScratch(form),
        index: (library) => library.once(name, () => integerVectors(form)),
      };
    case 'chain':
      return {
        scratchBytes: doubleChainScratch(form),
        index: (library) => {
          const exact = library.once(exactName, () => exactChain(form, library));
          return form.rounding === 'rn' && library.fusesMultiplyAdd
            ? library.once(name, () => doubleChain(form, exact))
            : exact;
        },
      };
    case 'scalar':
      return {
        scratchBytes: quadScratch,
        index: (library) => library.once(name, () => quadProducts(form, model)),
      };
  }
}
