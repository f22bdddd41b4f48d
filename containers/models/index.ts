export { predictions, type DigitModel } from './evaluation/digitModel.js';
export { plainEvaluation, type Evaluation, type PlainEvaluator } from './evaluation/plainEvaluation.js';
export type { CardMisfits } from './deviceFit.js';
export {
  deviceRegions,
  inputForm,
  inputItemBytes,
  inputLength,
  outputLength,
  type DeviceRegion,
} from './deviceLayout.js';
export { InputEncoder, sampleTexts, type InputEncoding, type Scalar } from './encoding/index.js';
export { ExpressionError, parseExpression, type Expression, type Scope } from './expression.js';
export { goldenSample, loadGolden, type GoldenCase, type GoldenSet } from './golden.js';
export {
  IMPORT_INPUT_TYPES,
  importBoosted,
  importOnnx,
  importSklearn,
  writeModelFolder,
  type BoostedLibrary,
  type ImportInputType,
  type ImportedModel,
  type OnnxImportOptions,
  type SklearnImportOptions,
} from './import/index.js';
export {
  BUILT_IN_MODELS,
  builtInModelPath,
  loadKernelModel,
  kernelModelFiles,
  loadManifest,
  replicaNeeds,
  type BuiltInModel,
  type KernelModel,
} from './kernelModel.js';
export { bindPointers, planLaunches, type PlannedLaunch } from './launchPlan.js';
export {
  DATATYPES,
  GOLDEN_FILE,
  manifestSchema,
  type KernelModelManifest,
  type NamedTensor,
  type ManifestAnswer,
  type ManifestInput,
} from './manifest.js';
export {
  BATCHES_IN_FLIGHT,
  memoryNeeds,
  REPLICA_BACKING_BYTES,
  replicaBytes,
  type MemoryNeeds,
} from './memoryNeeds.js';
export { ModelError, type ModelErrorCode } from './modelError.js';
export { degradedModels } from './training/degradedModels.js';
export { forestEnsemble } from './training/forestEnsemble.js';
export { digitModels } from './training/digitModels.js';
export {
  PIXELS,
  digitAt,
  heldOutDigits,
  loadDigits,
  type DigitSet,
  type DigitSplit,
} from './training/digits.js';
