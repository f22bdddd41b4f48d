import type { IrFunction, IrModule } from '../ir.js';

/** A module with its functions changed, those that are refused apart; the same object where none was. */
export function eachFunction(ir: IrModule, change: (fn: IrFunction) => IrFunction): IrModule {
  const functions = ir.functions.map((fn) => (fn.refusal === undefined ? change(fn) : fn));
  return functions.every((fn, index) => fn === ir.functions[index]) ? ir : { ...ir, functions };
}
