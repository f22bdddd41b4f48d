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
  /** Opcodes by which threads have told others what two runs may see differently, or have come to do so in some runs alone. */
  readonly taintedExchanges = new Set<string>();

  /** Takes in what was found of a part by itself. */
  take({ accesses, hazards, conditions, sharedStores, taintedSpaces, taintedExchanges }: Findings): void {
    for (const access of accesses) this.accesses.push(access);
    for (const hazard of hazards) this.hazards.push(hazard);
    for (const condition of conditions) this.conditions.push(condition);
    for (const store of sharedStores) this.sharedStores.push(store);
    for (const space of taintedSpaces) this.taintedSpaces.add(space);
    for (const exchange of taintedExchanges) this.taintedExchanges.add(exchange);
  }
}
