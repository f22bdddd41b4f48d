import { checkFeature } from './features.js';
import type { ScalarType } from './ir.js';
import { isDeclarableType, isScalarType, typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

/** The assembler takes any power of two of 32 bits; memory here is laid out up to this one. */
const largestAlign = 1 << 16;
const largestVectorBytes = 16;
/** Larger than any device's memory: PTX, but nothing that could be run. */
const largestVariableBytes = 2 ** 40;
const mostExtents = 64;
const lastBank = 10n;
/** Of all `name<n>` of a text, each a short way to write `n` names: beyond this it is a mistake. */
const mostNames = 1 << 16;

export type OpaqueType = 'texref' | 'samplerref' | 'surfref';

export interface DeclaredType {
  /** Undefined of textures, samplers and surfaces. */
  readonly type: ScalarType | undefined;
  readonly opaque?: OpaqueType;
  /** Of a vector how many elements it has, otherwise 1. */
  readonly elements: number;
  readonly align: number;
}

/** Extents of an array, outermost first; of an open one the first is 0. */
export interface Extents {
  readonly extents: readonly number[];
  readonly isOpen: boolean;
  /** Elements; of an open one as many as its first extent counts once. */
  readonly count: number;
}

export function parseAlign(stream: TokenStream): number {
  stream.expect('.align');
  const token = stream.peek();
  const align = stream.integer('an alignment in bytes');
  if (align < 1n || align > 2n ** 31n || (align & (align - 1n)) !== 0n)
    stream.fail('an alignment that is a power of two', token);
  if (align > largestAlign)
    stream.fail(`an alignment of at most ${largestAlign} bytes`, token, 'unsupported');
  return Number(align);
}

/** `(.managed)`, `(.unified(0xAB, 0xCD))`, after `.attribute`. */
export function parseAttribute(stream: TokenStream, space?: string): void {
  checkFeature(stream, stream.expect('.attribute'));
  stream.expect('(', 'after .attribute');
  do {
    const token = stream.next();
    if (token.text === '.managed') {
      checkFeature(stream, token);
      if (space !== 'global') stream.fail('a variable in .global for .managed', token);
    } else if (token.text === '.unified') {
      stream.expect('(', 'after .unified');
      stream.integer('the first half of an identifier');
      stream.expect(',', 'between the halves of an identifier');
      stream.integer('the second half of an identifier');
      stream.expect(')', 'after .unified');
    } else stream.fail('an attribute such as .managed', token);
  } while (stream.accept(','));
  stream.expect(')', 'after the attributes');
}

/** `.align n` and `.attribute(…)` in any order, then `.v2` or `.v4`, then the type. */
export function parseDeclaredType(stream: TokenStream, space: string): DeclaredType {
  let align = 0;
  for (;;) {
    if (stream.is('.align')) align = parseAlign(stream);
    else if (stream.is('.attribute')) parseAttribute(stream, space);
    else break;
  }
  const vector = stream.peek();
  const elements = stream.accept('.v2') ? 2 : stream.accept('.v4') ? 4 : 1;
  const token = stream.next();
  const text = token.kind === 'dotted' ? token.text.slice(1) : '';
  if (text === 'texref' || text === 'samplerref' || text === 'surfref') {
    if (elements > 1) stream.fail(`.${text} by itself`, vector);
    checkFeature(stream, token);
    if (text === 'samplerref' && !stream.dialect.hasSamplers)
      stream.fail('.target …, texmode_independent for samplers', token);
    return { type: undefined, opaque: text, elements, align: 8 };
  }
  if (!isScalarType(text)) stream.fail('a type such as .u32', token);
  if (text === 'pred' && (space !== 'reg' || elements > 1))
    stream.fail('a type of memory such as .u8 (a predicate is a single register, .reg .pred)', token);
  if (text !== 'pred' && !isDeclarableType(text))
    stream.fail(
      `a type of variables such as .b${typeBytes(text) * 8} (.${text} is one of instructions)`,
      token,
    );
  if (typeBytes(text) * elements > largestVectorBytes) stream.fail('a vector of at most 128 bits', vector);
  checkFeature(stream, token);
  return { type: text, elements, align: Math.max(align, typeBytes(text) * elements) };
}

/** `.const[2]` of PTX before 2.2, from behind `.const` on: the first bank is that of all constants. */
export function parseBank(stream: TokenStream): void {
  const token = stream.peek();
  if (!stream.accept('[')) return;
  if (stream.dialect.version >= 202) stream.fail('.const without a bank (banks went with PTX 2.2)', token);
  const bank = stream.integer('the number of a constant bank');
  if (bank > lastBank) stream.fail(`a constant bank of 0 to ${lastBank}`, token);
  stream.expect(']', 'after the constant bank');
  if (bank > 0n)
    stream.fail('constant bank 0 (the others are filled by a driver of old)', token, 'unsupported');
}

/** `[4][8]`; an empty first extent, or one of 0, is left open. */
export function parseExtents(stream: TokenStream): Extents {
  const extents: number[] = [];
  let isOpen = false;
  let count = 1;
  while (stream.accept('[')) {
    const token = stream.peek();
    const isFirst = extents.length === 0;
    if (extents.length === mostExtents) stream.fail(`at most ${mostExtents} extents`, token, 'unsupported');
    const extent = isFirst && stream.is(']') ? 0n : parseExtent(stream);
    if (extent === 0n && !isFirst) stream.fail('an array extent of at least 1', token);
    if (extent === 0n) isOpen = true;
    else count *= Number(extent);
    if (count > largestVariableBytes)
      stream.fail('an array that fits an address space', token, 'unsupported');
    extents.push(Number(extent));
    stream.expect(']');
  }
  return { extents, isOpen, count };
}

function parseExtent(stream: TokenStream): bigint {
  return stream.accept('WARP_SZ') ? 32n : stream.integer('an array extent: one integer');
}

/** `<n>` behind a name: that many of them. @returns the names */
export function parseNames(stream: TokenStream, name: string): readonly string[] | undefined {
  if (!stream.accept('<')) return undefined;
  const token = stream.peek();
  const count = stream.integer('a number of variables');
  stream.numberedNames += Number(count);
  if (stream.numberedNames > mostNames)
    stream.fail(`at most ${mostNames} numbered variables in a text`, token, 'unsupported');
  stream.expect('>', 'after the number of variables');
  return Array.from({ length: Number(count) }, (_, number) => `${name}${number}`);
}
