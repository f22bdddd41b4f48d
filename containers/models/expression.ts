/**
 * The manifest's size expressions: non-negative integers over named integers, such as `batch` and the manifest's
 * constants. Operators + - * / with the usual precedence (`/` rounds down), parentheses, and the functions ceilDiv(a, b),
 * min(a, b, …) and max(a, b, …). Nothing else: a manifest is data and runs no code of its own.
 */
export interface Expression {
  readonly text: string;
  /** Names it reads. */
  readonly names: readonly string[];
  /** @throws ExpressionError when a name has no value, or a result is negative, not finite or divides by zero. */
  evaluate(scope: Scope): number;
}

export type Scope = ReadonlyMap<string, number>;

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

type Node = (scope: Scope) => number;

/** Parses one expression. @throws ExpressionError naming the position. */
export function parseExpression(source: string | number): Expression {
  const text = String(source);
  const parser = new ExpressionParser(text);
  const node = parser.parse();
  return {
    text,
    names: [...parser.names],
    evaluate(scope) {
      const value = node(scope);
      if (value < 0) throw new ExpressionError(`'${text}' is ${value}, below zero`);
      return value;
    },
  };
}

const FUNCTIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  ceilDiv: ([dividend, divisor]) => Math.ceil(dividend / nonZero(divisor)),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
};
const FUNCTION_NAMES = new Set(Object.keys(FUNCTIONS));

/** Longer text is a mistake, and bounds the parser's recursion. */
const MAX_LENGTH = 200;
const TOKEN = /\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/(),]))/y;

class ExpressionParser {
  readonly names = new Set<string>();
  private readonly tokens: { text: string; kind: 'integer' | 'name' | 'symbol'; at: number }[] = [];
  private next = 0;

  constructor(private readonly text: string) {
    if (text.length > MAX_LENGTH) throw new ExpressionError(`longer than ${MAX_LENGTH} characters`);
    TOKEN.lastIndex = 0;
    let at = 0;
    while (text.slice(at).trim() !== '') {
      TOKEN.lastIndex = at;
      const match = TOKEN.exec(text);
      if (match === null) throw new ExpressionError(`'${text}' cannot be read at position ${at}`);
      at = TOKEN.lastIndex;
      const kind = match[1] !== undefined ? 'integer' : match[2] !== undefined ? 'name' : 'symbol';
      this.tokens.push({ text: match[0].trim(), kind, at: at - match[0].trimStart().length });
    }
  }

  parse(): Node {
    const node = this.sum();
    if (this.next < this.tokens.length) this.unexpected();
    return node;
  }

  private sum(): Node {
    let left = this.product();
    for (;;) {
      const a = left;
      if (this.take('+')) {
        const b = this.product();
        left = (scope) => exact(a(scope) + b(scope));
      } else if (this.take('-')) {
        const b = this.product();
        left = (scope) => exact(a(scope) - b(scope));
      } else return left;
    }
  }

  private product(): Node {
    let left = this.factor();
    for (;;) {
      const a = left;
      if (this.take('*')) {
        const b = this.factor();
        left = (scope) => exact(a(scope) * b(scope));
      } else if (this.take('/')) {
        const b = this.factor();
        left = (scope) => Math.floor(a(scope) / nonZero(b(scope)));
      } else return left;
    }
  }

  private factor(): Node {
    const token = this.tokens[this.next];
    if (token === undefined) this.unexpected();
    if (token.kind === 'symbol') {
      if (!this.take('(')) this.unexpected();
      const inner = this.sum();
      this.expect(')');
      return inner;
    }
    this.next += 1;
    if (token.kind === 'integer') {
      const value = exact(Number(token.text));
      return () => value;
    }
    return FUNCTION_NAMES.has(token.text) ? this.call(token.text) : this.name(token.text);
  }

  private name(name: string): Node {
    this.names.add(name);
    return (scope) => {
      const value = scope.get(name);
      if (value === undefined) throw new ExpressionError(`'${name}' has no value`);
      return value;
    };
  }

  private call(name: string): Node {
    const apply = FUNCTIONS[name];
    const operands: Node[] = [];
    this.expect('(');
    do operands.push(this.sum());
    while (this.take(','));
    this.expect(')');
    if (operands.length < 2 || (name === 'ceilDiv' && operands.length !== 2)) {
      throw new ExpressionError(
        `'${this.text}': ${name} takes ${name === 'ceilDiv' ? 'two' : 'two or more'} values`,
      );
    }
    return (scope) => apply(operands.map((operand) => operand(scope)));
  }

  private take(symbol: string): boolean {
    const token = this.tokens[this.next];
    if (token?.kind !== 'symbol' || token.text !== symbol) return false;
    this.next += 1;
    return true;
  }

  private expect(symbol: string): void {
    if (!this.take(symbol)) this.unexpected(`, '${symbol}' expected`);
  }

  private unexpected(hint = ''): never {
    const token = this.tokens[this.next];
    throw new ExpressionError(
      token === undefined
        ? `'${this.text}' ends too early${hint}`
        : `'${this.text}' has '${token.text}' at position ${token.at}${hint}`,
    );
  }
}

function exact(value: number): number {
  if (!Number.isSafeInteger(value)) throw new ExpressionError(`${value} is not an exact integer`);
  return value;
}

function nonZero(divisor: number): number {
  if (divisor === 0) throw new ExpressionError('division by zero');
  return divisor;
}
