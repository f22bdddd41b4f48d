import { PtxParseError } from './errors.js';

/** `dotted` is a dot and the word after it, such as `.reg`, `.s32`, `.L2::128B`. */
export type TokenKind = 'word' | 'dotted' | 'number' | 'string' | 'punctuation' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

const number =
  /0[fF][0-9a-fA-F]{8}(?![\w$])|0[dD][0-9a-fA-F]{16}(?![\w$])|0[xX][0-9a-fA-F]+U?(?![\w$])|0[bB][01]+U?(?![\w$])|\d+\.\d*(?:[eE][+-]?\d+)?(?![\w$])|\d+[eE][+-]?\d+(?![\w$])|(?:0[0-7]*|[1-9]\d*)U?(?![\w$])/y;
const string = /"(?:[^"\\\n]|\\[^\n])*"/y;
/** What a preprocessor leaves: `# 12 "a.cu"`, `#line 12`. */
const lineDirective = /#[ \t]*(?:(?:line|file)\b|\d)[^\n]*/y;
/** Debug information that the first compilers wrote a line at a time. */
const dwarfLine = /@@(?:DWARF|dwarf)\b[^\n]*/y;
/** More digits than any number of 64 bits has, leading zeros of a binary one included. */
const mostDigits = 96;

const LETTER = 1;
const DIGIT = 2;
const PUNCTUATION = 4;
const SPACE = 8;
const classes = new Uint8Array(128);
const classify = (characters: string, kind: number): void => {
  for (const character of characters) classes[character.charCodeAt(0)] = kind;
};
classify('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$', LETTER);
classify('0123456789', DIGIT);
classify('{}()[]<>,;:|@!+-=*&~?^/', PUNCTUATION);
classify(' \t\r\f\v', SPACE);

/** Splits PTX text into tokens, without comments. */
export class Lexer {
  private at = 0;
  private line = 1;

  constructor(
    private readonly text: string,
    private readonly file: string,
  ) {
    // A byte order mark is no text.
    if (text.startsWith('\uFEFF')) this.at = 1;
  }

  /**
   * The next token; `end`, again and again, after the last.
   * @throws PtxParseError at a character or literal that PTX does not have
   */
  next(): Token {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (Number.isNaN(code)) return { kind: 'end', text: '', line: this.line };
      const kind = this.classOf(this.at);
      if (kind === SPACE) this.at++;
      else if (code === 10) {
        this.at++;
        this.line++;
      } else if (kind === LETTER || code === 37) return this.take('word', this.wordEnd(this.at + 1));
      else if (code === 46 && (this.classOf(this.at + 1) & (LETTER | DIGIT)) !== 0) return this.dotted();
      else if (kind === DIGIT) return this.number();
      else if (code === 34) return this.string();
      else if (code === 35) this.skipLineDirective();
      else if (code === 64 && this.skipDwarf()) continue;
      else if (code !== 47 || !this.skipComment()) {
        if (kind !== PUNCTUATION) this.fail('PTX text', describe(this.text.charAt(this.at)));
        return this.take('punctuation', this.at + 1);
      }
    }
  }

  private classOf(at: number): number {
    return classes[this.text.charCodeAt(at)] ?? 0;
  }

  private wordEnd(from: number): number {
    let end = from;
    while ((this.classOf(end) & (LETTER | DIGIT)) !== 0) end++;
    return end;
  }

  private take(kind: TokenKind, end: number): Token {
    const text = this.text.slice(this.at, end);
    this.at = end;
    return { kind, text, line: this.line };
  }

  private dotted(): Token {
    let end = this.wordEnd(this.at + 1);
    while (this.text.startsWith('::', end) && (this.classOf(end + 2) & (LETTER | DIGIT)) !== 0) {
      end = this.wordEnd(end + 2);
    }
    return this.take('dotted', end);
  }

  private number(): Token {
    number.lastIndex = this.at;
    const isNumber = number.test(this.text);
    if (isNumber && number.lastIndex - this.at <= mostDigits) return this.take('number', number.lastIndex);
    const found = /^[\w.$]*/.exec(this.text.slice(this.at, this.at + 24))?.[0] ?? '';
    return this.fail(
      isNumber ? `a number that 64 bits hold, of at most ${mostDigits} digits` : 'a PTX number',
      `'${found}'`,
    );
  }

  private string(): Token {
    string.lastIndex = this.at;
    if (!string.test(this.text)) this.fail("'\"' at the end of a text", "'\"'");
    return this.take('string', string.lastIndex);
  }

  private skipLineDirective(): void {
    lineDirective.lastIndex = this.at;
    const isFirst = this.at === 0 || this.text.charAt(this.at - 1) === '\n';
    if (!isFirst || !lineDirective.test(this.text)) this.fail('PTX text', "'#'");
    this.at = lineDirective.lastIndex;
  }

  /** @returns whether there was a line of it */
  private skipDwarf(): boolean {
    dwarfLine.lastIndex = this.at;
    if (!dwarfLine.test(this.text)) return false;
    this.at = dwarfLine.lastIndex;
    return true;
  }

  /** @returns whether there was one */
  private skipComment(): boolean {
    if (this.text.startsWith('//', this.at)) {
      const end = this.text.indexOf('\n', this.at);
      this.at = end < 0 ? this.text.length : end;
      return true;
    }
    if (!this.text.startsWith('/*', this.at)) return false;
    const end = this.text.indexOf('*/', this.at + 2);
    if (end < 0) this.fail("'*/' at the end of a comment", 'the end of the file');
    for (let at = this.at; at < end; at++) if (this.text.charCodeAt(at) === 10) this.line++;
    this.at = end + 2;
    return true;
  }

  private fail(expected: string, found: string): never {
    throw new PtxParseError('syntax', this.file, this.line, expected, found);
  }
}

function describe(character: string): string {
  return /[\x21-\x7e]/.test(character)
    ? `'${character}'`
    : `character U+${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
