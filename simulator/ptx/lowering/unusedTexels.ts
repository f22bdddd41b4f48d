import { eachFunction } from './eachFunction.js';
import { readRegisters } from '../analysis/registerUse.js';
import type { IrFunction, IrInstruction, IrModule, IrOperand } from '../ir.js';
import { isFetch } from '../isa/index.js';
import { replaceInstructions } from './replacement.js';

/** Channels of texels that nothing reads are not asked for, as compilers for cards do: most textures have one, and every fetch names four. */
export function dropUnusedTexels(ir: IrModule): IrModule {
  return eachFunction(ir, inFunction);
}

function inFunction(fn: IrFunction): IrFunction {
  const fetches = fn.instructions.filter(({ opcode }) => isFetch(opcode));
  if (fetches.length === 0) return fn;
  const read = new Set(fn.instructions.flatMap((instruction) => readRegisters(instruction)));
  const isUnused = (operand: IrOperand): boolean =>
    operand.kind === 'register' && !read.has(operand.register);
  const replacements = new Map<number, readonly IrInstruction[]>();
  for (const fetch of fetches) {
    const [texel] = fetch.destinations;
    if (texel?.kind !== 'vector' || !texel.elements.some(isUnused)) continue;
    const elements = texel.elements.map((each): IrOperand => (isUnused(each) ? { kind: 'sink' } : each));
    replacements.set(fetch.index, [{ ...fetch, destinations: [{ kind: 'vector', elements }] }]);
  }
  return replacements.size === 0 ? fn : replaceInstructions(fn, replacements);
}
