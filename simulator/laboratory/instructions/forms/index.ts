import { carryForms } from './carryForms.js';
import { conversionForms } from './conversionForms.js';
import { approximateForms, floatForms } from './floatForms.js';
import { approximateHalfForms, halfForms } from './halfForms.js';
import { integerForms } from './integerForms.js';
import { memoryForms } from './memoryForms.js';
import type { VectorForm } from './vectorForm.js';
import { videoForms } from './videoForms.js';

export * from './vectorForm.js';

function distinct(forms: readonly VectorForm[]): VectorForm[] {
  return [...new Map(forms.map((each) => [each.name, each])).values()];
}

/** Register-to-register forms whose results are exact. */
export const exactForms: readonly VectorForm[] = distinct([
  ...integerForms,
  ...carryForms,
  ...floatForms,
  ...halfForms,
  ...conversionForms,
  ...videoForms,
]);

/** `.approx` forms. */
export const approximatedForms: readonly VectorForm[] = [...approximateForms, ...approximateHalfForms];

/** Forms that touch one cell of memory. */
export const cellForms: readonly VectorForm[] = memoryForms;

export const allForms: readonly VectorForm[] = [...exactForms, ...approximatedForms, ...cellForms];
