import type { KernelFixture } from './kernelFixture.js';
import { clampImage } from './elementwise/clampImage.js';
import { gelu } from './elementwise/gelu.js';
import { pitchedRows } from './elementwise/pitchedRows.js';
import { quantise } from './elementwise/quantise.js';
import { saxpy } from './elementwise/saxpy.js';
import { blockArgmax } from './reductions/blockArgmax.js';
import { kahanSum } from './reductions/kahanSum.js';
import { lastBlockSum } from './reductions/lastBlockSum.js';
import { reduxSync } from './reductions/reduxSync.js';
import { treeSum } from './reductions/treeSum.js';
import { twoPassSum } from './reductions/twoPassSum.js';
import { warpSum } from './reductions/warpSum.js';
import { blellochScan } from './scans/blellochScan.js';
import { hillisSteele } from './scans/hillisSteele.js';
import { lookbackScan } from './scans/lookbackScan.js';
import { segmentedScan } from './scans/segmentedScan.js';
import { warpScan } from './scans/warpScan.js';
import { bitonicSort } from './sorts/bitonicSort.js';
import { mergeSort } from './sorts/mergeSort.js';
import { oddEvenMerge } from './sorts/oddEvenMerge.js';
import { radixPass } from './sorts/radixPass.js';
import { batchedGemm } from './gemm/batchedGemm.js';
import { doubleGemm } from './gemm/doubleGemm.js';
import { halfGemm } from './gemm/halfGemm.js';
import { int8Gemm } from './gemm/int8Gemm.js';
import { naiveGemm } from './gemm/naiveGemm.js';
import { registerGemm } from './gemm/registerGemm.js';
import { tiledGemm } from './gemm/tiledGemm.js';
import { depthwise } from './convolution/depthwise.js';
import { filter1d } from './convolution/filter1d.js';
import { tiled2d } from './convolution/tiled2d.js';
import { flashHead } from './attention/flashHead.js';
import { layerNorm } from './attention/layerNorm.js';
import { rotary } from './attention/rotary.js';
import { softmaxRows } from './attention/softmaxRows.js';
import { cooperativeHeat } from './stencils/cooperativeHeat.js';
import { gameOfLife } from './stencils/gameOfLife.js';
import { heat2d } from './stencils/heat2d.js';
import { stencil3d } from './stencils/stencil3d.js';
import { bellmanFord } from './graph/bellmanFord.js';
import { bfsFrontier } from './graph/bfsFrontier.js';
import { components } from './graph/components.js';
import { pageRank } from './graph/pageRank.js';
import { cooAtomics } from './sparse/cooAtomics.js';
import { csrScalar } from './sparse/csrScalar.js';
import { csrVector } from './sparse/csrVector.js';
import { ellSpmv } from './sparse/ellSpmv.js';
import { globalHistogram } from './histogram/globalHistogram.js';
import { sharedHistogram } from './histogram/sharedHistogram.js';
import { warpHistogram } from './histogram/warpHistogram.js';
import { hashTable32 } from './hashTables/hashTable32.js';
import { hashTable64 } from './hashTables/hashTable64.js';
import { lockedBuckets } from './hashTables/lockedBuckets.js';
import { boxMuller } from './random/boxMuller.js';
import { philox } from './random/philox.js';
import { sobol } from './random/sobol.js';
import { xorshift } from './random/xorshift.js';
import { bfloatNorm } from './half/bfloatNorm.js';
import { barrierPipeline } from './async/barrierPipeline.js';
import { bulkCopies } from './async/bulkCopies.js';
import { halfAxpy } from './half/halfAxpy.js';
import { halfReduction } from './half/halfReduction.js';
import { bigIntegers } from './wide/bigIntegers.js';
import { ackermann } from './calls/ackermann.js';
import { functionTable } from './calls/functionTable.js';
import { printReport } from './calls/printReport.js';
import { quickSort } from './calls/quickSort.js';
import { recursionZoo } from './calls/recursionZoo.js';
import { structCalls } from './calls/structCalls.js';
import { virtualShapes } from './calls/virtualShapes.js';
import { compaction } from './mixed/compaction.js';
import { constantTables } from './mixed/constantTables.js';
import { fft } from './mixed/fft.js';
import { kMeans } from './mixed/kMeans.js';
import { luBlocks } from './mixed/luBlocks.js';
import { mandelbrot } from './mixed/mandelbrot.js';
import { nearestNeighbours } from './mixed/nearestNeighbours.js';
import { raySpheres } from './mixed/raySpheres.js';
import { sharedArrays } from './mixed/sharedArrays.js';
import { stringSearch } from './mixed/stringSearch.js';
import { structParameters } from './mixed/structParameters.js';
import { transpose } from './mixed/transpose.js';

export { cardPlan } from './card/cardPlan.js';
export type { CardResults } from './card/cardResults.js';
export { keepCardResults } from './card/keepCardResults.js';
export type { CardPlan } from './card/cardPlan.js';
export { firstDifference } from './difference.js';
export { kernelFixture } from './kernelFixture.js';
export { fromBfloat, fromHalf, toBfloat, toHalf } from './numerics.js';
export { hash, integers, permutation, randomBytes, uniform, uniformDoubles, words } from './seededInputs.js';
export {
  bytesOf,
  FIXTURE_BACKING_BYTES,
  PlacedFixture,
  referenceResult,
  runFixture,
  type FixtureResult,
  type KernelRunner,
} from './fixtureRun.js';
export type {
  Bound,
  Buffers,
  FixtureArgument,
  FixtureLaunch,
  HostArray,
  KernelFixture,
  OutputRule,
} from './kernelFixture.js';

/** Every CUDA program of the room, by family. */
export const kernelFixtures: readonly KernelFixture[] = [
  clampImage,
  gelu,
  pitchedRows,
  quantise,
  saxpy,
  blockArgmax,
  kahanSum,
  lastBlockSum,
  reduxSync,
  treeSum,
  twoPassSum,
  warpSum,
  blellochScan,
  hillisSteele,
  lookbackScan,
  segmentedScan,
  warpScan,
  bitonicSort,
  mergeSort,
  oddEvenMerge,
  radixPass,
  batchedGemm,
  doubleGemm,
  halfGemm,
  int8Gemm,
  naiveGemm,
  registerGemm,
  tiledGemm,
  depthwise,
  filter1d,
  tiled2d,
  flashHead,
  layerNorm,
  rotary,
  softmaxRows,
  cooperativeHeat,
  gameOfLife,
  heat2d,
  stencil3d,
  bellmanFord,
  bfsFrontier,
  components,
  pageRank,
  cooAtomics,
  csrScalar,
  csrVector,
  ellSpmv,
  globalHistogram,
  sharedHistogram,
  warpHistogram,
  hashTable32,
  hashTable64,
  lockedBuckets,
  boxMuller,
  philox,
  sobol,
  xorshift,
  bfloatNorm,
  barrierPipeline,
  bulkCopies,
  halfAxpy,
  halfReduction,
  bigIntegers,
  ackermann,
  functionTable,
  printReport,
  quickSort,
  recursionZoo,
  structCalls,
  virtualShapes,
  compaction,
  constantTables,
  fft,
  kMeans,
  luBlocks,
  mandelbrot,
  nearestNeighbours,
  raySpheres,
  sharedArrays,
  stringSearch,
  structParameters,
  transpose,
];
