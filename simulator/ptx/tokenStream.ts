import type { PtxErrorCode } from './errors.js';
import { PtxParseError } from './errors.js';
import type { Token } from './lexer.js';
import { tokenize } from './lexer.js';

/** Walks the tokens of one file and makes its errors. */
export class TokenStream {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(
    text: string,
    readonly file: string,
  ) {
    this.tokens = tokenize(text, file);
  }

  get position(): number {
    return this.at;
  }

  rewind(position: number): void {
    this.at = position;
  }

  peek(ahead = 0): Token {
    const last = this.tokens.length - 1;
    return this.tokens[Math.min(this.at + ahead, last)];
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.at++;
    return token;
  }

  /** Whether the next token is this text (not inside a string). */
  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.text === text && token.kind !== 'end';
  }

  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
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

  /** A small non-negative integer, as directives and array extents have. */
  count(purpose: string): number {
    const token = this.peek();
    const value = token.kind === 'number' ? Number(token.text.replace(/U$/, '')) : NaN;
    if (!Number.isSafeInteger(value)) this.fail(purpose);
    this.next();
    return value;
  }

  /** Drops the rest of the next token's line: debug directives end with their line. */
  skipLine(): void {
    const { line } = this.peek();
    while (this.peek().kind !== 'end' && this.peek().line === line) this.at++;
  }

  /** Drops everything up to and including the `;` of this statement, braces balanced. */
  skipStatement(): void {
    let depth = 0;
    for (;;) {
      const token = this.peek();
      if (token.kind === 'end') this.fail("';'");
      if (token.text === '{' && token.kind === 'punctuation') depth++;
      if (token.text === '}' && token.kind === 'punctuation' && --depth < 0) this.fail("';'");
      this.at++;
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
