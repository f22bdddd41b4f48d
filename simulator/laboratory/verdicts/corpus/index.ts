export { bodyModule, bodyText, corpusBodies, type CorpusBody } from './bodies.js';
export { drawInstance, type CorpusInstance } from './instanceGenerator.js';
export { FAMILIES, type Family, type KernelManifest } from './manifest.js';
export { KERNELS } from './manifests/index.js';
export { PLANS, type Plan } from './placement.js';
export { APPLICATIONS, runApplication, type Application, type ApplicationInstance } from './applications.js';
export { corpusInstance, instanceCount, instanceDigest } from './corpusInstances.js';
export {
  corpusDigest,
  frozenLabels,
  labelBody,
  labelledBodies,
  labelOf,
  type BodyLabels,
  type KernelLabel,
  type Label,
} from './labels.js';
export { kernelNeeds, type KernelNeeds } from './needs.js';
export {
  evaluate,
  evaluationTable,
  type Contradiction,
  type Evaluation,
  type EvaluationOptions,
  type FamilyResult,
  type InstanceVerdict,
  type Validation,
} from './evaluation.js';
