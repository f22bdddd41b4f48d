export { MATH_FUNCTIONS, PAIR_FUNCTIONS } from '../import/onnx/functions.js';
export { readOnnx, readOnnxTensor, type OnnxTensor } from '../import/onnx/onnxModel.js';
