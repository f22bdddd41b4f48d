import type { ChainModel, FusedModel, IntegerModel } from './parameters.js';

/** What all published findings for these cards agree on. */
const common: FusedModel = {
  kind: 'fused',
  blockLength: 16,
  dealing: 'neighbours',
  blockOrder: 'ascending',
  accumulator: 'fused',
  fractionBits: 25,
  alignment: 'unnormalised',
  zeroProducts: 'ignored',
  cut: 'truncate',
  rounding: 'rz',
  resultBits: 23,
  between: 'result',
  narrowing: 'atOnce',
  overflow: 'infinity',
  subnormalInputs: 'kept',
  subnormalResults: 'kept',
  tf32: 'truncated',
  eighths: 'own',
  zeroSign: 'positive',
  nan: 'allOnes',
};

/**
 * Parameters that others found.
 * - V100: Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021: blocks of
 *   4, no bits beyond those of the result, terms truncated, normalised once a block.
 * - A100: the same paper and Li et al., "FTTN: feature-targeted testing for numerical properties of NVIDIA and AMD matrix accelerators",
 *   2024: blocks of 8 (4 of tf32) and one bit more.
 * - H100 and H200: FTTN, and Khattak and Mikaitis, "Accurate models of NVIDIA tensor cores", arXiv:2512.07004, 2025: blocks of 16 and two
 *   bits more. Xie et al., "MMA-Sim", arXiv:2511.10909, 2025: a block is 32 bytes of a row (16 f16, 8 tf32, 32 eighths), 25 fraction bits;
 *   eighths of `wgmma`, and of Ada's `mma`, 13 bits and results of 13, those of Hopper's `mma` as f16.
 * - All: results of f32 are truncated, results of f16 rounded to nearest.
 */
export const published = {
  v100: { ...common, blockLength: 4, fractionBits: 23 },
  a100: { ...common, blockLength: 8, fractionBits: 24 },
  a100Tf32: { ...common, blockLength: 4, fractionBits: 24 },
  h100: common,
  h100Tf32: { ...common, blockLength: 8 },
  h100Eighths: { ...common, blockLength: 32 },
  adaEighths: { ...common, blockLength: 16, fractionBits: 13, resultBits: 13 },
  wgmmaEighths: { ...common, blockLength: 32, fractionBits: 13, resultBits: 13 },
} as const satisfies Readonly<Record<string, FusedModel>>;

/** A model for results of f16, which all cards round to nearest. */
export function forHalfResults(model: FusedModel): FusedModel {
  return { ...model, rounding: 'rn' };
}

export const doubleChain: ChainModel = {
  kind: 'chain',
  blockLength: 1,
  order: 'ascending',
  accumulator: 'first',
  nan: 'payload',
};

export const exactIntegers: IntegerModel = { kind: 'integer', clamping: 'end', blockLength: 32 };
