import { dominators, type IrFunction, type IrInstruction, isBranch } from '../../../ptx/index.js';
import { add, isThreadIndex, type LinearForms } from './linearForms.js';

/** Where one thread alone comes to, because of a test `tid == constant`: which one it was. */
export interface LoneThreads {
  readonly ofBlock: readonly (string | undefined)[];
  /** By the guard of an instruction. */
  readonly ofGuard: (instruction: number) => string | undefined;
}

export function loneThreads(fn: IrFunction, forms: LinearForms): LoneThreads {
  const { immediate } = dominators(fn);
  const own = fn.blocks.map((block) => entered(fn, forms, block.index));
  const ofBlock = fn.blocks.map((block) => {
    for (let at = block.index; at >= 0; at = immediate[at] ?? -1) if (own[at] !== undefined) return own[at];
    return undefined;
  });
  return {
    ofBlock,
    ofGuard: (instruction) => {
      const guard = fn.instructions[instruction]?.guard;
      return guard === undefined ? undefined : conditionOf(guard, forms);
    },
  };
}

/** The condition under which a block is entered, when it says which thread enters. */
function entered(fn: IrFunction, forms: LinearForms, index: number): string | undefined {
  const predecessors = [...new Set(fn.blocks[index]?.predecessors)];
  const [from] = predecessors;
  if (from === undefined || predecessors.length > 1) return undefined;
  const [taken, other] = fn.blocks[from]?.successors ?? [];
  const branch = fn.instructions[fn.blocks[from]?.last ?? -1];
  if (branch === undefined || !isBranch(branch.opcode) || branch.guard === undefined || taken === other)
    return undefined;
  const { register, negated } = branch.guard;
  return conditionOf({ register, negated: (taken === index) === negated }, forms);
}

/** The condition under which a guard holds, when it says for which thread. */
function conditionOf(
  { register, negated }: NonNullable<IrInstruction['guard']>,
  forms: LinearForms,
): string | undefined {
  const test = forms.definitionOf(register);
  if (test?.opcode !== 'setp' || test.guard !== undefined || test.destinations.length !== 1) return undefined;
  const isEqual = test.modifiers.includes('eq');
  if (!isEqual && !test.modifiers.includes('ne')) return undefined;
  if (test.sources.length !== 2 || isEqual === negated) return undefined;
  const [a, b] = test.sources;
  const difference = add(forms.ofOperand(a, test.index), forms.ofOperand(b, test.index), -1);
  if (difference === undefined) return undefined;
  const lanes = [...difference.terms].filter(([term]) => isThreadIndex(term) || !forms.isUniform(term));
  if (lanes.length !== 1 || !lanes.every(([term]) => isThreadIndex(term))) return undefined;
  if (difference.terms.size > 1 && !forms.isFixed(difference)) return undefined;
  const terms = [...difference.terms].sort().map(([term, count]) => `${count} ${term}`);
  return [...terms, difference.constant].join(' ');
}
