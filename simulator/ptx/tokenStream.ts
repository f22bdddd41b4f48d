import { type Dialect, newestDialect } from './dialect.js';
import type { PtxErrorCode } from './errors.js';
import { PtxParseError } from './errors.js';
import type { Token } from './lexer.js';
import { Lexer } from './lexer.js';
import { integerValue } from './literals.js';

/** Walks the tokens of one file, looking ahead as far as it must, and makes its errors. */
export class TokenStream {
  private readonly lexer: Lexer;
  /** The next token, and those behind it that were looked at. */
  private current: Token;
  private readonly ahead: Token[] = [];
  /** Which PTX it is, once its head has been read. */
  dialect: Dialect = newestDialect;
  /** Variables that were declared by number so far. */
  numberedNames = 0;

  constructor(
    private readonly text: string,
    readonly file: string,
  ) {
    this.lexer = new Lexer(text, file);
    this.current = this.lexer.next();
  }

  peek(ahead = 0): Token {
    if (ahead === 0) return this.current;
    while (this.ahead.length < ahead) this.ahead.push(this.lexer.next());
    return this.ahead[ahead - 1] ?? this.current;
  }

  next(): Token {
    const token = this.current;
    if (token.kind !== 'end') this.current = this.ahead.shift() ?? this.lexer.next();
    return token;
  }

  /** Whether the text has this anywhere, as a name or in one. */
  mentions(name: string): boolean {
    return this.text.includes(name);
  }

  /** Whether the next token is this text (not inside a string). */
  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.text === text && token.kind !== 'end';
  }

  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.next();
    return true;
  }

  expect(text: string, purpose?: string): Token {
    if (!this.is(text)) this.fail(purpose === undefined ? `'${text}'` : `'${text}' ${purpose}`);
    return this.next();
  }

  word(purpose: string): Token {
    if (this.peek().kind !== 'word') this.fail(purpose);
    return this.next();
  }

  /** A word that may be the name of something: not a lone `_`, `$` or `%`, nor WARP_SZ. */
  name(purpose: string): Token {
    if (/^(?:[_$%]|WARP_SZ)$/.test(this.peek().text)) this.fail(purpose);
    return this.word(purpose);
  }

  /** A small non-negative integer, as directives have. */
  count(purpose: string): number {
    const token = this.peek();
    const value = Number(this.integer(purpose));
    if (!Number.isSafeInteger(value)) this.fail(purpose, token);
    return value;
  }

  /** An integer literal without a sign. */
  integer(purpose: string): bigint {
    const token = this.peek();
    const literal = token.kind === 'number' && !/[.]|^0[fFdD]|^\d+[eE]/.test(token.text);
    if (!literal) this.fail(purpose);
    this.next();
    return (
      integerValue(token.text) ??
      this.fail('an integer of at most 64 bits (0 to 18446744073709551615)', token, 'unsupported')
    );
  }

  /** Drops everything up to and including the `;` of this statement, braces balanced. */
  skipStatement(): void {
    let depth = 0;
    for (;;) {
      const token = this.peek();
      if (token.kind === 'end') this.fail("';'");
      if (token.text === '{' && token.kind === 'punctuation') depth++;
      if (token.text === '}' && token.kind === 'punctuation' && --depth < 0) this.fail("';'");
      this.next();
      if (token.text === ';' && depth === 0) return;
    }
  }

  /** Drops a `{ … }` group whose opening brace comes next. */
  skipBraces(): void {
    this.expect('{');
    for (let depth = 1; depth > 0;) {
      const token = this.next();
      if (token.kind === 'end') this.fail("'}'");
      if (token.kind !== 'punctuation') continue;
      if (token.text === '{') depth++;
      if (token.text === '}') depth--;
    }
  }

  fail(expected: string, token = this.peek(), code: PtxErrorCode = 'syntax'): never {
    const found = token.kind === 'end' ? 'the end of the file' : `'${token.text}'`;
    throw new PtxParseError(code, this.file, token.line, expected, found);
  }
}
