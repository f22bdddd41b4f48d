import type { Token } from './lexer.js';
import { doubleLiteral, integerLiteral, literalValue, parseLiteral, type Literal } from './literals.js';
import type { TokenStream } from './tokenStream.js';

/** Parentheses and signs nest a few levels; each is a call of this parser's own. */
const deepestNesting = 64;
const largestCount = BigInt(Number.MAX_SAFE_INTEGER);

/** Integers are of 64 bits, signed unless too large for it, marked `U` or cast; a float literal in hexadecimal keeps its bits. */
interface IntegerValue {
  readonly kind: 'integer';
  readonly value: bigint;
  readonly isUnsigned: boolean;
}
interface FloatValue {
  readonly kind: 'float';
  readonly value: number;
  readonly literal?: Literal & { kind: 'float' };
}
type Value = IntegerValue | FloatValue;

/** Binary operators by precedence, weakest first, longer spellings before their beginnings. */
const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<=', '>=', '<', '>'],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];
const productLevel = levels.length - 1;

/** Whether a constant expression can begin here; a sign or `!` before a name belongs to an operand. */
export function startsConstant(stream: TokenStream): boolean {
  const token = stream.peek();
  if (token.kind === 'number' || token.text === 'WARP_SZ') return true;
  if (isBareFraction(stream)) return true;
  if (token.kind !== 'punctuation') return false;
  if (token.text === '(' || token.text === '~') return true;
  if (!/^[-+!]$/.test(token.text)) return false;
  const after = stream.peek(1);
  return after.kind !== 'word' || after.text === 'WARP_SZ';
}

/** `.5`, which reads like a modifier. */
function isBareFraction(stream: TokenStream): boolean {
  const { kind, text } = stream.peek();
  return kind === 'dotted' && /^\.\d+(?:[eE]\d+)?$/.test(text);
}

/** A constant expression as an operand or an initial value. @throws PtxParseError */
export function parseConstant(stream: TokenStream): Literal {
  const found = parseConditional(stream, 0);
  if (found.kind === 'integer') return integerLiteral(found.value);
  return found.literal ?? doubleLiteral(found.value);
}

/** `+ 4*2`, `- 4`, `+-4`, `+8-4` behind a base, or nothing, in bytes. @throws PtxParseError */
export function parseOffset(stream: TokenStream): number {
  let total = 0n;
  while (stream.is('+') || stream.is('-')) {
    const token = stream.peek();
    const isNegative = stream.next().text === '-';
    const term = startsConstant(stream)
      ? parseBinary(stream, isNegative ? productLevel : 0, 0)
      : stream.fail('an offset in bytes');
    if (term.kind !== 'integer') stream.fail('an offset in bytes, which is an integer', token);
    total += isNegative ? -term.value : term.value;
    if (total > largestCount || total < -largestCount)
      stream.fail(`an offset of at most ${largestCount} bytes`, token);
  }
  return Number(total);
}

function parseConditional(stream: TokenStream, depth: number): Value {
  if (isBits(stream.peek())) {
    const literal = parseNumber(stream);
    if (literal.kind === 'float') return floatOf(literal);
  }
  const condition = parseBinary(stream, 0, depth);
  const token = stream.peek();
  if (!stream.accept('?')) return condition;
  if (depth >= deepestNesting) stream.fail(`at most ${deepestNesting} nested conditions`);
  const yes = parseConditional(stream, depth + 1);
  stream.expect(':', 'in a conditional expression');
  const no = parseConditional(stream, depth + 1);
  if (condition.kind === 'float' || yes.kind === 'float' || no.kind === 'float')
    return stream.fail('integers on all sides of a condition', token);
  return condition.value === 0n ? no : yes;
}

/** A float in hexadecimal stands by itself, or in parentheses. */
function isBits({ kind, text }: Token): boolean {
  return kind === 'number' && /^0[fFdD]/.test(text);
}

function parseBinary(stream: TokenStream, level: number, depth: number): Value {
  const operators = levels[level];
  if (operators === undefined) return parseUnary(stream, depth);
  let left = parseBinary(stream, level + 1, depth);
  for (;;) {
    const token = stream.peek();
    const operator = acceptOperator(stream, operators);
    if (operator === undefined) return left;
    const right = parseBinary(stream, level + 1, depth);
    left =
      apply(operator, left, right) ??
      stream.fail(`two numbers of one kind that '${operator}' takes, and a divisor other than 0`, token);
  }
}

/** The operator of this level that comes next: punctuation is read character by character. */
function acceptOperator(stream: TokenStream, operators: readonly string[]): string | undefined {
  const first = stream.peek().text;
  if (first === '"' || !/^(?:[-+*/%<>=!&|^])$/.test(first)) return undefined;
  const second = stream.peek(1).text;
  const isDoubled = /^[<>&|]$/.test(first) && second === first;
  const isComparison = /^[<>=!]$/.test(first) && second === '=';
  const spelled = isDoubled || isComparison ? first + second : first;
  if (!operators.includes(spelled)) return undefined;
  for (let taken = 0; taken < spelled.length; taken++) stream.next();
  return spelled;
}

