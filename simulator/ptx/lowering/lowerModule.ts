import type { IrModule } from '../ir.js';
import { contractModule } from './contraction.js';

/** A module as it is executed: what a compiler for a card does to a PTX text before it runs, as far as results can tell. */
export function lowerModule(ir: IrModule): IrModule {
  return contractModule(ir);
}
