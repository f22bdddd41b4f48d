export {
  ImageDrafter,
  planeShapes,
  type ImageDesign,
  type ImageLayer,
  type PlaneShape,
} from './imageDesign.js';
export {
  imageProbabilities,
  trainImageNetwork,
  type ImageNetwork,
  type ImagePlan,
  type LayerWeights,
} from './imageNetwork.js';
export { imageNetworkSpec } from './imageOnnx.js';
export { imageWeightBytes, withImageWeights } from './imageWeights.js';
export {
  message,
  onnxFile,
  tensorFields,
  type BranchAttribute,
  type Field,
  type ListAttribute,
  type ModelSpec,
  type NodeSpec,
  type TensorSpec,
} from './onnxWriter.js';
