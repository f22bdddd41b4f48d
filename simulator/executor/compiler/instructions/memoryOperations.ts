import { isFloatType, isSignedType, typeBits, type IrOperand, type ScalarType } from '../../../ptx/index.js';
import { LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH, SHARED_WINDOW_HIGH } from '../../memory/index.js';
import type { OpName } from '../../../wasm/index.js';
import type { AccessSpace } from './instructionClass.js';
import { wasmTypeOf } from './registerTypes.js';

/** High words of generic addresses by state space; addresses of others are their own. */
export const WINDOW_HIGHS: Readonly<Partial<Record<AccessSpace, number>>> = {
  shared: SHARED_WINDOW_HIGH,
  local: LOCAL_WINDOW_HIGH,
  param: PARAM_WINDOW_HIGH,
};

/** The type to move memory bits as, so that a float register is loaded and stored as a float. */
export function registerView(
  operand: IrOperand | undefined,
  type: ScalarType,
  typeOf: (register: number) => ScalarType,
): ScalarType {
  const bits = typeBits(type);
  if (bits < 32) return type;
  if (operand?.kind === 'float') return bits === 32 ? 'f32' : 'f64';
  const held = operand?.kind === 'register' ? wasmTypeOf(typeOf(operand.register)) : undefined;
  if (bits === 32) return held === 'f32' ? 'f32' : isFloatType(type) ? 'b32' : type;
  return held === 'f64' ? 'f64' : isFloatType(type) ? 'b64' : type;
}

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
