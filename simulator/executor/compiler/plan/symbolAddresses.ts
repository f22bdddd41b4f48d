import type { FunctionBuilder } from '../../../wasm/index.js';
import type { KernelPlan } from './kernelPlan.js';

/** Pushes the address of a variable or parameter: in its window, or where the launch has put it. */
export function pushSymbolAddress(
  f: FunctionBuilder,
  plan: KernelPlan,
  name: string,
  offset: number,
  type: 'i32' | 'i64',
): void {
  const inBlock =
    plan.sharedLayout.offsets.get(name) ??
    plan.localLayout.offsets.get(name) ??
    plan.fn.parameters.find((parameter) => parameter.name === name)?.offset;
  if (inBlock !== undefined) {
    if (type === 'i64') f.i64(inBlock + offset);
    else f.i32(inBlock + offset);
    return;
  }
  f.area().memory('i64Load', plan.symbolAddress(name));
  if (offset !== 0) f.i64(offset).op('i64Add');
  if (type === 'i32') f.op('i32WrapI64');
}
