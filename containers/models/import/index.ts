export { importBoosted, type BoostedImportOptions, type BoostedLibrary } from './boosted/boostedImport.js';
export { IMPORT_INPUT_TYPES, type ImportInputType } from './modelDraft.js';
export { writeModelFolder, type ImportedModel } from './modelFolder.js';
export { importOnnx, type OnnxImportOptions } from './onnx/onnxImport.js';
export { importSklearn, type SklearnImportOptions } from './sklearn/sklearnImport.js';
