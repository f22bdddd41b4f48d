import { exactForms, vectorRegisterBits, type VectorForm } from '../instructions/index.js';

const LETTERS: ReadonlyMap<number, string> = new Map([
  [1, 'p'],
  [16, 'h'],
  [32, 'r'],
]);

/** The register letter of a vector's type: see `instructionTemplates.ts`. */
function letterOf(type: string): string {
  if (type === 'f32') return 'f';
  if (type === 'f64') return 'd';
  return LETTERS.get(vectorRegisterBits(type)) ?? 'q';
}

function templateOf({ name, results, sources }: VectorForm): string {
  return [name, ...results.map(letterOf), ...sources.map(letterOf)].join(' ');
}

/**
 * A template of every form of every instruction that computes and is exact: the vectors have them all, by the table of
 * instructions. Those whose operands are more than registers are left to the templates by hand.
 */
export const formTemplates: readonly string[] = exactForms
  .filter(({ body, results }) => body === undefined && results.length === 1)
  .map(templateOf);
