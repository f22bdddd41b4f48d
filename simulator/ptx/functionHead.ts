import { skipAttribute } from './declarations.js';
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
  if (stream.accept('.attribute')) skipAttribute(stream);
  const returns = isEntry ? new ParameterLayout() : parseParameterList(stream);
  const name = stream.word('the name of the function');
  const layout = parseParameterList(stream);
  if (isEntry && layout.registers.length > 0)
    stream.fail('parameters of an entry in .param', { ...name, text: '.reg' });
  const directives = parseDirectives(stream);
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
  '.visible .weak .extern .common .entry .func .reg .global .const .shared .local .tex .file .loc .section .alias'.split(
    ' ',
  ),
);

function parseDirectives(stream: TokenStream): Record<string, number[]> {
  const directives: Record<string, number[]> = {};
  while (stream.peek().kind === 'dotted' && !moduleItems.has(stream.peek().text)) {
    const directive = stream.next().text.slice(1);
    if (directive === 'attribute') skipAttribute(stream);
    else if (directive === 'pragma') {
      do if (stream.next().kind !== 'string') stream.fail('the text of a pragma');
      while (stream.accept(','));
      // Of a function without a body the `;` would be its end, but no pragma stands there.
      stream.accept(';');
    } else {
      const values: number[] = [];
      if (stream.peek().kind === 'number') {
        do values.push(stream.count('a number'));
        while (stream.accept(','));
      }
      directives[directive] = values;
    }
  }
  return directives;
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
  const cluster = directives['reqnctapercluster'] ?? [];
  if (cluster.some((extent) => extent > 1)) {
    return {
      instruction: `.reqnctapercluster ${cluster.join(', ')}`,
      reason: 'clusters of more than one block are not supported: launch without a cluster',
    };
  }
  return undefined;
}
