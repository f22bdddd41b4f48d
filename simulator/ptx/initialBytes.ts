import { parseConstant, parseOffset, startsConstant } from './constantExpressions.js';
import type { IrVariable, ScalarType } from './ir.js';
import { literalValue, type Literal } from './literals.js';
import { typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

type Relocation = NonNullable<IrVariable['relocations']>[number];

const deepestInitialiser = 64;

/** Collects the bytes of an initialiser as they are read. */
export class InitialBytes {
  private readonly found: Relocation[] = [];
  private bytes = new Uint8Array(64);
  private end = 0;
  /** An address written part by part, `0xFF(x), 0xFF00(x), …`: its lowest part's place, and the bits that came so far. */
  private partial: { readonly relocation: Relocation; bits: number } | undefined;

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
    if (depth === 0) this.finishPartial();
  }

  private parseElement(): void {
    const token = this.stream.peek();
    if (token.kind === 'word' && token.text !== 'WARP_SZ') {
      this.finishPartial();
      const address = this.parseAddress();
      if (typeBytes(this.type) !== 8) this.stream.fail('a 64-bit type for an address', token, 'unsupported');
      this.found.push({ offset: this.end, ...address });
      this.append(0, 0);
      return;
    }
    if (!startsConstant(this.stream)) this.stream.fail('an initial value');
    const literal = parseConstant(this.stream);
    if (this.stream.accept('(')) {
      if (literal.kind === 'float') this.stream.fail('a mask such as 0xFF00', token);
      this.parsePart((BigInt(literal.high >>> 0) << 32n) | BigInt(literal.low >>> 0));
      return;
    }
    this.finishPartial();
    if (this.type === 'f32') {
      if (literal.kind === 'float' && literal.width === 32) this.append(literal.low, 0);
      else this.append(...singleBits(numberOf(literal)));
    } else if (this.type === 'f64') this.append(...doubleBits(numberOf(literal)));
    else this.append(literal.low, literal.high);
  }

  /** `0xFF00(symbol)`: the part of an address that a mask selects. Only whole addresses, lowest part first, are taken. */
  private parsePart(mask: bigint): void {
    const token = this.stream.peek();
    const address = this.parseAddress();
    this.stream.expect(')', 'after the masked address');
    const bits = 8 * typeBytes(this.type);
    const at = this.partial?.bits ?? 0;
    if (bits > 32 || mask !== ((1n << BigInt(bits)) - 1n) << BigInt(at)) {
      this.stream.fail('the parts of an address from the lowest to the highest', token, 'unsupported');
    }
    this.partial ??= { relocation: { offset: this.end, ...address }, bits: 0 };
    const { symbol, addend, generic } = this.partial.relocation;
    if (symbol !== address.symbol || addend !== address.addend || generic !== address.generic)
      this.stream.fail(`the next part of ${symbol}`, token, 'unsupported');
    this.append(0, 0);
    this.partial.bits += bits;
    if (this.partial.bits < 64) return;
    this.found.push(this.partial.relocation);
    this.partial = undefined;
  }

  private finishPartial(): void {
    if (this.partial !== undefined)
      this.stream.fail(
        `the next part of ${this.partial.relocation.symbol}`,
        this.stream.peek(),
        'unsupported',
      );
  }

  private parseAddress(): Omit<Relocation, 'offset'> {
    let symbol = this.stream.word('a symbol').text;
    let inner = 0;
    const generic = symbol === 'generic' && this.stream.accept('(');
    if (generic) {
      symbol = this.stream.word('the name of a variable').text;
      inner = parseOffset(this.stream);
      this.stream.expect(')');
    }
    const addend = inner + parseOffset(this.stream);
    return { symbol, addend, generic };
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
