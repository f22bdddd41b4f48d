import type { FunctionBuilder } from '../../../wasm/index.js';
import { CLUSTER_RANK_SHIFT } from '../../memory/index.js';
import { RECORD } from '../area/index.js';
import type { KernelPlan } from './kernelPlan.js';

/** Pushes the address of a variable or parameter: in its window, or where the launch has put it. */
export function pushSymbolAddress(
  f: FunctionBuilder,
  plan: KernelPlan,
  name: string,
  offset: number,
  type: 'i32' | 'i64',
): void {
  const shared = plan.sharedLayout.offsets.get(name);
  if (shared !== undefined && plan.meetsInCluster) {
    f.area().memory('i32Load', RECORD.clusterRank).i32(CLUSTER_RANK_SHIFT).op('i32Shl');
    f.i32(shared + offset).op('i32Add');
    if (type === 'i64') f.op('i64ExtendI32U');
    return;
  }
  const inBlock =
    shared ??
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
