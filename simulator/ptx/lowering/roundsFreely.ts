import type { IrInstruction } from '../ir.js';

const floats = new Set<string>(['f32', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2']);
const roundings = new Set(['rn', 'rz', 'rm', 'rp']);

/**
 * What the parts of an `fma` must have in common: their type and whether they flush denormals; undefined for an operation
 * that is not one of floats, or whose rounding is written and so must happen.
 */
export function roundsFreely({ modifiers, types }: IrInstruction): string | undefined {
  const type = types[0];
  if (types.length !== 1 || type === undefined || !floats.has(type)) return undefined;
  if (modifiers.some((modifier) => roundings.has(modifier))) return undefined;
  return modifiers.includes('ftz') ? `ftz.${type}` : type;
}
