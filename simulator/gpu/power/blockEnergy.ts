import type { DevicePower } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from '../timing/index.js';

/** What a unit of each kind of work takes, in picojoules, in the order of a block's work vectors. */
export interface UnitEnergies {
  readonly sm: readonly number[];
  /** On the chip, at its voltage. */
  readonly device: readonly number[];
  /** Of these in memory chips, whose voltage is their own. */
  readonly memory: readonly number[];
}

/** Kinds of work that take no energy of their own: a start is work of the SM, a hot address is one of the atomics, a row's is its bytes'. */
const FREE: ReadonlySet<string> = new Set(['starts', 'hotAtomics', 'dramRows', 'constant', 'pages']);

export function unitEnergies({ picojoules }: DevicePower): UnitEnergies {
  const table: Readonly<Record<string, number>> = picojoules;
  const of = (kind: string): number => {
    const energy = table[kind];
    if (energy !== undefined) return energy;
    if (FREE.has(kind)) return 0;
    throw new RangeError(`power.picojoules has no '${kind}', which blocks do`);
  };
  return {
    sm: SM_RESOURCES.map(of),
    device: DEVICE_RESOURCES.map((kind) => (kind === 'dramBytes' ? 0 : of(kind))),
    memory: DEVICE_RESOURCES.map((kind) => (kind === 'dramBytes' ? of(kind) : 0)),
  };
}

/** Energy of one block on the chip, at full voltage. */
export function chipPicojoules(work: BlockWork, energies: UnitEnergies): number {
  let sum = 0;
  for (let index = 0; index < work.sm.length; index++) sum += work.sm[index] * energies.sm[index];
  for (let index = 0; index < work.device.length; index++) sum += work.device[index] * energies.device[index];
  return sum;
}

/** Energy of one block in memory chips. */
export function memoryPicojoules(work: BlockWork, energies: UnitEnergies): number {
  let sum = 0;
  for (let index = 0; index < work.device.length; index++) sum += work.device[index] * energies.memory[index];
  return sum;
}
