import type { IrPrototype, IrRegister, ScalarType } from './ir.js';

/** A declared register: of one value, or a vector of `width` values, each of which gets a register of its own. */
interface RegisterEntry {
  readonly name: string;
  readonly type: ScalarType;
  readonly width: number;
  /** One of a range, which has been looked up. */
  readonly isOfRange?: true;
  /** Numbers of its values; empty until it is first used. */
  numbers: readonly number[];
}

interface RegisterRange {
  readonly prefix: string;
  readonly count: number;
  readonly type: ScalarType;
  readonly width: number;
}

/** What a label that marks no instruction stands for. */
export type LabelTable =
  | { readonly kind: 'branchTargets'; readonly labels: readonly string[]; readonly line: number }
  | { readonly kind: 'callTargets'; readonly functions: readonly string[]; readonly line: number }
  | { readonly kind: 'callPrototype'; readonly prototype: IrPrototype; readonly line: number };

interface Scope {
  readonly parent: Scope | undefined;
  readonly registers: Map<string, RegisterEntry>;
  readonly ranges: Map<string, RegisterRange>;
  /** Name in the text → name in the IR, of variables and parameters. */
  readonly symbols: Map<string, string>;
  /** Of names that end in digits: what stands before them → the least number, for every way to part them. */
  readonly numbered: Map<string, number>;
  readonly labels: Map<string, number>;
  readonly tables: Map<string, LabelTable>;
}

/** `.reg .b32 name` or `.reg .b32 name<count>`. */
export interface RegisterDeclaration {
  readonly name: string;
  /** How many registers a range has; undefined for a single register. */
  readonly count?: number;
  readonly type: ScalarType;
  readonly width: number;
}

const components = ['x', 'y', 'z', 'w'];

/**
 * The names that a function body declares, in nested `{ }` scopes that may shadow each other. Registers get their
 * number when they are first used, so that `.reg .b32 %r<100000>` costs nothing.
 */
export class FunctionScopes {
  readonly registers: IrRegister[] = [];
  private readonly registerNames = new UniqueNames();
  private readonly symbolNames = new UniqueNames();
  private readonly labelNames = new UniqueNames();
  /** Registers of the module, which stand around the function's own. */
  private readonly outermost = newScope(undefined);
  private current: Scope = newScope(this.outermost);
  private carry = -1;

  constructor(moduleRegisters: readonly RegisterDeclaration[] = []) {
    for (const { name, count, type, width } of moduleRegisters) {
      if (count === undefined)
        this.outermost.registers.set(name, { name, ...elementsOf(type, width), numbers: [] });
      else this.outermost.ranges.set(name, { prefix: name, count, ...elementsOf(type, width) });
    }
  }

  /** A register of the module that has been used; undefined when none has. */
  get usedOfModule(): string | undefined {
    for (const { name, numbers } of this.outermost.registers.values()) if (numbers.length > 0) return name;
    return undefined;
  }

  open(): void {
    this.current = newScope(this.current);
  }

  close(): void {
    const { parent } = this.current;
    if (parent !== undefined && parent !== this.outermost) this.current = parent;
  }

  /** The scope that stands now, to look labels up later, when all are known. */
  get here(): object {
    return this.current;
  }

  /** @returns false when this scope has that name already. */
  declare({ name, count, type, width }: RegisterDeclaration): boolean {
    return count === undefined
      ? this.declareRegister(name, type, width)
      : this.declareRange(name, count, type, width);
  }

  /** A `.b128` register is a vector of two 64-bit ones. @returns false when this scope has that name already. */
  declareRegister(name: string, type: ScalarType, width: number): boolean {
    if (!this.takeName(name)) return false;
    this.current.registers.set(name, { name, ...elementsOf(type, width), numbers: [] });
    return true;
  }

  /** One name is of one register, variable, parameter or label of its scope. @returns whether it was free */
  private takeName(name: string): boolean {
    const { registers, symbols, labels, tables, ranges, numbered } = this.current;
    if (registers.has(name) || symbols.has(name) || labels.has(name) || tables.has(name)) return false;
    const digits = trailingDigits(name);
    if (ranges.size > 0 && entryOfRange(this.current, name, digits) !== undefined) return false;
    for (let length = digits; length > 0; length--) {
      const prefix = name.slice(0, name.length - length);
      const number = Number(name.slice(name.length - length));
      if (length === 1 || !name.startsWith('0', name.length - length))
        numbered.set(prefix, Math.min(number, numbered.get(prefix) ?? Infinity));
    }
    return true;
  }

  private declareRange(prefix: string, count: number, type: ScalarType, width: number): boolean {
    if (this.current.ranges.has(prefix) || (this.current.numbered.get(prefix) ?? Infinity) < count)
      return false;
    this.current.ranges.set(prefix, { prefix, count, ...elementsOf(type, width) });
    return true;
  }

  /** A name for a register that is there, in this scope. */
  declareAlias(name: string, register: number): void {
    const { type } = this.registers[register] ?? { type: 'b32' as const };
    this.current.registers.set(name, { name, type, width: 1, numbers: [register] });
  }

