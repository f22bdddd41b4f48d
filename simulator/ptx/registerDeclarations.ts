import { parseDeclaredType } from './declaredTypes.js';
import type { Token } from './lexer.js';
import type { RegisterDeclaration } from './scopes.js';
import type { TokenStream } from './tokenStream.js';

/** A range of registers is only a promise of names, but a count beyond this is a mistake. */
const mostRegistersInRange = 1 << 24;

/** After `.reg`, to the `;`: `.v2 .f32 a, b<10>;`, each with the token of its name. */
export function* parseRegisters(
  stream: TokenStream,
): Iterable<RegisterDeclaration & { readonly token: Token }> {
  const declared = parseDeclaredType(stream, 'reg');
  const { type, elements: width } = declared;
  if (type === undefined) stream.fail(`a register type such as .b32, not .${declared.opaque}`);
  if (stream.accept(';')) return;
  do {
    const token = stream.name('a register name');
    let count: number | undefined;
    if (stream.accept('<')) {
      count = stream.count('a number of registers');
      if (count > mostRegistersInRange) stream.fail(`at most ${mostRegistersInRange} registers`, token);
      stream.expect('>', 'after the number of registers');
    }
    yield { name: token.text, ...(count === undefined ? {} : { count }), type, width, token };
  } while (stream.accept(','));
  stream.expect(';', 'after the registers');
}
