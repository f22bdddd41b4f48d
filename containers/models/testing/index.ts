export { MATH_FUNCTIONS, PAIR_FUNCTIONS } from '../import/onnx/functions.js';
export { ProtobufReader } from '../import/onnx/protobuf.js';
export { readOnnx, readOnnxTensor, type OnnxTensor } from '../import/onnx/onnxModel.js';
export * from '../training/images/index.js';
