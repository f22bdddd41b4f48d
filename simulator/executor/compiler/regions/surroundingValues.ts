import type { FunctionBuilder } from '../../../wasm/index.js';
import { pushSymbolAddress, type KernelPlan } from '../plan/index.js';
import type { SurroundingValues } from '../scalar/index.js';
import { pushSpecialRegister, type ThreadLocals } from './specialRegisters.js';

/** What instructions of a thread read that is no register. @param fuel i64 local with what the block may still spend */
export function surroundingValues(
  f: FunctionBuilder,
  plan: KernelPlan,
  thread: ThreadLocals,
  fuel: number,
): SurroundingValues {
  return {
    pushSpecial: (name) => pushSpecialRegister(f, name, thread, { fuel }),
    pushSymbol: (name, offset, type) => {
      pushSymbolAddress(f, plan, name, offset, type);
    },
  };
}
