import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../files/index.js';
import { type Layout, type TileForm, inMemory, productForm, productNames } from '../../../tensor/index.js';
import { attemptedMoveForms, type MoveForm } from './moveForms.js';
import { wgmmaForms } from './wgmmaForms.js';

export { matrixImage, sharedRows } from './moveForms.js';
export type { MoveArea, MoveForm } from './moveForms.js';
export { attemptedMoveForms } from './moveForms.js';

/** What `recordAssembled.ts` wrote: forms that the assembler takes for sm_90a, and why it refuses the others. */
export interface Assembled {
  readonly assembler: string;
  readonly accepted: readonly string[];
  readonly refused: Readonly<Record<string, string>>;
}

export function readAssembled(): Assembled {
  const path = join(packageRoot(), 'simulator/laboratory/tensor/forms/assembled.json');
  return JSON.parse(readFileSync(path, 'utf8')) as Assembled;
}

/** Of `wmma` a probe loads its matrices from memory, and stores the result there. */
function probed(name: string): TileForm {
  const form = productForm(name);
  if (form === undefined) throw new RangeError(`no form ${name}`);
  if (form.kind !== 'wmma') return form;
  const orders = name.split('.').filter((each): each is Layout => each === 'row' || each === 'col');
  const [layoutA = 'row', layoutB = 'col'] = orders;
  return {
    ...form,
    a: inMemory(form.a, layoutA),
    b: inMemory(form.b, layoutB),
    c: inMemory(form.c, 'row'),
    d: inMemory(form.d, 'row'),
  };
}

/** Products that exist on sm_90a. */
export const tileForms: readonly TileForm[] = [...productNames().map(probed), ...wgmmaForms];

const accepted = new Set(readAssembled().accepted);

/** Moves that exist on sm_90a. */
export const moveForms: readonly MoveForm[] = attemptedMoveForms.filter(({ name }) => accepted.has(name));
