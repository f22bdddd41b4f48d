import { parseDeclaredType, parseExtents, parseAlign } from './declarations.js';
import type { IrParameter, ScalarType } from './ir.js';
import { isScalarType, typeBytes } from './scalarTypes.js';
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

/** One `.param` declaration, its `.param` included, without what follows it. */
export function parseParameter(
  stream: TokenStream,
  layout: ParameterLayout,
  rename?: (name: string) => string,
): void {
  stream.expect('.param');
  const declared = parseDeclaredType(stream);
  parsePointee(stream);
  const name = stream.word('the name of a parameter');
  const extents = parseExtents(stream);
  const renamed = rename === undefined ? name.text : rename(name.text);
  if (declared.type === undefined) {
    layout.opaque ??= name.text;
    layout.add(renamed, 'b64', 8, 8);
    return;
  }
  const bytes = extents.isOpen ? 0 : extents.count * typeBytes(declared.type) * declared.elements;
  if (bytes > largestParameterBytes) stream.fail('a parameter of at most 1 MiB', name);
  layout.add(renamed, declared.type, bytes, declared.align);
}

/** `.ptr .global .align 16`: what a pointer parameter points to, a promise that nothing here needs. */
function parsePointee(stream: TokenStream): void {
  if (!stream.accept('.ptr')) return;
  for (;;) {
    if (stream.is('.align')) parseAlign(stream);
    else if (
      /^\.(global|const|shared|local|generic|param|texref|samplerref|surfref)$/.test(stream.peek().text)
    )
      stream.next();
    else return;
  }
}

/** `.reg .u32 %a` among the formal parameters of a device function, as PTX before call frames has them. */
function parseFormalRegister(stream: TokenStream, layout: ParameterLayout): void {
  stream.expect('.reg');
  const width = stream.accept('.v2') ? 2 : stream.accept('.v4') ? 4 : 1;
  const type = stream.peek().text.slice(1);
  if (stream.peek().kind !== 'dotted' || !isScalarType(type) || type === 'b128')
    stream.fail('a register type of 8 to 64 bits such as .b32');
  stream.next();
  const register = stream.word('the name of a register').text;
  const parameter = `${register}$value`;
  // A predicate travels as a word, 0 or 1.
  const passed = type === 'pred' ? 'b32' : type;
  const bytes = width * typeBytes(passed);
  layout.add(parameter, passed, bytes, bytes);
  layout.registers.push({ register, type, parameter, width });
}

/** `( .param … , .param … )`, or nothing when the next token is no `(`. */
export function parseParameterList(stream: TokenStream): ParameterLayout {
  const layout = new ParameterLayout();
  if (!stream.accept('(') || stream.accept(')')) return layout;
  do {
    if (stream.is('.reg')) parseFormalRegister(stream, layout);
    else parseParameter(stream, layout);
  } while (stream.accept(','));
  stream.expect(')', 'after the parameters');
  return layout;
}
