import {
  type IrFunction,
  type IrInstruction,
  isa,
  isStore,
  isUpdate,
  memoryEffect,
  readRegisters,
  writesMemory,
} from '../../../ptx/index.js';
import { accessBytes, spaceOf } from '../instructions/index.js';
import { add, isThreadIndex, type LinearForm, type LinearForms } from './linearForms.js';
import { SAMPLED_THREADS, type Comers, type ThreadSampler } from './threadSamples.js';

/** An access to memory that lanes of a warp may share. */
export interface LaneAccess {
  readonly at: number;
  readonly space: 'shared' | 'global' | 'any';
  readonly bytes: number;
  readonly form: LinearForm;
  /** What the address is an offset from, where that is one thing. */
  readonly root: string | undefined;
  readonly reads: boolean;
  readonly writes: boolean;
  /** Volatile, ordered or atomic: whoever writes this counts on what other threads do meanwhile. */
  readonly isStrong: boolean;
  /** Of accesses that one thread of a row alone comes to: which one. */
  readonly only: string | undefined;
  /** Which threads come to it. */
  readonly comers: () => Comers;
  /** Of updates whose order nobody can tell: which operation on which type. */
  readonly commutes: string | undefined;
}

const ordered = /^(?:volatile|relaxed|acquire|release|acq_rel|mmio)$/;

/** Whether an instruction says itself that it counts on what other threads do meanwhile. */
export function isOrdered(instruction: IrInstruction | undefined): boolean {
  return instruction?.modifiers.some((each) => ordered.test(each)) === true;
}

/** In the order of the instructions; what may be of memory that strong accesses reach too counts as strong. */
export function laneAccesses(
  fn: IrFunction,
  forms: LinearForms,
  sampler: ThreadSampler,
  onlyAt: (instruction: number) => string | undefined,
): LaneAccess[] {
  const written = asWritten(fn, forms, sampler, onlyAt);
  const strong = written.filter(({ isStrong, commutes }) => isStrong && commutes === undefined);
  return written.map((access) =>
    access.isStrong || !strong.some((each) => areOfOneMemory(access, each))
      ? access
      : { ...access, isStrong: true },
  );
}

function areOfOneMemory(a: LaneAccess, b: LaneAccess): boolean {
  if (a.space !== b.space && a.space !== 'any' && b.space !== 'any') return false;
  return !areApart(a.root, b.root);
}

function asWritten(
  fn: IrFunction,
  forms: LinearForms,
  sampler: ThreadSampler,
  onlyAt: (instruction: number) => string | undefined,
): LaneAccess[] {
  const read = new Set(fn.instructions.flatMap(readRegisters));
  return fn.instructions.flatMap((instruction) => {
    const { opcode, modifiers, sources, index } = instruction;
    switch (memoryEffect(opcode)) {
      case 'copy':
        return copyAccesses(instruction, forms, sampler, onlyAt(index));
      case 'load':
      case 'store':
      case 'atomic':
      case 'reduction':
        if (isa(opcode).effects.isReadOnly) return [];
        break;
      // What is given up may be anything, in whatever order lanes go.
      case 'discard':
      case undefined:
        return [];
    }
    const [address] = sources;
    const space = spaceOf(modifiers);
    if (address?.kind !== 'address' || modifiers.includes('nc')) return [];
    if (space !== 'shared' && space !== 'global' && space !== 'generic') return [];
    const form = forms.ofAddress(address, index);
    const root = forms.rootOf(address);
    return [
      {
        at: index,
        space: space === 'generic' ? 'any' : space,
        bytes: accessBytes(instruction),
        form,
        root,
        reads: !isStore(opcode),
        writes: writesMemory(opcode),
        isStrong: isUpdate(opcode) || isOrdered(instruction),
        only: onlyAt(index),
        comers: () => sampler.comersTo(instruction),
        commutes: commutativeUpdate(instruction, read),
      },
    ];
  });
}

