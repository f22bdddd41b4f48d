import type { NodeInput } from './graphValues.js';
import type { NodeReader } from './nodeReader.js';

/** What a node's outputs are, in order; one alone stands for itself. */
export type Translation = NodeInput | readonly NodeInput[];

export type Translate = (reader: NodeReader) => Translation;

/** An operator that imports have. */
export interface OperatorEntry {
  readonly translate: Translate;
  /** What of it, for the documentation; undefined: all. */
  readonly limits?: string;
}

export type OperatorTable = Readonly<Record<string, OperatorEntry>>;
