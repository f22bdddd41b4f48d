import { parseConstant, parseOffset, startsConstant } from './constantExpressions.js';
import type { IrVariable, ScalarType } from './ir.js';
import { literalValue, type Literal } from './literals.js';
import { typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

type Relocation = NonNullable<IrVariable['relocations']>[number];

/** Braces of a packed pair; far beyond them, recursion would only overflow. */
const deepestPacked = 64;

/** Bytes of an address. */
const WHOLE = 8;

/** Of variables that bytes of an address may be in. */
const MASKED_TYPES: ReadonlySet<ScalarType> = new Set(['u8', 'u32', 'u64']);

/** Of variables that have no such initial value. */
const NUMBERS_OF: Readonly<Record<Literal['kind'], ReadonlySet<ScalarType>>> = {
  integer: new Set(['f32', 'f64']),
  float: new Set(['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64']),
};

/** Of one word, which a float fills as a single. */
const SINGLES: ReadonlySet<ScalarType> = new Set(['f32', 'b32', 'f16x2']);

/** What an initialiser's braces follow. */
export interface InitialShape {
  readonly type: ScalarType;
  /** Of a vector how many elements it has, otherwise 1. */
  readonly elements: number;
  /** Extents of an array, outermost first; 0 of an open one. */
  readonly extents: readonly number[];
}

/**
 * Collects the bytes of an initialiser as they are read: an array's values in braces, those of each of its rows and
 * vectors in braces of their own. An assembler packs what is there: values that a row lacks are those of the next.
 */
export class InitialBytes {
  private found: Relocation[] = [];
  private bytes = new Uint8Array(64);
  private end = 0;

  private readonly type: ScalarType;
  private rowCount = 0;

  constructor(
    private readonly stream: TokenStream,
    private readonly shape: InitialShape,
  ) {
    this.type = shape.type;
  }

  /** How many values the outermost braces hold: the extent of an open array. */
  get rows(): number {
    return this.rowCount;
  }

  get relocations(): readonly Relocation[] {
    return this.found;
  }

  /** @param bytes of the variable: a packed pair is written as a list of which more may stand there than it holds */
  toArray(bytes: number): Uint8Array {
    return this.bytes.slice(0, Math.min(this.end, bytes));
  }

  parse(): void {
    const isOpen = this.shape.extents[0] === 0;
    const token = this.stream.peek();
    if (this.type === 'f16' && !(this.shape.extents.length > 0 && this.stream.is('}', 1)))
      this.stream.fail("';' (a .f16 variable has no initial value: write its bits to a .b16 one)");
    this.parseRows(0);
    if (isOpen && this.rowCount === 0) this.stream.fail('at least one value for an open array', token);
  }

  private parseRows(dimension: number): void {
    const { stream } = this;
    const extent = this.shape.extents[dimension];
    if (extent === undefined) {
      this.parseVector();
      return;
    }
    stream.expect('{', `around the values of ${dimension === 0 ? 'an array' : 'each row of an array'}`);
    let count = 0;
    if (!stream.is('}'))
      do {
        if (extent > 0 && count === extent)
          stream.fail(`'}' after ${extent} initial value${extent === 1 ? '' : 's'}, as the array has`);
        this.parseRows(dimension + 1);
        count++;
      } while (stream.accept(','));
    stream.expect('}', 'or a comma after an initial value');
    if (dimension === 0) this.rowCount = count;
  }

  private parseVector(): void {
    const { stream } = this;
    const { elements } = this.shape;
    if (elements === 1) {
      this.parseScalar();
      return;
    }
    stream.expect('{', `around the ${elements} values of a vector`);
    for (let element = 0; element < elements; element++) {
      if (element > 0) stream.expect(',', `between the ${elements} values of a vector`);
      this.parseScalar();
    }
    stream.expect('}', `after the ${elements} values of a vector`);
  }

  private parseScalar(): void {
    const { stream } = this;
    if (this.type === 'f16x2') {
      if (!stream.is('{')) stream.fail("'{' around the values of a .f16x2");
      this.parsePacked(0);
    } else if (stream.is('{')) stream.fail('a value without braces');
    else this.parseElement();
  }

  /** To the assembler a packed pair is a list of words, however nested. */
  private parsePacked(depth: number): void {
    const { stream } = this;
    if (depth > deepestPacked) stream.fail(`at most ${deepestPacked} nested braces`);
    if (!stream.accept('{')) {
      this.parseElement();
      return;
    }
    if (!stream.is('}'))
      do this.parsePacked(depth + 1);
      while (stream.accept(','));
    stream.expect('}', 'or a comma after an initial value');
  }

  private parseElement(): void {
    const token = this.stream.peek();
    if (token.kind === 'word' && token.text !== 'WARP_SZ') {
      const address = this.parseAddress();
      const bytes = typeBytes(this.type);
      if (this.type !== 'u64' && this.type !== 'u32') {
        this.stream.fail('a variable of .u64 or .u32 for an address', token);
      }
      this.found.push({
        offset: this.end,
        ...address,
        ...(bytes < WHOLE ? { part: { shift: 0, bytes } } : {}),
      });
      this.append(0, 0);
      return;
    }
    if (!startsConstant(this.stream)) this.stream.fail('an initial value');
    const literal = parseConstant(this.stream);
    if (this.stream.accept('(')) {
      if (literal.kind === 'float') this.stream.fail('a mask such as 0xFF00', token);
      if (!MASKED_TYPES.has(this.type)) this.stream.fail('a variable of .u8 for a byte of an address', token);
      this.parsePart((BigInt(literal.high >>> 0) << 32n) | BigInt(literal.low >>> 0));
      return;
    }
    if (NUMBERS_OF[literal.kind].has(this.type)) {
      this.stream.fail(`a value of the type .${this.type}`, token);
    }
    // Bits stay as they are, lowest first, but a double is rounded for what holds a single.
    if (literal.kind === 'float' && literal.width === 64 && SINGLES.has(this.type))
      this.append(...singleBits(literalValue(literal)));
    else this.append(literal.low, literal.high);
  }

  /** `0xFF00(symbol)`: the byte of an address that a mask selects. */
  private parsePart(mask: bigint): void {
    const token = this.stream.peek();
    const address = this.parseAddress();
    this.stream.expect(')', 'after the masked address');
    const shift = Array.from({ length: WHOLE }, (_, byte) => 8 * byte).find(
      (each) => mask === 0xffn << BigInt(each),
    );
    if (shift === undefined) this.stream.fail('a mask of one byte, such as 0xFF00', token);
    this.found.push({ offset: this.end, ...address, part: { shift, bytes: 1 } });
    this.append(0, 0);
    if (typeBytes(this.type) === 1) this.joinParts(WHOLE);
  }

  /** All parts of one address from the lowest on, one behind the other, are the address. */
  private joinParts(count: number): void {
    const parts = this.found.slice(-count);
    const [first] = parts;
    if (first?.part === undefined || parts.length < count) return;
    const { symbol, addend, generic, offset } = first;
    const isWhole = parts.every(
      (each, index) =>
        each.symbol === symbol &&
        each.addend === addend &&
        each.generic === generic &&
        each.part !== undefined &&
        each.offset === offset + (index * WHOLE) / count &&
        each.part.shift === (index * 8 * WHOLE) / count,
    );
    if (isWhole) this.found = [...this.found.slice(0, -count), { symbol, addend, generic, offset }];
  }

  private parseAddress(): Omit<Relocation, 'offset'> {
    let symbol = this.stream.word('a symbol').text;
    const generic = symbol === 'generic' && this.stream.accept('(');
    if (generic) {
      symbol = this.stream.word('the name of a variable').text;
      this.stream.expect(')');
    }
    // The assembler takes `g+8-4` and `g+-4`, and not `g-4`.
    if (this.stream.is('-')) this.stream.fail("'+' before an offset");
    return { symbol, addend: parseOffset(this.stream), generic };
  }

  /** Adds a value's bytes, lowest first. */
  private append(low: number, high: number): void {
    const count = typeBytes(this.type);
    if (this.end + 16 > this.bytes.length) {
      const longer = new Uint8Array(this.bytes.length * 2);
      longer.set(this.bytes);
      this.bytes = longer;
    }
    for (let i = 0; i < count; i++) {
      const word = i < 4 ? low : i < 8 ? high : 0;
      this.bytes[this.end++] = word >>> (8 * (i % 4));
    }
  }
}

const scratch = new DataView(new ArrayBuffer(8));

function singleBits(value: number): [number, number] {
  scratch.setFloat32(0, value);
  return [scratch.getInt32(0), 0];
}