/** `cp.async` and its kin write shared memory and read global memory. */
function copyAccesses(
  instruction: IrInstruction,
  forms: LinearForms,
  sampler: ThreadSampler,
  only: string | undefined,
): LaneAccess[] {
  const { sources, index } = instruction;
  const [to, from, size] = sources;
  if (to?.kind !== 'address' || from?.kind !== 'address') return [];
  const bytes = size?.kind === 'integer' ? size.low : 16;
  const comers = (): Comers => sampler.comersTo(instruction);
  const common = { at: index, bytes, isStrong: false, only, comers, commutes: undefined } as const;
  const [toForm, fromForm] = [forms.ofAddress(to, index), forms.ofAddress(from, index)];
  return [
    { ...common, space: 'shared', form: toForm, root: forms.rootOf(to), reads: false, writes: true },
    { ...common, space: 'global', form: fromForm, root: forms.rootOf(from), reads: true, writes: false },
  ];
}

function commutativeUpdate(instruction: IrInstruction, read: ReadonlySet<number>): string | undefined {
  const { opcode, modifiers, destinations, types } = instruction;
  if (!isUpdate(opcode)) return undefined;
  const type = types.at(-1) ?? 'b32';
  if (!/^[bus](?:32|64)$/.test(type)) return undefined;
  const isTold = destinations.some(
    (each) => each.kind !== 'sink' && (each.kind !== 'register' || read.has(each.register)),
  );
  const operation = modifiers.find((each) => /^(?:add|min|max|and|or|xor)$/.test(each));
  return isTold || operation === undefined ? undefined : `${operation} ${type}`;
}

/** Whether one lane's access and another lane's may touch the same bytes, one of them to change them. */
export type Meeting = 'never' | 'perhaps' | 'certainly';

/** Numbers of lanes that two lanes of a warp may be apart. */
const MOST_APART = 31;

/**
 * @param earlier access that a lane may have behind it when another comes to `later`
 * @param isStale whether what the earlier address is made of may have changed since
 */
export function meetingOf(
  earlier: LaneAccess,
  later: LaneAccess,
  isStale: boolean,
  forms: LinearForms,
): Meeting {
  if (!earlier.writes && !later.writes) return 'never';
  if (earlier.commutes !== undefined && earlier.commutes === later.commutes) return 'never';
  if (!areOfOneMemory(earlier, later)) return 'never';
  if (earlier.only !== undefined && earlier.only === later.only) return 'never';
  if (isStale) return 'perhaps';
  const apart = add(later.form, earlier.form, -1);
  if (apart === undefined || apart.terms.size > 0) return 'perhaps';
  const terms = [...later.form.terms];
  const isPlain = !earlier.isStrong && !later.isStrong;
  // Where a lane writes by a plain store and reads again is its own.
  if (isPlain && apart.constant === 0 && terms.some(([term]) => !forms.isUniform(term))) return 'never';
  // Other values that differ from lane to lane may do so by anything.
  if (terms.some(([term]) => !isThreadIndex(term) && !forms.isUniform(term))) return 'perhaps';
  const byThread = terms.filter(([term]) => isThreadIndex(term));
  if (byThread.some(([term]) => term !== 'tid.x' && term !== 'laneid') || byThread.length > 1)
    return 'perhaps';
  const stride = byThread[0]?.[1] ?? 0;
  for (let lanes = -MOST_APART; lanes <= MOST_APART; lanes++) {
    if (lanes === 0) continue;
    const distance = apart.constant + stride * lanes;
    if (distance >= earlier.bytes || -distance >= later.bytes) continue;
    if (mayCome(earlier.comers(), later.comers(), lanes, byThread[0]?.[0])) return 'certainly';
  }
  return 'never';
}

/** Whether there are threads so far apart that one comes to the one place and the other to the other. @param term that says who they are */
function mayCome(earlier: Comers, later: Comers, apart: number, term: string | undefined): boolean {
  const first = earlier.from === term ? earlier.threads : undefined;
  const second = later.from === term ? later.threads : undefined;
  if (first === undefined && second === undefined) return true;
  for (let one = Math.max(0, -apart); one < SAMPLED_THREADS - Math.max(0, apart); one++)
    if (first?.[one] !== 0 && second?.[one + apart] !== 0) return true;
  return false;
}

/** Different variables, and memory of different parameters, which programs keep apart. */
function areApart(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}
