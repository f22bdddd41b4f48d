import type { IrModule } from '../ir.js';
import { lowerCalls } from './calls/index.js';
import { contractModule } from './contraction.js';
import { lowerMatrices } from './matrices/index.js';
import { lowerSurfaces } from './surfaces.js';
import { dropUnusedTexels } from './unusedTexels.js';

/** What became of a module, so that it is lowered once, however often it is loaded, and stays the same object. */
const known = new WeakMap<IrModule, IrModule>();

/**
 * A module as it is executed: what a compiler for a card does to a PTX text before it runs, as far as results can tell. A
 * lowered module is its own lowering.
 */
export function lowerModule(ir: IrModule): IrModule {
  let lowered = known.get(ir);
  if (lowered === undefined) {
    lowered = lowerMatrices(lowerCalls(dropUnusedTexels(lowerSurfaces(contractModule(ir)))));
    known.set(ir, lowered);
    known.set(lowered, lowered);
  }
  return lowered;
}

/** Takes a copy of a module that was lowered elsewhere for what it is. */
export function takeLowered(ir: IrModule): void {
  known.set(ir, ir);
}
