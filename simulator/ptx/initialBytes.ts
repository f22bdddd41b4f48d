import { parseConstant, parseOffset, startsConstant } from './constantExpressions.js';
import type { IrVariable, ScalarType } from './ir.js';
import { literalValue, type Literal } from './literals.js';
import { typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

type Relocation = NonNullable<IrVariable['relocations']>[number];

const deepestInitialiser = 64;

/** Bytes of an address. */
const WHOLE = 8;

/** Of variables that bytes of an address may be in. */
const MASKED_TYPES: ReadonlySet<ScalarType> = new Set(['u8', 'u32', 'u64']);

/** Of variables that have no such initial value. */
const NUMBERS_OF: Readonly<Record<Literal['kind'], ReadonlySet<ScalarType>>> = {
  integer: new Set(['f32', 'f64']),
  float: new Set(['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64']),
};

/** Collects the bytes of an initialiser as they are read. */
export class InitialBytes {
  private found: Relocation[] = [];
  private bytes = new Uint8Array(64);
  private end = 0;

  constructor(
    private readonly stream: TokenStream,
    private readonly type: ScalarType,
  ) {}

  get length(): number {
    return this.end;
  }

  get relocations(): readonly Relocation[] {
    return this.found;
  }

  toArray(): Uint8Array {
    return this.bytes.slice(0, this.end);
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
    if (this.type === 'f32') {
      if (literal.kind === 'float' && literal.width === 32) this.append(literal.low, 0);
      else this.append(...singleBits(numberOf(literal)));
    } else if (this.type === 'f64') this.append(...doubleBits(numberOf(literal)));
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

function doubleBits(value: number): [number, number] {
  scratch.setFloat64(0, value);
  return [scratch.getInt32(4), scratch.getInt32(0)];
}

function numberOf(literal: Literal): number {
  if (literal.kind === 'float') return literalValue(literal);
  return Number((BigInt(literal.high) << 32n) | BigInt(literal.low >>> 0));
}