function parseUnary(stream: TokenStream, depth: number): Value {
  if (depth > deepestNesting) stream.fail(`at most ${deepestNesting} nested expressions`);
  const token = stream.peek();
  if (stream.accept('-')) {
    const value = parseUnary(stream, depth + 1);
    if (value.kind === 'integer') return integer(-value.value, value.isUnsigned);
    return { kind: 'float', value: -value.value };
  }
  if (stream.accept('+')) return parseUnary(stream, depth + 1);
  if (stream.accept('!')) return truth(integerOf(stream, depth, token).value === 0n);
  if (stream.accept('~')) {
    const { value, isUnsigned } = integerOf(stream, depth, token);
    return integer(~value, isUnsigned);
  }
  if (stream.accept('(')) {
    if (stream.is('.u64') || stream.is('.s64')) {
      const isUnsigned = stream.next().text === '.u64';
      stream.expect(')', 'after the type');
      return integer(integerOf(stream, depth, token).value, isUnsigned);
    }
    const value = parseConditional(stream, depth + 1);
    stream.expect(')', 'after the expression');
    return value;
  }
  if (stream.accept('WARP_SZ')) return integer(32n, false);
  if (isBareFraction(stream)) return { kind: 'float', value: Number(stream.next().text) };
  if (isBits(token)) stream.fail('a decimal number, or parentheses around it', token);
  const literal = parseNumber(stream);
  if (literal.kind === 'float') return floatOf(literal);
  const value = (BigInt(literal.high >>> 0) << 32n) | BigInt(literal.low >>> 0);
  return integer(value, token.text.endsWith('U') || value >= 2n ** 63n);
}

function parseNumber(stream: TokenStream): Literal {
  const token = stream.peek();
  if (token.kind !== 'number') stream.fail('a number');
  stream.next();
  return parseLiteral(token.text) ?? stream.fail(heldBy64Bits(token), token, 'unsupported');
}

function heldBy64Bits({ text }: Token): string {
  const range = /^0[xXbB]|^\d+U?$/.test(text) ? '0 to 18446744073709551615' : 'up to 1.8e308';
  return `a number that 64 bits hold (${range})`;
}

/** What `!`, `~` and casts take. */
function integerOf(stream: TokenStream, depth: number, token: Token): IntegerValue {
  const value = parseUnary(stream, depth + 1);
  return value.kind === 'integer' ? value : stream.fail('an integer', token);
}

/** To the assembler's arithmetic the bits of a single are the low ones of a double. */
function floatOf(literal: Literal & { kind: 'float' }): FloatValue {
  return { kind: 'float', value: literalValue({ ...literal, width: 64 }), literal };
}

function integer(value: bigint, isUnsigned: boolean): IntegerValue {
  return {
    kind: 'integer',
    value: isUnsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value),
    isUnsigned,
  };
}

function truth(value: boolean): IntegerValue {
  return integer(value ? 1n : 0n, false);
}

/** @returns undefined where the operator does not take these */
function apply(operator: string, left: Value, right: Value): Value | undefined {
  if (left.kind === 'integer' && right.kind === 'integer') return applyToIntegers(operator, left, right);
  if (left.kind === 'float' && right.kind === 'float')
    return applyToFloats(operator, left.value, right.value);
  return undefined;
}

function applyToFloats(operator: string, left: number, right: number): Value | undefined {
  const compared = comparison(operator, left, right);
  if (compared !== undefined) return truth(compared);
  const float = (value: number): FloatValue => ({ kind: 'float', value });
  switch (operator) {
    case '+':
      return float(left + right);
    case '-':
      return float(left - right);
    case '*':
      return float(left * right);
    case '/':
      return right === 0 ? undefined : float(left / right);
    default:
      return undefined;
  }
}

function applyToIntegers(operator: string, left: IntegerValue, right: IntegerValue): Value | undefined {
  if (operator === '&&') return truth(left.value !== 0n && right.value !== 0n);
  if (operator === '||') return truth(left.value !== 0n || right.value !== 0n);
  const amount = BigInt.asUintN(6, right.value);
  if (operator === '<<') return integer(left.value << amount, left.isUnsigned);
  if (operator === '>>') return integer(left.value >> amount, left.isUnsigned);
  const isUnsigned = left.isUnsigned || right.isUnsigned;
  const { value: a } = integer(left.value, isUnsigned);
  const { value: b } = integer(right.value, isUnsigned);
  const compared = comparison(operator, a, b);
  if (compared !== undefined) return truth(compared);
  const result = combined(operator, a, b);
  return result === undefined ? undefined : integer(result, isUnsigned);
}

function combined(operator: string, a: bigint, b: bigint): bigint | undefined {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0n ? undefined : a / b;
    case '%':
      return b === 0n ? undefined : a % b;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    default:
      return undefined;
  }
}

function comparison<T extends number | bigint>(operator: string, a: T, b: T): boolean | undefined {
  switch (operator) {
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    default:
      return undefined;
  }
}
