import { LATEST_PART } from '../gpu/index.js';
import { FaultError } from './faultError.js';

/**
 * What a fault leaves behind. `failure`: the stores until then. `bitFlip`: the same, but the last value that the struck block stored
 * has a wrong bit. Either is noticed where it happens, as by the card's own checks; what nobody notices, nobody repairs.
 */
export const FAULT_KINDS = ['failure', 'bitFlip'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** One fault that is to happen. */
export interface FaultAt {
  /** Which launch of a kernel on its GPU, in the order in which they start, from 0; runs after a fault count too. */
  readonly launch: number;
  /** Number of the block that is struck; drawn unless given. One behind the grid's last strikes that. */
  readonly block?: number | undefined;
  /** How much of it is done then, 0 to 0.98; drawn unless given. */
  readonly part?: number | undefined;
}

/** Transient faults that strike launches of kernels, by chance or where one says. */
export interface FaultOptions {
  /** A safe integer; the same seed, the same faults. Default 1. */
  readonly seed?: number | undefined;
  /** Probability that a launch is struck, 0 to 1. Default 0. */
  readonly rate?: number | undefined;
  readonly kind?: FaultKind | undefined;
  readonly at?: readonly FaultAt[] | undefined;
}

/** @throws FaultError `invalidFaults` that names the field */
export function checkFaults(options: FaultOptions): FaultOptions {
  const { seed = 1, rate = 0, kind = 'failure', at = [] } = options;
  if (!Number.isSafeInteger(seed)) throw invalid('seed', seed, 'a whole number');
  if (!(rate >= 0 && rate <= 1)) throw invalid('rate', rate, 'a probability, 0 to 1');
  if (!FAULT_KINDS.includes(kind)) throw invalid('kind', kind, `one of ${FAULT_KINDS.join(', ')}`);
  at.forEach(({ launch, block = 0, part = 0 }, index) => {
    if (!isCount(launch)) throw invalid(`at[${index}].launch`, launch, 'a whole number, 0 or more');
    if (!isCount(block)) throw invalid(`at[${index}].block`, block, 'a whole number, 0 or more');
    if (!(part >= 0 && part <= LATEST_PART)) {
      throw invalid(`at[${index}].part`, part, `a part of the block, 0 to ${LATEST_PART}`);
    }
  });
  return options;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function invalid(field: string, value: unknown, expected: string): FaultError {
  return new FaultError('invalidFaults', `faults.${field}: ${String(value)} is not ${expected}`);
}
