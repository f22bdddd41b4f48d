import { PtxParseError } from './errors.js';

/** `dotted` is a dot and the word after it, such as `.reg`, `.s32`, `.L2::128B`. */
export type TokenKind = 'word' | 'dotted' | 'number' | 'string' | 'punctuation' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

const pattern =
  /([ \t\r\f\v]+)|(\n)|(\/\/[^\n]*|(?<=^|\n)#[ \t]*(?:(?:line|file)\b|\d)[^\n]*)|(\/\*[\s\S]*?\*\/)|(0[fF][0-9a-fA-F]{8}(?![\w$])|0[dD][0-9a-fA-F]{16}(?![\w$])|0[xX][0-9a-fA-F]+U?(?![\w$])|0[bB][01]+U?(?![\w$])|\d+\.\d*(?:[eE][+-]?\d+)?(?![\w$])|\d+[eE][+-]?\d+(?![\w$])|\d+U?(?![\w$]))|([A-Za-z_$%][\w$]*)|(\.[\w$]+(?:::[\w$]+)*)|("(?:[^"\\\n]|\\[^\n])*")|([{}()[\]<>,;:|@!+\-=*&~?^]|\/(?!\*))/y;

function describe(character: string): string {
  return /[\x21-\x7e]/.test(character)
    ? `'${character}'`
    : `character U+${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/**
 * Splits PTX text into tokens, without comments. The last token is always `end`.
 * @throws PtxParseError at a character or literal that PTX does not have.
 */
export function tokenize(text: string, file: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  pattern.lastIndex = 0;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      const rest = text.slice(at, at + 24);
      if (rest.startsWith('/*')) {
        throw new PtxParseError('syntax', file, line, "'*/' at the end of a comment", 'the end of the file');
      }
      const literal = /^\d[\w.$]*/.exec(rest);
      if (literal !== null) {
        throw new PtxParseError('syntax', file, line, 'a PTX number', `'${literal[0]}'`);
      }
      throw new PtxParseError('syntax', file, line, 'PTX text', describe(text.charAt(at)));
    }
    const found = match[0];
    if (match[1] !== undefined || match[3] !== undefined) continue;
    if (match[2] !== undefined) line++;
    else if (match[4] !== undefined) line += found.split('\n').length - 1;
    else if (match[5] !== undefined) tokens.push({ kind: 'number', text: found, line });
    else if (match[6] !== undefined) tokens.push({ kind: 'word', text: found, line });
    else if (match[7] !== undefined) tokens.push({ kind: 'dotted', text: found, line });
    else if (match[8] !== undefined) tokens.push({ kind: 'string', text: found, line });
    else tokens.push({ kind: 'punctuation', text: found, line });
  }
  tokens.push({ kind: 'end', text: '', line });
  return tokens;
}
