import { elementArray, type PlainType } from './plainElements.js';

/** How far our results may lie from the twin's, and why they may at all: |a - b| <= absolute + relative * |b|. */
export interface OutputBound {
  readonly relative: number;
  readonly absolute: number;
  /** Share of the elements that may lie further apart. */
  readonly mayDiffer?: number;
  readonly why: string;
}

/** `exact` where both sides do the same operations in the same order: all bits are equal. */
export type OutputRule = 'exact' | OutputBound;

export interface Comparison {
  readonly count: number;
  /** Elements whose bits differ. */
  readonly differing: number;
  /** Elements beyond the bound. */
  readonly beyond: number;
  readonly holds: boolean;
}

export function compareOutputs(
  type: PlainType,
  ours: Uint8Array,
  theirs: Uint8Array,
  rule: OutputRule,
): Comparison {
  const [a, b] = [elementArray(type, ours), elementArray(type, theirs)];
  if (a.length !== b.length) throw new RangeError(`${a.length} elements against ${b.length}`);
  const { relative, absolute, mayDiffer = 0 } = rule === 'exact' ? { relative: 0, absolute: 0 } : rule;
  let [differing, beyond] = [0, 0];
  for (let index = 0; index < a.length; index++) {
    if (Object.is(a[index], b[index])) continue;
    differing++;
    // NaN is within no bound, and neither is a zero of the other sign within an exact one.
    const within = Math.abs(a[index] - b[index]) <= absolute + relative * Math.abs(b[index]);
    if (rule === 'exact' || !within) beyond++;
  }
  return { count: a.length, differing, beyond, holds: beyond <= mayDiffer * a.length };
}
