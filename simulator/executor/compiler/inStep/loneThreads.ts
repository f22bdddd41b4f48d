import { dominators, type IrFunction } from '../../../ptx/index.js';
import { add, isThreadIndex, type LinearForms } from './linearForms.js';

/**
 * Blocks that one thread alone comes to, since a branch on `tid == constant` stands before them: which condition it was, by
 * block.
 */
export function loneThreads(fn: IrFunction, forms: LinearForms): readonly (string | undefined)[] {
  const { immediate } = dominators(fn);
  const own = fn.blocks.map((block) => entered(fn, forms, block.index));
  return fn.blocks.map((block) => {
    for (let at = block.index; at >= 0; at = immediate[at] ?? -1) if (own[at] !== undefined) return own[at];
    return undefined;
  });
}

/** The condition under which a block is entered, when it says which thread enters. */
function entered(fn: IrFunction, forms: LinearForms, index: number): string | undefined {
  const predecessors = [...new Set(fn.blocks[index]?.predecessors)];
  const [from] = predecessors;
  if (from === undefined || predecessors.length > 1) return undefined;
  const [taken, other] = fn.blocks[from]?.successors ?? [];
  const branch = fn.instructions[fn.blocks[from]?.last ?? -1];
  if (branch?.opcode !== 'bra' || branch.guard === undefined || taken === other) return undefined;
  const test = forms.definitionOf(branch.guard.register);
  if (test?.opcode !== 'setp' || test.guard !== undefined || test.destinations.length !== 1) return undefined;
  const isEqual = test.modifiers.includes('eq');
  if (!isEqual && !test.modifiers.includes('ne')) return undefined;
  if (test.sources.length !== 2 || (taken === index) !== (isEqual !== branch.guard.negated)) return undefined;
  const [a, b] = test.sources;
  const difference = add(forms.ofOperand(a, test.index), forms.ofOperand(b, test.index), -1);
  if (difference === undefined) return undefined;
  const lanes = [...difference.terms].filter(([term]) => isThreadIndex(term) || !forms.isUniform(term));
  if (lanes.length !== 1 || !lanes.every(([term]) => isThreadIndex(term))) return undefined;
  if (difference.terms.size > 1 && !forms.isFixed(difference)) return undefined;
  const terms = [...difference.terms].sort().map(([term, count]) => `${count} ${term}`);
  return [...terms, difference.constant].join(' ');
}
