import { mmaForms } from './mmaForms.js';
import type { TileForm } from './tileForm.js';
import { wmmaForms } from './wmmaForms.js';

export { elementBits, floatFormat, floatFormats } from './elementTypes.js';
export type { ElementType, FloatFormat } from './elementTypes.js';
export type { Layout, Shape } from './fragments.js';
export { inMemory, inRegisters, ofMap, operandWords } from './operand.js';
export type { Operand } from './operand.js';
export type { NamedForm, Rounding, Sparsity, TileForm } from './tileForm.js';
export { shape } from './mmaForms.js';
export { wmmaFragment } from './wmmaFragments.js';
export { wmmaCarried, wmmaMatrix, wmmaRegisters } from './wmmaForms.js';

let makers: ReadonlyMap<string, () => Omit<TileForm, 'name'>> | undefined;
const made = new Map<string, TileForm>();

function named(): ReadonlyMap<string, () => Omit<TileForm, 'name'>> {
  return (makers ??= new Map([...mmaForms(), ...wmmaForms()]));
}

/** Names of all products of a warp that sm_90 has: opcode and modifiers, of a sparse one its selector behind a space. */
export function productNames(): readonly string[] {
  return [...named().keys()];
}

/** A warp's product by its name, with the fragments that lanes hold in registers; undefined where sm_90 has none. */
export function productForm(name: string): TileForm | undefined {
  let form = made.get(name);
  if (form === undefined) {
    const make = named().get(name);
    if (make === undefined) return undefined;
    made.set(name, (form = { name, ...make() }));
  }
  return form;
}
