import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../files/index.js';
import { attemptedMmaForms } from './mmaForms.js';
import { attemptedMoveForms, type MoveForm } from './moveForms.js';
import type { TileForm } from './tileForm.js';
import { attemptedWgmmaForms } from './wgmmaForms.js';
import { attemptedWmmaForms } from './wmmaForms.js';

export { elementBits, floatFormat, floatFormats } from './elementTypes.js';
export type { ElementType, FloatFormat } from './elementTypes.js';
export type { Layout, Shape } from './fragments.js';
export { operandWords } from './operand.js';
export type { Operand } from './operand.js';
export { matrixImage, sharedRows } from './moveForms.js';
export type { MoveArea, MoveForm } from './moveForms.js';
export type { Rounding, Sparsity, TileForm } from './tileForm.js';
export { shape } from './mmaForms.js';
export { wmmaFragment } from './wmmaFragments.js';
export { wmmaRegisters } from './wmmaForms.js';

/** What `recordAssembled.ts` wrote: forms that the assembler takes for sm_90a, and why it refuses the others. */
export interface Assembled {
  readonly assembler: string;
  readonly accepted: readonly string[];
  readonly refused: Readonly<Record<string, string>>;
}

export const attemptedTileForms: readonly TileForm[] = [
  ...attemptedMmaForms,
  ...attemptedWmmaForms,
  ...attemptedWgmmaForms,
];
export { attemptedMoveForms } from './moveForms.js';

export function readAssembled(): Assembled {
  const path = join(packageRoot(), 'simulator/laboratory/tensor/forms/assembled.json');
  return JSON.parse(readFileSync(path, 'utf8')) as Assembled;
}

const accepted = new Set(readAssembled().accepted);

/** Products that exist on sm_90a. */
export const tileForms: readonly TileForm[] = attemptedTileForms.filter(({ name }) => accepted.has(name));

/** Moves that exist on sm_90a. */
export const moveForms: readonly MoveForm[] = attemptedMoveForms.filter(({ name }) => accepted.has(name));
