export {
  encodeTensorMap,
  TENSOR_MAP_ALIGN,
  TENSOR_MAP_BYTES,
  TensorMapError,
  type TensorMap,
} from './tensorMap.js';
