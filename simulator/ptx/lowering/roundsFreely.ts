import type { IrInstruction } from '../ir.js';

const roundings = new Set(['rn', 'rz', 'rm', 'rp']);

/**
 * What the parts of an `fma` must have in common: their type and whether they flush denormals; undefined for an operation
 * that is not one of floats, or whose rounding is written and so must happen.
 */
export function roundsFreely({ modifiers, types }: IrInstruction): string | undefined {
  const type = types[0];
  if (types.length !== 1 || (type !== 'f32' && type !== 'f64')) return undefined;
  if (modifiers.some((modifier) => roundings.has(modifier))) return undefined;
  return modifiers.includes('ftz') ? `ftz.${type}` : type;
}
