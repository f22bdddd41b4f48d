export { MATH_FUNCTIONS, PAIR_FUNCTIONS } from '../import/onnx/functions.js';
export { ProtobufReader } from '../import/onnx/protobuf.js';
export { readOnnx, readOnnxTensor, type OnnxTensor } from '../import/onnx/onnxModel.js';
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
export * from '../training/images/index.js';
