import { fileURLToPath } from 'node:url';
import { FIXED_MS, ITEM_MS } from './timedModel.js';

/** A model that is asked alone, through an application of its own. */
export interface Subject {
  readonly model: string;
  readonly inputType: 'floats' | 'doubles';
  /** Of a kernel model that every server has: nothing. Of the timed one: what is registered live, and what stands for it in a replay. */
  readonly timed?: { readonly path: string; readonly fixedMs: number; readonly itemMs: number };
}

export const APPLICATION = 'agreement';
export const OBJECTIVE_MS = 100;

export const SUBJECTS: readonly Subject[] = [
  {
    model: 'timed',
    inputType: 'doubles',
    timed: {
      path: fileURLToPath(new URL('timedModel.js', import.meta.url)),
      fixedMs: FIXED_MS,
      itemMs: ITEM_MS,
    },
  },
  ...['digits-logistic', 'digits-mlp', 'digits-linear-svm', 'digits-rbf-svm', 'digits-random-forest'].map(
    (model): Subject => ({ model, inputType: 'floats' }),
  ),
];

/** @throws RangeError naming those that there are */
export function subjectsNamed(names: readonly string[]): readonly Subject[] {
  return names.map((name) => {
    const found = SUBJECTS.find(({ model }) => model === name);
    if (found !== undefined) return found;
    throw new RangeError(`--only: '${name}' is none of ${SUBJECTS.map(({ model }) => model).join(', ')}`);
  });
}
