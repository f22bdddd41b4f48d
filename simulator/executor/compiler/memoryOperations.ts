import { isSignedType, typeBits, type ScalarType } from '../../ptx/index.js';
import type { OpName } from '../wasm/index.js';

export function loadName(type: ScalarType): OpName {
  if (type === 'f32') return 'f32Load';
  if (type === 'f64') return 'f64Load';
  switch (typeBits(type)) {
    case 8:
      return isSignedType(type) ? 'i32Load8S' : 'i32Load8U';
    case 16:
      return isSignedType(type) ? 'i32Load16S' : 'i32Load16U';
    case 64:
      return 'i64Load';
    default:
      return 'i32Load';
  }
}

export function storeName(type: ScalarType): OpName {
  if (type === 'f32') return 'f32Store';
  if (type === 'f64') return 'f64Store';
  switch (typeBits(type)) {
    case 8:
      return 'i32Store8';
    case 16:
      return 'i32Store16';
    case 64:
      return 'i64Store';
    default:
      return 'i32Store';
  }
}
