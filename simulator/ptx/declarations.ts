import {
  type DeclaredType,
  parseDeclaredType,
  parseExtents,
  parseNames,
  type Extents,
} from './declaredTypes.js';
import type { IrVariable, Linkage } from './ir.js';
import { InitialBytes } from './initialBytes.js';
import type { Token } from './lexer.js';
import { typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

/** A name that is declared: a variable, or a texture, sampler or surface, which no memory stands behind. */
export interface Declared {
  readonly token: Token;
  readonly name: string;
  /** What another declaration of the same name must agree in. */
  readonly shape: VariableShape;
  readonly isExtern: boolean;
  readonly variable?: IrVariable;
}

export interface VariableShape {
  /** Type and vector, and the inner extents of an array. */
  readonly text: string;
  /** Outermost extent; 0 of an open one, undefined of what is no array. */
  readonly extent: number | undefined;
}

type VariableSpace = IrVariable['space'];

/** Where a declaration stands. */
export interface DeclarationPlace {
  readonly space: VariableSpace;
  readonly linkage?: Linkage | undefined;
  readonly isInside: boolean;
}

/** A variable declaration after its state space, to the `;`; without a name it declares nothing. */
export function parseVariables(stream: TokenStream, place: DeclarationPlace): Declared[] {
  const typeToken = stream.peek();
  const declared = parseDeclaredType(stream, place.space);
  if (declared.opaque !== undefined && (place.space !== 'global' || place.isInside))
    stream.fail(`.${declared.opaque} outside of functions, in .global`, typeToken);
  const found: Declared[] = [];
  if (stream.accept(';')) return found;
  do {
    const token = stream.name('the name of a variable');
    const names = parseNames(stream, token.text);
    if (names === undefined) found.push(parseVariable(stream, place, declared, token));
    else for (const name of names) found.push(declaredAs(place, declared, name, token, noExtents));
  } while (stream.accept(','));
  stream.expect(';', 'after a variable');
  return found;
}

const noExtents: Extents = { extents: [], isOpen: false, count: 1 };

/** One variable from behind its name on. */
function parseVariable(
  stream: TokenStream,
  place: DeclarationPlace,
  declared: DeclaredType,
  token: Token,
): Declared {
  const { space, linkage } = place;
  const extents = parseExtents(stream);
  if (declared.type === undefined) {
    if (extents.isOpen) stream.fail(`an extent for the array ${token.text}`, token);
    if (stream.accept('=')) stream.skipBraces();
    return declaredAs(place, declared, token.text, token, extents);
  }
  if (!stream.accept('=')) {
    if (extents.isOpen && linkage !== 'extern')
      stream.fail(`an extent for the array ${token.text}, which is neither .extern nor initialised`, token);
    return declaredAs(place, declared, token.text, token, extents);
  }
  if (space === 'shared' || space === 'local') stream.fail(`';' (a .${space} variable has no initial value)`);
  if (linkage === 'extern')
    stream.fail("';' (an .extern variable has its value where it is defined: declare it .visible)");
  const { type, elements } = declared;
  const initial = new InitialBytes(stream, { type, elements, extents: extents.extents });
  initial.parse();
  return declaredAs(place, declared, token.text, token, extents, initial);
}

function declaredAs(
  { space, linkage }: DeclarationPlace,
  { type, opaque, elements, align }: DeclaredType,
  name: string,
  token: Token,
  { extents, isOpen, count }: Extents,
  initial?: InitialBytes,
): Declared {
  const [extent, ...inner] = extents;
  const shape = { text: `.v${elements} .${type ?? opaque} [${inner.join('][')}]`, extent };
  const isExtern = linkage === 'extern';
  if (type === undefined) return { token, name, shape, isExtern };
  const bytes = (isOpen ? (initial?.rows ?? 0) : 1) * count * typeBytes(type) * elements;
  const relocations = initial?.relocations ?? [];
  return {
    token,
    name,
    shape,
    isExtern,
    variable: {
      name,
      space,
      type,
      bytes,
      align,
      isExtern,
      ...(linkage === undefined ? {} : { linkage }),
      ...(initial === undefined ? {} : { initial: initial.toArray(bytes) }),
      ...(relocations.length === 0 ? {} : { relocations }),
      line: token.line,
    },
  };
}
