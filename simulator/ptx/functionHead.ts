import { parseAttribute } from './declaredTypes.js';
import { mostEntryParameterBytes } from './dialect.js';
import { checkFeature } from './features.js';
import type { IrDeclaration, IrRefusal, Linkage } from './ir.js';
import { type FormalRegister, ParameterLayout, parseParameterList } from './parameters.js';
import type { TokenStream } from './tokenStream.js';

/** A function's text up to its body: name, parameters and tuning directives. */
export interface FunctionHead {
  readonly declaration: IrDeclaration;
  /** Formal parameters in registers, of old PTX: what is taken and what is given back. */
  readonly taken: readonly FormalRegister[];
  readonly given: readonly FormalRegister[];
  /** Why the function cannot run whatever its body is. */
  readonly refusal?: IrRefusal;
}

/** After `.entry` or `.func`, to the `{` or `;`, neither of which it takes. */
export function parseFunctionHead(
  stream: TokenStream,
  isEntry: boolean,
  linkage: Linkage | undefined,
): FunctionHead {
  if (!isEntry && stream.is('.attribute')) parseAttribute(stream, 'func');
  const returns = isEntry ? new ParameterLayout() : parseParameterList(stream, 'given');
  const name = stream.name('the name of the function');
  const layout = parseParameterList(stream, isEntry ? 'entry' : 'taken');
  const most = mostEntryParameterBytes(stream.dialect);
  if (isEntry && layout.bytes > most) stream.fail(`at most ${most} bytes of parameters`, name);
  if (isEntry && layout.registers.length > 0)
    stream.fail('parameters of an entry in .param', { ...name, text: '.reg' });
  const directives = parseDirectives(stream, isEntry);
  if (directives['noreturn'] !== undefined && returns.parameters.length > 0)
    stream.fail('a function that gives nothing back before .noreturn', name);
  const reason = refusalOf(layout, directives);
  return {
    declaration: {
      name: name.text,
      isEntry,
      ...(linkage === undefined ? {} : { linkage }),
      line: name.line,
      returns: returns.parameters,
      parameters: layout.parameters,
      parameterBytes: layout.bytes,
      directives,
    },
    taken: layout.registers,
    given: returns.registers,
    ...(reason === undefined ? {} : { refusal: { line: name.line, ...reason } }),
  };
}

/** What follows a prototype that no `;` ends. */
const moduleItems = new Set(
  (
    '.visible .weak .extern .common .entry .func .reg .global .const .shared .local .tex .file .loc .section .alias ' +
    '.attribute'
  ).split(' '),
);

/** How many numbers each takes, at most; three stand for the extents of a block or cluster, of which one is enough. */
const ofEntries: Readonly<Partial<Record<string, number>>> = {
  maxntid: 3,
  reqntid: 3,
  minnctapersm: 1,
  maxnctapersm: 1,
  maxnreg: 1,
  local_maxnreg: 1,
  explicitcluster: 0,
  reqnctapercluster: 3,
  maxclusterrank: 1,
  blocksareclusters: 0,
};
/** What may be 0. */
const fromZero = new Set(['maxclusterrank', 'abi_preserve', 'abi_preserve_control']);
const ofFunctions: typeof ofEntries = { noreturn: 0, abi_preserve: 1, abi_preserve_control: 1 };

function parseDirectives(stream: TokenStream, isEntry: boolean): Record<string, number[]> {
  const directives: Record<string, number[]> = {};
  const known = isEntry ? ofEntries : ofFunctions;
  while (stream.peek().kind === 'dotted' && !moduleItems.has(stream.peek().text)) {
    const token = stream.next();
    const directive = token.text.slice(1);
    checkFeature(stream, token);
    if (directive === 'pragma' && isEntry) {
      do if (stream.next().kind !== 'string') stream.fail('the text of a pragma');
      while (stream.accept(','));
      // Of a function without a body the `;` would be its end, but no pragma stands there.
      stream.accept(';');
      continue;
    }
    const most = known[directive];
    if (most === undefined)
      stream.fail(
        `a directive of ${isEntry ? 'an entry such as .maxntid' : 'a function such as .noreturn'}`,
        token,
        Object.hasOwn(isEntry ? ofFunctions : { ...ofEntries, pragma: 0 }, directive)
          ? 'syntax'
          : 'unsupported',
      );
    if (directive === 'maxnctapersm' && stream.dialect.version >= 201)
      stream.fail('.minnctapersm (.maxnctapersm went with PTX 2.1)', token);
    directives[directive] = parseNumbers(stream, most, fromZero.has(directive) ? 0 : 1);
    if (directives['maxntid'] !== undefined && directives['reqntid'] !== undefined)
      stream.fail('one of .maxntid and .reqntid', token);
  }
  return directives;
}

function parseNumbers(stream: TokenStream, most: number, least: number): number[] {
  const values: number[] = [];
  if (most === 0) return values;
  do {
    if (values.length === most) stream.fail(`at most ${most} number${most === 1 ? '' : 's'}`);
    const token = stream.peek();
    const value = stream.count('a number');
    if (value < least) stream.fail(`a number of at least ${least}`, token);
    values.push(value);
  } while (stream.accept(','));
  return values;
}

function refusalOf(
  layout: ParameterLayout,
  directives: Readonly<Record<string, readonly number[]>>,
): Omit<IrRefusal, 'line'> | undefined {
  if (layout.opaque !== undefined) {
    return {
      instruction: `.param ${layout.opaque}`,
      reason: 'textures, samplers and surfaces are not supported: read the data from global memory',
    };
  }
  if (directives['blocksareclusters'] !== undefined) {
    return {
      instruction: '.blocksareclusters',
      reason: 'grids that count clusters are not supported: leave it out, and launch a grid of blocks',
    };
  }
  return undefined;
}
