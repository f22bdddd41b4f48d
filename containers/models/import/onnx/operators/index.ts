import type { OperatorEntry, OperatorTable, Translate } from '../translation.js';
import { ATTENTION } from './attention.js';
import { CLASSICAL } from './classical.js';
import { CONTRIBUTED } from './contributed.js';
import { ELEMENTWISE } from './elementwise.js';
import { MOVEMENT } from './movement.js';
import { NORMALIZATIONS } from './normalizations.js';
import { PRODUCTS } from './products.js';
import { QUANTIZED } from './quantized.js';
import { RECURRENT } from './recurrent.js';
import { REDUCTIONS } from './reductions.js';
import { SCATTERS } from './scatters.js';
import { TERMS } from './terms.js';
import { SHAPES } from './shapes.js';
import { WINDOWS } from './windows.js';

/** One whose condition is constant is the nodes of its branch (graphTranslation.ts). */
const conditional: Translate = (reader) =>
  reader.refuse(
    'its condition depends on the query, so that one query would run other nodes than another: compute both branches and choose with Where',
  );

/** Operators by domain, in the order in which the documentation has them. */
export const OPERATORS: Readonly<Record<string, OperatorTable>> = {
  '': {
    ...ELEMENTWISE,
    ...SHAPES,
    ...MOVEMENT,
    ...SCATTERS,
    If: { translate: conditional, limits: 'of a constant condition' },
    ...PRODUCTS,
    ...WINDOWS,
    ...NORMALIZATIONS,
    ...ATTENTION,
    ...REDUCTIONS,
    ...RECURRENT,
    ...QUANTIZED,
  },
  'ai.onnx.ml': CLASSICAL,
  'com.microsoft': CONTRIBUTED,
};

/** Those of graphs that imports write themselves. */
const OWN: Readonly<Record<string, OperatorTable>> = { windjammer: TERMS };

export function operatorOf(domain: string, name: string): OperatorEntry | undefined {
  const ours = domain === 'ai.onnx' ? '' : domain;
  const tables = Object.hasOwn(OPERATORS, ours) ? OPERATORS : OWN;
  const table = Object.hasOwn(tables, ours) ? tables[ours] : undefined;
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
