import { type IrFunction, isAtomic, isPlainLoad, isStore, readRegisters } from '../../../ptx/index.js';
import { WARP_SIZE } from '../area/index.js';
import { spaceOf } from '../instructions/index.js';
import { isOrdered, type LaneAccess } from './laneAccesses.js';
import type { LaneValues } from './laneValues.js';
import { isThreadIndex, registerOf, type LinearForms } from './linearForms.js';
import { registersMadeOf, SAMPLED_THREADS, type ThreadSampler } from './threadSamples.js';

/** Accesses by which lanes of a warp meet one another in one instruction, where it shows which of them comes last. */
export interface Overwrites {
  /** Stores of values that differ. */
  readonly stores: readonly LaneAccess[];
  /** Atomics that tell what they found. */
  readonly updates: readonly LaneAccess[];
}

/**
 * Of strong accesses those whose lanes may meet; of plain stores, which programs mostly keep apart, those whose lanes do
 * meet for certain, and those at places that lanes have read from memory.
 */
export function overwritesOf(
  fn: IrFunction,
  values: LaneValues,
  forms: LinearForms,
  sampler: ThreadSampler,
  accesses: readonly LaneAccess[],
): Overwrites {
  const isData = registersMadeOf(fn, ({ opcode, modifiers, sources: [address] }) => {
    if (isAtomic(opcode)) return true;
    if (!isPlainLoad(opcode) || /^(?:param|const)$/.test(spaceOf(modifiers))) return false;
    // What all lanes read from one place is the same for all.
    const base = address?.kind === 'address' ? address.base : undefined;
    return typeof base === 'number' && values.varying[base] === 1;
  });
  const meets = (access: LaneAccess): boolean => {
    const { form, bytes, only } = access;
    if (only !== undefined || !access.writes) return false;
    const varying = [...form.terms].filter(([term]) => isThreadIndex(term) || !forms.isUniform(term));
    const [first, ...others] = varying;
    if (first === undefined) return true;
    const [term, stride] = first;
    if (others.length === 0 && (term === 'tid.x' || term === 'laneid')) return Math.abs(stride) < bytes;
    if (isOrdered(fn.instructions[access.at])) return true;
    return meetsAlone(fn, sampler, access) || varying.some(([each]) => isData[registerOf(each) ?? -1] === 1);
  };
  const differs = ({ at }: LaneAccess): boolean => {
    const instruction = fn.instructions[at];
    if (instruction === undefined || !isStore(instruction.opcode)) return true;
    return readRegisters({ ...instruction, guard: undefined, sources: instruction.sources.slice(1) }).some(
      (register) => values.varying[register] === 1,
    );
  };
  const met = accesses.filter(meets);
  return {
    stores: met.filter((access) => !access.reads && differs(access)),
    updates: met.filter(({ reads, commutes }) => reads && commutes === undefined),
  };
}

/** Whether two lanes of a warp come to one place for certain, as far as it depends on nothing but who they are. */
function meetsAlone(fn: IrFunction, sampler: ThreadSampler, { at, bytes, comers }: LaneAccess): boolean {
  const [address] = fn.instructions[at]?.sources ?? [];
  const { threads, from, isTested } = comers();
  const places = address?.kind === 'address' && !isTested ? sampler.ofAddress(address, at) : undefined;
  if (places?.from === undefined || (from !== undefined && from !== places.from)) return false;
  for (let first = 0; first < SAMPLED_THREADS; first += WARP_SIZE) {
    const own = [...places.values.subarray(first, first + WARP_SIZE)].filter(
      (_place, lane) => threads?.[first + lane] !== 0,
    );
    own.sort((a, b) => a - b);
    if (own.some((place, index) => index > 0 && place - (own[index - 1] ?? 0) < bytes)) return true;
  }
  return false;
}
