import type { IrRegister, ScalarType } from './ir.js';

interface RegisterRange {
  readonly prefix: string;
  readonly count: number;
  readonly type: ScalarType;
}

interface Scope {
  readonly parent: Scope | undefined;
  readonly registers: Map<string, { readonly name: string; readonly type: ScalarType; number: number }>;
  readonly ranges: RegisterRange[];
  /** Name in the text → name in the IR, of variables and parameters. */
  readonly symbols: Map<string, string>;
  readonly labels: Map<string, number>;
}

/**
 * The names that a function body declares, in nested `{ }` scopes that may shadow each other. Registers get their
 * number when they are first used, so that `.reg .b32 %r<100000>` costs nothing.
 */
export class FunctionScopes {
  readonly registers: IrRegister[] = [];
  private readonly usedSymbols = new Map<string, number>();
  private current: Scope = newScope(undefined);

  open(): void {
    this.current = newScope(this.current);
  }

  close(): void {
    if (this.current.parent !== undefined) this.current = this.current.parent;
  }

  /** The scope that stands now, to look labels up later, when all are known. */
  get here(): object {
    return this.current;
  }

  /** @returns false when this scope has that name already. */
  declareRegister(name: string, type: ScalarType): boolean {
    if (this.current.registers.has(name)) return false;
    this.current.registers.set(name, { name, type, number: -1 });
    return true;
  }

  declareRange(prefix: string, count: number, type: ScalarType): void {
    this.current.ranges.push({ prefix, count, type });
  }

  /** @returns the name in the IR, or undefined when this scope has that name already. */
  declareSymbol(name: string): string | undefined {
    if (this.current.symbols.has(name)) return undefined;
    const uses = (this.usedSymbols.get(name) ?? 0) + 1;
    this.usedSymbols.set(name, uses);
    const unique = uses === 1 ? name : `${name}@${uses}`;
    this.current.symbols.set(name, unique);
    return unique;
  }

  declareLabel(name: string, instruction: number): boolean {
    if (this.current.labels.has(name)) return false;
    this.current.labels.set(name, instruction);
    return true;
  }

  findLabel(name: string, from: object): number | undefined {
    for (let scope: Scope | undefined = from as Scope; scope !== undefined; scope = scope.parent) {
      const found = scope.labels.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  findSymbol(name: string): string | undefined {
    for (let scope: Scope | undefined = this.current; scope !== undefined; scope = scope.parent) {
      const found = scope.symbols.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The number of a register in scope, or undefined. */
  findRegister(name: string): number | undefined {
    for (let scope: Scope | undefined = this.current; scope !== undefined; scope = scope.parent) {
      let entry = scope.registers.get(name);
      if (entry === undefined) {
        const range = scope.ranges.find((each) => isInRange(name, each));
        if (range !== undefined) {
          entry = { name, type: range.type, number: -1 };
          scope.registers.set(name, entry);
        }
      }
      if (entry === undefined) continue;
      if (entry.number < 0) entry.number = this.registers.push({ name, type: entry.type }) - 1;
      return entry.number;
    }
    return undefined;
  }
}

function isInRange(name: string, range: RegisterRange): boolean {
  if (!name.startsWith(range.prefix)) return false;
  const suffix = name.slice(range.prefix.length);
  return /^(0|[1-9]\d*)$/.test(suffix) && Number(suffix) < range.count;
}

function newScope(parent: Scope | undefined): Scope {
  return { parent, registers: new Map(), ranges: [], symbols: new Map(), labels: new Map() };
}
