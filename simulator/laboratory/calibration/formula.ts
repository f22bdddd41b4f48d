import { CalibrationError } from './calibrationError.js';

const FUNCTIONS: ReadonlyMap<string, (...values: number[]) => number> = new Map([
  ['max', Math.max],
  ['min', Math.min],
  ['ceil', Math.ceil],
]);

const TOKENS = /\s*(\d+|[a-z_]\w*|\*\*|[-+*/(),])/gy;

/**
 * What a formula comes to: whole numbers, names, `+ - * / **`, `max`, `min`, `ceil` and parentheses, as in JavaScript.
 * @throws CalibrationError `unreadable` with the formula
 */
export function evaluateFormula(text: string, values: ReadonlyMap<string, number>): number {
  return new Formula(text, values).evaluate();
}

class Formula {
  private readonly tokens: readonly string[];
  private next = 0;

  constructor(
    private readonly text: string,
    private readonly values: ReadonlyMap<string, number>,
  ) {
    const found = [...text.matchAll(TOKENS)];
    this.tokens = found.map(([, token]) => token);
    const end = found.reduce((length, [all]) => length + all.length, 0);
    if (text.slice(end).trim() !== '') this.fail(`what is '${text.slice(end).trim()}'?`);
  }

  evaluate(): number {
    const value = this.sum();
    if (this.next < this.tokens.length) this.fail(`'${this.tokens[this.next]}' was not expected`);
    return value;
  }

  private sum(): number {
    let value = this.product();
    for (;;) {
      if (this.takes('+')) value += this.product();
      else if (this.takes('-')) value -= this.product();
      else return value;
    }
  }

  private product(): number {
    let value = this.signed();
    for (;;) {
      if (this.takes('*')) value *= this.signed();
      else if (this.takes('/')) value /= this.signed();
      else return value;
    }
  }

  private signed(): number {
    return this.takes('-') ? -this.signed() : this.power();
  }

  private power(): number {
    const base = this.atom();
    return this.takes('**') ? base ** this.signed() : base;
  }

  private atom(): number {
    if (this.takes('(')) return this.list()[0];
    const token = this.tokens[this.next++] ?? this.fail('it ends too soon');
    if (/^\d/.test(token)) return Number(token);
    const apply = FUNCTIONS.get(token);
    if (apply !== undefined && this.takes('(')) return apply(...this.list());
    return this.values.get(token) ?? this.fail(`there is no '${token}'; there are: ${this.names()}`);
  }

  /** Up to the parenthesis that closes it. */
  private list(): number[] {
    const values = [this.sum()];
    while (this.takes(',')) values.push(this.sum());
    if (!this.takes(')')) this.fail("')' is missing");
    return values;
  }

  private takes(token: string): boolean {
    if (this.tokens[this.next] !== token) return false;
    this.next += 1;
    return true;
  }

  private names(): string {
    return [...this.values.keys()].join(', ');
  }

  private fail(reason: string): never {
    throw new CalibrationError('unreadable', `formula '${this.text}': ${reason}`);
  }
}
