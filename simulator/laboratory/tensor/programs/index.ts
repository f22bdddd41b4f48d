import { cardPlan, type CardPlan, type KernelFixture } from '../../kernels/index.js';
import { causalAttention, decodeAttention } from './attentionPrograms.js';
import { flashForward, gemmLayerNorm, implicitGemm } from './fusedPrograms.js';
import {
  batchedTransposed,
  gemmBytesPipelined,
  gemmDoubleMma,
  groupedGemm,
  streamK,
} from './gemmPrograms.js';
import {
  matrixMoves,
  mmaBits,
  mmaEighths,
  mmaHalf,
  mmaHalfAccumulate,
  mmaNibbles,
  mmaSparse,
  mmaTf32,
  pipelinedBfloat,
  splitK,
} from './mmaPrograms.js';
import { wmmaBfloat, wmmaBytes, wmmaColumns, wmmaDouble, wmmaHalf, wmmaTf32 } from './wmmaPrograms.js';

/** CUDA programs on tensor cores, as `simulator/laboratory/kernels` has others. */
export const tensorPrograms: readonly KernelFixture[] = [
  wmmaHalf,
  wmmaBfloat,
  wmmaTf32,
  wmmaDouble,
  wmmaBytes,
  wmmaColumns,
  mmaHalf,
  mmaHalfAccumulate,
  mmaEighths,
  mmaNibbles,
  mmaBits,
  mmaSparse,
  mmaTf32,
  splitK,
  pipelinedBfloat,
  matrixMoves,
  flashForward,
  implicitGemm,
  streamK,
  causalAttention,
  decodeAttention,
  gemmBytesPipelined,
  gemmDoubleMma,
  groupedGemm,
  gemmLayerNorm,
  batchedTransposed,
];

/** What the runner does for each; a program's PTX is named without its room. */
export function programPlans(): readonly CardPlan[] {
  return tensorPrograms.map((fixture) => {
    const plan = cardPlan(fixture);
    return { ...plan, ptx: plan.ptx.split('/').at(-1) ?? plan.ptx };
  });
}
