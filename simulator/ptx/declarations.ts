import { parseCount } from './constantExpressions.js';
import type { IrVariable, Linkage, ScalarType } from './ir.js';
import { InitialBytes } from './initialBytes.js';
import { isScalarType, typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

/** Larger than any device's memory: a size beyond it is a mistake in the text, not a request. */
const largestVariableBytes = 2 ** 40;
const largestAlign = 1 << 16;

export interface DeclaredVariables {
  readonly variables: IrVariable[];
  /** Texture, sampler and surface references: known names that no memory stands behind. */
  readonly opaque: string[];
}

type VariableSpace = IrVariable['space'];

interface DeclaredType {
  readonly type: ScalarType | undefined;
  readonly elements: number;
  readonly align: number;
}

export function parseAlign(stream: TokenStream): number {
  stream.expect('.align');
  const token = stream.peek();
  const align = stream.count('an alignment in bytes');
  if (align < 1 || align > largestAlign || (align & (align - 1)) !== 0) {
    stream.fail('an alignment that is a power of two', token);
  }
  return align;
}

/** `(.managed)`, `(.unified(0xAB, 0xCD))`, after `.attribute`. */
export function skipAttribute(stream: TokenStream): void {
  stream.expect('(', 'after .attribute');
  for (let depth = 1; depth > 0;) {
    const token = stream.next();
    if (token.kind === 'end' || token.text === ';') stream.fail("')' after the attributes", token);
    if (token.text === '(') depth++;
    if (token.text === ')') depth--;
  }
}

/** `.align n`, `.v4`, `.attribute(…)` and the type, in any order before the type, as PTX writers do. */
export function parseDeclaredType(stream: TokenStream): DeclaredType {
  let elements = 1;
  let align = 0;
  for (;;) {
    if (stream.is('.align')) align = parseAlign(stream);
    else if (stream.accept('.v2')) elements = 2;
    else if (stream.accept('.v4')) elements = 4;
    else if (stream.accept('.attribute')) skipAttribute(stream);
    else break;
  }
  const token = stream.peek();
  const text = token.text.slice(1);
  if (token.kind === 'dotted' && /^(texref|samplerref|surfref)$/.test(text)) {
    stream.next();
    return { type: undefined, elements, align: 8 };
  }
  if (token.kind !== 'dotted' || !isScalarType(text)) stream.fail('a type such as .u32');
  stream.next();
  return { type: text, elements, align: Math.max(align, typeBytes(text) * elements) || 1 };
}

/** `[4][8]`; an empty first extent gives undefined, to be taken from the initialiser. */
export function parseExtents(stream: TokenStream): { count: number; isOpen: boolean } {
  let count = 1;
  let isOpen = false;
  for (let dimension = 0; stream.accept('['); dimension++) {
    if (dimension === 0 && stream.accept(']')) {
      isOpen = true;
      continue;
    }
    const token = stream.peek();
    count *= parseCount(stream, 'an array extent');
    if (count > largestVariableBytes) stream.fail('an array that fits an address space', token);
    stream.expect(']');
  }
  return { count, isOpen };
}

/** A variable declaration after its state space, to the `;`. */
export function parseVariables(
  stream: TokenStream,
  space: VariableSpace,
  linkage?: Linkage,
): DeclaredVariables {
  const isExtern = linkage === 'extern';
  const declared = parseDeclaredType(stream);
  const variables: IrVariable[] = [];
  const opaque: string[] = [];
  do {
    const name = stream.word('the name of a variable');
    const extents = parseExtents(stream);
    if (declared.type === undefined) {
      opaque.push(name.text);
      if (stream.accept('=')) stream.skipBraces();
      continue;
    }
    const elementBytes = typeBytes(declared.type) * declared.elements;
    let bytes = extents.isOpen ? 0 : extents.count * elementBytes;
    let initial: InitialBytes | undefined;
    if (stream.accept('=')) {
      const values = stream.peek();
      if (space === 'shared' || space === 'local')
        stream.fail(`';' (a .${space} variable has no initial value)`);
      initial = new InitialBytes(stream, declared.type);
      initial.parse();
      if (extents.isOpen)
        bytes = Math.ceil(initial.length / (extents.count * elementBytes)) * extents.count * elementBytes;
      if (initial.length > bytes)
        stream.fail(`at most ${bytes} bytes of initial values for ${name.text}`, values);
    } else if (extents.isOpen && !isExtern) {
      stream.fail(`an extent for the array ${name.text}, which is neither .extern nor initialised`, name);
    }
    if (bytes > largestVariableBytes) stream.fail('a variable that fits an address space', name);
    variables.push({
      name: name.text,
      space,
      type: declared.type,
      bytes,
      align: declared.align,
      isExtern,
      ...(linkage === undefined ? {} : { linkage }),
      ...(initial === undefined ? {} : { initial: initial.toArray() }),
      ...(initial === undefined || initial.relocations.length === 0
        ? {}
        : { relocations: initial.relocations }),
      line: name.line,
    });
  } while (stream.accept(','));
  stream.expect(';', 'after a variable');
  return { variables, opaque };
}
