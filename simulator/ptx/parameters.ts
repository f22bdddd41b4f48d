import {
  type DeclaredType,
  parseAlign,
  parseDeclaredType,
  parseExtents,
  parseNames,
} from './declaredTypes.js';
import type { IrParameter, ScalarType } from './ir.js';
import type { Token } from './lexer.js';
import { typeBytes } from './scalarTypes.js';
import type { TokenStream } from './tokenStream.js';

/** The parameter space of a launch is at most 32 KiB; far beyond it the text is wrong. */
const largestParameterBytes = 1 << 20;

/** A formal parameter that a function of old PTX takes in a register: the parameter that stands for it. */
export interface FormalRegister {
  readonly register: string;
  readonly type: ScalarType;
  readonly parameter: string;
  /** Of a vector register how many values it has, otherwise 1. */
  readonly width: number;
}

/** Lays parameters out one after another, each at its alignment. */
export class ParameterLayout {
  readonly parameters: IrParameter[] = [];
  readonly registers: FormalRegister[] = [];
  /** The first texture, sampler or surface among them, which no launch can give. */
  opaque: string | undefined;
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

/** Where parameters are declared: of an entry, what a function takes or gives back, or for calls in a body. */
export type ParameterPlace = 'entry' | 'taken' | 'given' | 'body';

type Rename = (token: Token, name: string) => string;
const asWritten: Rename = (_, name) => name;

/** `.param .b32 a, b<2>;` in a body. */
export function parseParameters(stream: TokenStream, layout: ParameterLayout, rename: Rename): void {
  stream.expect('.param');
  const declared = parseDeclaredType(stream, 'param');
  checkType(stream, declared, 'body');
  if (stream.accept(';')) return;
  do {
    const token = stream.name('the name of a parameter');
    const names = parseNames(stream, token.text);
    if (names === undefined) addParameter(stream, layout, declared, 'body', token, rename);
    else for (const name of names) layout.add(rename(token, name), ...placed(declared, 1));
  } while (stream.accept(','));
  stream.expect(';', 'after the parameter');
}

/** One `.param` of a list, its `.param` included, without what follows it. */
function parseParameter(stream: TokenStream, layout: ParameterLayout, place: ParameterPlace): void {
  stream.expect('.param');
  let declared = parseDeclaredType(stream, 'param');
  checkType(stream, declared, place);
  if (place === 'entry' && stream.accept('.ptr')) parsePointee(stream);
  if (stream.is('.align')) declared = { ...declared, align: Math.max(declared.align, parseAlign(stream)) };
  addParameter(stream, layout, declared, place, stream.word('the name of a parameter'), asWritten);
}

function addParameter(
  stream: TokenStream,
  layout: ParameterLayout,
  declared: DeclaredType,
  place: ParameterPlace,
  token: Token,
  rename: Rename,
): void {
  const { extents, isOpen, count } = parseExtents(stream);
  if (extents.length > 1) stream.fail('a parameter of one extent', token);
  if (isOpen && (place !== 'taken' || !stream.is(')')))
    stream.fail('an extent (only the last parameter that a function takes may be without)', token);
  const name = rename(token, token.text);
  if (declared.type === undefined) layout.opaque ??= token.text;
  const [type, bytes, align] = placed(declared, isOpen ? 0 : count);
  if (bytes > largestParameterBytes)
    stream.fail(`a parameter of at most ${largestParameterBytes} bytes`, token, 'unsupported');
  layout.add(name, type, bytes, align);
}

/** Type, bytes and alignment of a parameter; of a texture those of a word, to stand for it. */
function placed({ type, align }: DeclaredType, count: number): [ScalarType, number, number] {
  return type === undefined ? ['b64', 8, 8] : [type, count * typeBytes(type), align];
}

function checkType(stream: TokenStream, declared: DeclaredType, place: ParameterPlace): void {
  const token = stream.peek();
  if (declared.elements > 1)
    stream.fail('a parameter that is no vector: an array, .align 16 .b8 name[16]', token);
  if (declared.type === 'f16x2') stream.fail('a parameter of .b32 for a .f16x2', token);
  if (declared.opaque !== undefined && place !== 'entry')
    stream.fail(`a parameter of .u64 for a .${declared.opaque}, which an entry alone takes`, token);
}

/** `.global .align 16`: what a pointer parameter points to, a promise that nothing here needs. */
function parsePointee(stream: TokenStream): void {
  if (/^\.(?:global|const|shared|local|texref|samplerref|surfref)$/.test(stream.peek().text)) stream.next();
  if (stream.is('.align')) parseAlign(stream);
}

/** `.reg .u32 %a` among the formal parameters of a device function, as PTX before call frames has them. */
function parseFormalRegister(stream: TokenStream, layout: ParameterLayout): void {
  stream.expect('.reg');
  const { type: declared = 'b32', elements } = parseDeclaredType(stream, 'reg');
  // Registers of 128 bits are pairs, of which there are no vectors.
  const [type, width] = declared === 'b128' ? (['b64', 2] as const) : ([declared, elements] as const);
  const register = stream.word('the name of a register').text;
  const parameter = `${register}$value`;
  // A predicate travels as a word, 0 or 1.
  const passed = type === 'pred' ? 'b32' : type;
  const bytes = width * typeBytes(passed);
  layout.add(parameter, passed, bytes, bytes);
  layout.registers.push({ register, type, parameter, width });
}

/** `( .param … , .param … )`, or nothing when the next token is no `(`. */
export function parseParameterList(
  stream: TokenStream,
  place: Exclude<ParameterPlace, 'body'>,
): ParameterLayout {
  const layout = new ParameterLayout();
  if (!stream.accept('(') || stream.accept(')')) return layout;
  do {
    if (stream.is('.reg')) parseFormalRegister(stream, layout);
    else parseParameter(stream, layout, place);
  } while (stream.accept(','));
  stream.expect(')', 'after the parameters');
  return layout;
}
