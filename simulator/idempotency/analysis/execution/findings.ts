import type { Expression } from '../expressions/expression.js';
import type { Path } from './path.js';
import type { FoundSharedStore } from './racingStores.js';

export interface FoundAccess {
  readonly line: number;
  readonly instruction: number;
  readonly kind: 'read' | 'write';
  readonly bytes: number;
  readonly address: Expression;
  readonly path: Path;
  /** Loops around it, outermost first. */
  readonly loops: readonly FoundLoop[];
}

/** A loop whose counter occurs in expressions. */
export interface FoundLoop {
  readonly counter: Expression;
  /** How often its header is reached; undefined when no argument bounds it. */
  readonly count: Expression | undefined;
  readonly line: number;
}

/** What makes every launch of the kernel unsafe to repeat. */
export interface FoundHazard {
  readonly what: 'atomic' | 'sideEffect' | 'indirectCall' | 'recursion';
  readonly line: number;
  readonly text: string;
}

export interface FoundCondition {
  readonly condition: Expression;
  readonly line: number;
  readonly text: string;
}

/** What symbolic execution of a kernel finds. */
export class Findings {
  readonly accesses: FoundAccess[] = [];
  readonly hazards: FoundHazard[] = [];
  readonly conditions: FoundCondition[] = [];
  readonly sharedStores: FoundSharedStore[] = [];
  /** Private memory has been given values that two runs may see differently. */
  readonly taintedSpaces = new Set<'shared' | 'local'>();
}
