import type { IrParameter, IrVariable, ScalarType } from './ir.js';
import { literalValue, parseLiteral } from './literals.js';
import { isScalarType, typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

/** Larger than any device's memory: a size beyond it is a mistake in the text, not a request. */
const largestVariableBytes = 2 ** 40;
const largestAlign = 1 << 16;
const deepestInitialiser = 64;

export interface DeclaredVariables {
  readonly variables: IrVariable[];
  /** Texture, sampler and surface references: known names that no memory stands behind. */
  readonly opaque: string[];
}

type VariableSpace = IrVariable['space'];
type Relocation = NonNullable<IrVariable['relocations']>[number];

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

/** `.align n`, `.v4`, `.attribute(…)` and the type, in any order before the type, as PTX writers do. */
function parseDeclaredType(stream: TokenStream): DeclaredType {
  let elements = 1;
  let align = 0;
  for (;;) {
    if (stream.is('.align')) align = parseAlign(stream);
    else if (stream.accept('.v2')) elements = 2;
    else if (stream.accept('.v4')) elements = 4;
    else if (stream.accept('.attribute')) {
      stream.expect('(');
      while (!stream.accept(')')) {
        if (stream.is(';') || stream.peek().kind === 'end') stream.fail("')' after the attributes");
        stream.next();
      }
    } else break;
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
function parseExtents(stream: TokenStream): { count: number; isOpen: boolean } {
  let count = 1;
  let isOpen = false;
  for (let dimension = 0; stream.accept('['); dimension++) {
    if (dimension === 0 && stream.accept(']')) {
      isOpen = true;
      continue;
    }
    const token = stream.peek();
    count *= stream.count('an array extent');
    if (count > largestVariableBytes) stream.fail('an array that fits an address space', token);
    stream.expect(']');
  }
  return { count, isOpen };
}

/** Collects the bytes of an initialiser as they are read. */
class InitialBytes {
  private readonly bytes: number[] = [];
  readonly relocations: Relocation[] = [];

  constructor(
    private readonly stream: TokenStream,
    private readonly type: ScalarType,
  ) {}

  get length(): number {
    return this.bytes.length;
  }

  toArray(): Uint8Array {
    return Uint8Array.from(this.bytes);
  }

  parse(depth = 0): void {
    // An array has a dimension a brace; far beyond any of them, recursion would only overflow.
    if (depth > deepestInitialiser) this.stream.fail(`at most ${deepestInitialiser} nested braces`);
    if (!this.stream.accept('{')) {
      this.parseElement();
      return;
    }
    while (!this.stream.accept('}')) {
      this.parse(depth + 1);
      if (!this.stream.is('}')) this.stream.expect(',', 'between initial values');
    }
  }

  private parseElement(): void {
    const token = this.stream.peek();
    if (token.kind === 'word') {
      this.parseAddress();
      return;
    }
    const negative = this.stream.accept('-');
    if (this.stream.peek().kind !== 'number') this.stream.fail('an initial value');
    const literal = parseLiteral(this.stream.next().text, negative);
    if (this.stream.is('(')) {
      this.stream.fail(
        'an initial value (masked parts of addresses are not supported)',
        token,
        'unsupported',
      );
    }
    const view = new DataView(new ArrayBuffer(8));
    const isFloat = this.type === 'f32' || this.type === 'f64';
    if (literal.kind === 'float' && isFloat) {
      if (this.type === 'f32') view.setFloat32(0, literalValue(literal), true);
      else view.setFloat64(0, literalValue(literal), true);
      if (literal.width === 32 && this.type === 'f32') view.setInt32(0, literal.low, true);
    } else if (isFloat && literal.kind === 'integer') {
      const value = Number((BigInt(literal.high) << 32n) | BigInt(literal.low >>> 0));
      if (this.type === 'f32') view.setFloat32(0, value, true);
      else view.setFloat64(0, value, true);
    } else {
      view.setInt32(0, literal.low, true);
      view.setInt32(4, literal.high, true);
    }
    for (let i = 0; i < typeBytes(this.type); i++) this.bytes.push(view.getUint8(i));
  }

  private parseAddress(): void {
    let generic = false;
    let symbol = this.stream.word('a symbol').text;
    if (symbol === 'generic' && this.stream.accept('(')) {
      generic = true;
      symbol = this.stream.word('the name of a variable').text;
      this.stream.expect(')');
    }
    let addend = 0;
    if (this.stream.is('+') || this.stream.is('-')) {
      const sign = this.stream.next().text === '-' ? -1 : 1;
      addend = sign * this.stream.count('an offset in bytes');
    }
    this.relocations.push({ offset: this.bytes.length, symbol, addend, generic });
    for (let i = 0; i < typeBytes(this.type); i++) this.bytes.push(0);
  }
}

/** A variable declaration after its state space, to the `;`. */
export function parseVariables(
  stream: TokenStream,
  space: VariableSpace,
  isExtern: boolean,
): DeclaredVariables {
  const declared = parseDeclaredType(stream);
  const variables: IrVariable[] = [];
  const opaque: string[] = [];
  do {
    const name = stream.word('the name of a variable');
    const extents = parseExtents(stream);
    if (declared.type === undefined) {
      opaque.push(name.text);
      if (stream.is('=')) stream.fail("';' (initialised texture references are not supported)");
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

/** Lays parameters out one after another, each at its alignment. */
export class ParameterLayout {
  readonly parameters: IrParameter[] = [];
  private end = 0;

  get bytes(): number {
    return this.end;
  }

  add(name: string, type: ScalarType, bytes: number, align: number): void {
    const offset = Math.ceil(this.end / align) * align;
    this.parameters.push({ name, type, offset, bytes, align });
    this.end = offset + bytes;
  }
}

/** One `.param` declaration, its `.param` included, without what follows it. */
export function parseParameter(
  stream: TokenStream,
  layout: ParameterLayout,
  rename?: (name: string) => string,
): void {
  if (stream.is('.reg'))
    stream.fail('.param (parameters in registers are not supported)', stream.peek(), 'unsupported');
  stream.expect('.param');
  const declared = parseDeclaredType(stream);
  if (declared.type === undefined) {
    stream.fail('a parameter that is not a texture, sampler or surface', stream.peek(), 'unsupported');
  }
  if (stream.accept('.ptr')) {
    for (;;) {
      if (stream.is('.align')) parseAlign(stream);
      else if (/^\.(global|const|shared|local|generic)$/.test(stream.peek().text)) stream.next();
      else break;
    }
  }
  const name = stream.word('the name of a parameter');
  const extents = parseExtents(stream);
  const bytes = extents.isOpen ? 0 : extents.count * typeBytes(declared.type) * declared.elements;
  // The parameter space of a launch is at most 32 KiB; far beyond it the text is wrong.
  if (bytes > 1 << 20) stream.fail('a parameter of at most 1 MiB', name);
  layout.add(rename === undefined ? name.text : rename(name.text), declared.type, bytes, declared.align);
}

/** `( .param … , .param … )`, or nothing when the next token is no `(`. */
export function parseParameterList(stream: TokenStream): ParameterLayout {
  const layout = new ParameterLayout();
  if (!stream.accept('(') || stream.accept(')')) return layout;
  do {
    parseParameter(stream, layout);
  } while (stream.accept(','));
  stream.expect(')', 'after the parameters');
  return layout;
}