  /** A fresh register that no text names. */
  temporary(type: ScalarType): number {
    return this.addRegister('%temporary', type);
  }

  /** The predicate register that stands for the condition code of carry chains. */
  conditionCode(): number {
    if (this.carry < 0) this.carry = this.addRegister('%cc', 'pred');
    return this.carry;
  }

  /** @returns the name in the IR, or undefined when this scope has that name already. */
  declareSymbol(name: string): string | undefined {
    if (!this.takeName(name)) return undefined;
    const unique = this.symbolNames.take(name);
    this.current.symbols.set(name, unique);
    return unique;
  }

  /** Declares a name that stands for one of the module. @returns false when this scope has that name already. */
  declareSymbolAs(name: string, inIr: string): boolean {
    if (!this.takeName(name)) return false;
    this.current.symbols.set(name, inIr);
    return true;
  }

  /** A name for a variable that no text names. */
  freshSymbol(name: string): string {
    return this.symbolNames.take(name);
  }

  declareLabel(name: string, instruction: number): boolean {
    if (!this.isFreeForLabel(name)) return false;
    this.current.labels.set(name, instruction);
    return true;
  }

  /** A label may have the name of a register that a range stands for. */
  private isFreeForLabel(name: string): boolean {
    const { labels, tables, symbols, registers } = this.current;
    const register = registers.get(name);
    if (register !== undefined && register.isOfRange !== true) return false;
    return !labels.has(name) && !tables.has(name) && !symbols.has(name);
  }

  /** The name of a label in the IR: a name that another scope has too gets a number. */
  labelName(name: string): string {
    return this.labelNames.take(name);
  }

  declareTable(name: string, table: LabelTable): boolean {
    if (!this.isFreeForLabel(name)) return false;
    this.current.tables.set(name, table);
    return true;
  }

  findLabel(name: string, from: object): number | undefined {
    for (let scope: Scope | undefined = from as Scope; scope !== undefined; scope = scope.parent) {
      const found = scope.labels.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  findTable(name: string, from: object): LabelTable | undefined {
    for (let scope: Scope | undefined = from as Scope; scope !== undefined; scope = scope.parent) {
      const found = scope.tables.get(name);
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

  /** The numbers of a register in scope: one, or one a component of a vector register; undefined when there is none. */
  findRegister(name: string): readonly number[] | undefined {
    const digits = trailingDigits(name);
    for (let scope: Scope | undefined = this.current; scope !== undefined; scope = scope.parent) {
      const entry = scope.registers.get(name) ?? entryOfRange(scope, name, digits);
      if (entry === undefined) continue;
      if (entry.numbers.length === 0) entry.numbers = this.numberRegister(entry);
      return entry.numbers;
    }
    return undefined;
  }

  private numberRegister({ name, type, width }: RegisterEntry): readonly number[] {
    if (width === 1) return [this.addRegister(name, type)];
    return components.slice(0, width).map((component) => this.addRegister(`${name}$${component}`, type));
  }

  private addRegister(name: string, type: ScalarType): number {
    return this.registers.push({ name: this.registerNames.take(name), type }) - 1;
  }
}

/** Gives a name that is taken already, by an outer or an earlier scope, a number: `x`, `x$2`. */
class UniqueNames {
  private readonly taken = new Map<string, number>();

  take(name: string): string {
    let number = this.taken.get(name) ?? 0;
    let unique: string;
    do unique = ++number === 1 ? name : `${name}$${number}`;
    while (number > 1 && this.taken.has(unique));
    this.taken.set(name, number);
    if (unique !== name) this.taken.set(unique, 1);
    return unique;
  }
}

function elementsOf(type: ScalarType, width: number): { type: ScalarType; width: number } {
  return type === 'b128' && width === 1 ? { type: 'b64', width: 2 } : { type, width };
}

/** How many digits a name ends in, as far as a register's number can have. */
function trailingDigits(name: string): number {
  let digits = 0;
  while (digits < 8 && digits < name.length && /\d/.test(name.charAt(name.length - 1 - digits))) digits++;
  return digits;
}

/** `%r12` may be number 12 of `%r<…>` or number 2 of `%r1<…>`: the longest number is tried first. */
function entryOfRange(scope: Scope, name: string, digits: number): RegisterEntry | undefined {
  if (scope.ranges.size === 0) return undefined;
  for (let length = digits; length > 0; length--) {
    const suffix = name.slice(name.length - length);
    if (length > 1 && suffix.startsWith('0')) continue;
    const range = scope.ranges.get(name.slice(0, name.length - length));
    if (range === undefined || Number(suffix) >= range.count) continue;
    const entry = { name, type: range.type, width: range.width, isOfRange: true as const, numbers: [] };
    scope.registers.set(name, entry);
    return entry;
  }
  return undefined;
}

function newScope(parent: Scope | undefined): Scope {
  return {
    parent,
    registers: new Map(),
    ranges: new Map(),
    symbols: new Map(),
    numbered: new Map(),
    labels: new Map(),
    tables: new Map(),
  };
}
