import { checkInstruction } from './support.js';
import { connectBlocks, layOutBlocks } from './controlFlow.js';
import { ParameterLayout, parseParameter, parseParameterList, parseVariables } from './declarations.js';
import type { ParsedInstruction } from './instructionParser.js';
import { InstructionParser } from './instructionParser.js';
import type { IrFunction, IrInstruction, IrParameter, IrRefusal, IrVariable } from './ir.js';
import { isScalarType } from './scalarTypes.js';
import { FunctionScopes } from './scopes.js';
import type { TokenStream } from './tokenStream.js';

/** A range of registers is only a promise of names, but a count beyond this is a mistake. */
const mostRegistersInRange = 1 << 24;

interface PendingInstruction extends ParsedInstruction {
  readonly scope: object;
}

/** A function's text up to its body: name, parameters and tuning directives. */
export interface FunctionHead {
  readonly name: string;
  readonly isEntry: boolean;
  readonly line: number;
  readonly returns: readonly IrParameter[];
  readonly parameters: readonly IrParameter[];
  readonly parameterBytes: number;
  readonly directives: Readonly<Record<string, readonly number[]>>;
}

/** After `.entry` or `.func`, to the `{` or `;`, neither of which it takes. */
export function parseFunctionHead(stream: TokenStream, isEntry: boolean): FunctionHead {
  const returns = isEntry ? new ParameterLayout() : parseParameterList(stream);
  const name = stream.word('the name of the function');
  const layout = parseParameterList(stream);
  const directives: Record<string, number[]> = {};
  while (stream.peek().kind === 'dotted') {
    const directive = stream.next().text.slice(1);
    if (directive === 'pragma' || directive === 'attribute') {
      while (!stream.is(';') && !stream.is('{') && stream.peek().kind === 'string') stream.next();
      if (directive === 'attribute') stream.skipLine();
      else stream.accept(';');
      continue;
    }
    const values: number[] = [];
    if (stream.peek().kind === 'number') {
      do values.push(stream.count('a number'));
      while (stream.accept(','));
    }
    directives[directive] = values;
  }
  return {
    name: name.text,
    isEntry,
    line: name.line,
    returns: returns.parameters,
    parameters: layout.parameters,
    parameterBytes: layout.bytes,
    directives,
  };
}

/** Reads one function body. */
export class FunctionParser {
  private readonly scopes = new FunctionScopes();
  private readonly variables: IrVariable[] = [];
  private readonly callParameters = new ParameterLayout();
  private readonly pending: PendingInstruction[] = [];
  private readonly labelNames = new Map<number, string>();
  private readonly parser: InstructionParser;
  private refusal: IrRefusal | undefined;

  constructor(
    private readonly stream: TokenStream,
    private readonly head: FunctionHead,
    isModuleSymbol: (name: string) => boolean,
  ) {
    const own = new Set([...head.parameters, ...head.returns].map((parameter) => parameter.name));
    this.parser = new InstructionParser(stream, {
      scopes: this.scopes,
      symbol: (name) =>
        this.scopes.findSymbol(name) ?? (own.has(name) || isModuleSymbol(name) ? name : undefined),
    });
  }

  /** The body with its braces. */
  parse(): IrFunction {
    const stream: TokenStream = this.stream;
    stream.expect('{', 'before the body');
    let depth = 1;
    let endLine = this.head.line;
    while (depth > 0) {
      const token = stream.peek();
      endLine = token.line;
      if (token.kind === 'end') stream.fail("'}' at the end of the function");
      if (stream.accept('{')) {
        depth++;
        this.scopes.open();
      } else if (stream.accept('}')) {
        depth--;
        if (depth > 0) this.scopes.close();
      } else if (token.kind === 'dotted') this.parseDirective();
      else if (stream.is(':', 1)) this.parseLabel();
      else if (stream.accept(';')) continue;
      else this.parseInstruction();
    }
    return this.finish(endLine);
  }

  private parseLabel(): void {
    const stream: TokenStream = this.stream;
    const name = stream.word('a label');
    stream.expect(':');
    if (/^\.(branchtargets|calltargets|callprototype)$/.test(stream.peek().text)) {
      stream.skipStatement();
      return;
    }
    if (!this.scopes.declareLabel(name.text, this.pending.length))
      stream.fail('a label that is not yet taken', name);
    if (!this.labelNames.has(this.pending.length)) this.labelNames.set(this.pending.length, name.text);
  }

  private parseInstruction(): void {
    const parsed = this.parser.parse();
    this.pending.push({ ...parsed, scope: this.scopes.here });
    if (parsed.opaque === true) this.refuse(parsed.line, parsed.text, 'this instruction is not supported');
  }

  private refuse(line: number, instruction: string, reason: string): void {
    this.refusal ??= { line, instruction, reason };
  }

  private parseDirective(): void {
    const stream: TokenStream = this.stream;
    const token = stream.peek();
    switch (token.text) {
      case '.reg':
        stream.next();
        this.parseRegisters();
        break;
      case '.shared':
      case '.local':
      case '.global':
      case '.const':
        stream.next();
        this.parseVariable(token.text.slice(1) as IrVariable['space']);
        break;
      case '.param':
        parseParameter(stream, this.callParameters, (name) => this.declareSymbol(name));
        stream.expect(';', 'after the parameter');
        break;
      case '.loc':
      case '.file':
        stream.skipLine();
        break;
      case '.pragma':
        stream.skipStatement();
        break;
      case '.section':
        stream.next();
        stream.next();
        stream.skipBraces();
        break;
      default:
        stream.fail('an instruction or a declaration such as .reg');
    }
  }

  private declareSymbol(name: string): string {
    const unique = this.scopes.declareSymbol(name);
    if (unique === undefined) this.stream.fail(`a name other than ${name}, which this scope has already`);
    return unique;
  }

  private parseVariable(space: IrVariable['space']): void {
    const { variables } = parseVariables(this.stream, space, false);
    for (const variable of variables)
      this.variables.push({ ...variable, name: this.declareSymbol(variable.name) });
  }

  private parseRegisters(): void {
    const stream: TokenStream = this.stream;
    let isVector = false;
    const token = stream.peek();
    if (token.text === '.v2' || token.text === '.v4') {
      isVector = true;
      stream.next();
    }
    const type = stream.peek().text.slice(1);
    if (stream.peek().kind !== 'dotted' || !isScalarType(type)) stream.fail('a register type such as .b32');
    stream.next();
    if (isVector)
      this.refuse(token.line, `.reg ${token.text} .${type}`, 'vector registers are not supported');
    do {
      const name = stream.word('a register name');
      if (stream.accept('<')) {
        const count = stream.count('a number of registers');
        if (count > mostRegistersInRange) stream.fail(`at most ${mostRegistersInRange} registers`, name);
        stream.expect('>', 'after the number of registers');
        this.scopes.declareRange(name.text, count, type);
      } else if (!this.scopes.declareRegister(name.text, type)) {
        stream.fail('a register name that is not yet taken', name);
      }
    } while (stream.accept(','));
    stream.expect(';', 'after the registers');
  }

  private finish(endLine: number): IrFunction {
    const last = this.pending.at(-1);
    const ends =
      last !== undefined && last.guard === undefined && /^(ret|exit|trap|bra|brx)$/.test(last.opcode);
    if (!ends || this.labelNames.has(this.pending.length)) this.pending.push(this.impliedReturn(endLine));
    const targets = this.pending.map((each) => each.labels.map((label) => this.resolveLabel(label, each)));
    const layout = layOutBlocks(
      this.pending.map((each) => each.opcode),
      targets.flat(),
    );
    const instructions = this.pending.map((each, index): IrInstruction => {
      const labels = (targets[index] ?? []).map((target) => ({
        kind: 'label' as const,
        block: layout.blockOf[target] ?? 0,
      }));
      return {
        index,
        line: each.line,
        opcode: each.opcode,
        modifiers: each.modifiers,
        types: each.types,
        ...(each.guard === undefined ? {} : { guard: each.guard }),
        destinations: each.destinations,
        sources: [...each.sources, ...labels],
      };
    });
    const fn: IrFunction = {
      ...this.head,
      registers: this.scopes.registers,
      variables: this.variables,
      callParameters: this.callParameters.parameters,
      instructions,
      blocks: connectBlocks(instructions, layout, this.labelNames),
    };
    const refusal = this.refusal ?? firstRefusal(fn);
    return refusal === undefined ? fn : { ...fn, refusal };
  }

  private impliedReturn(line: number): PendingInstruction {
    return {
      line,
      opcode: 'ret',
      modifiers: [],
      types: [],
      destinations: [],
      sources: [],
      labels: [],
      text: 'ret',
      scope: this.scopes.here,
    };
  }

  private resolveLabel(label: string, from: PendingInstruction): number {
    const found = this.scopes.findLabel(label, from.scope);
    if (found === undefined) {
      this.stream.fail('a label of this function', { kind: 'word', text: label, line: from.line });
    }
    return found;
  }
}

function firstRefusal(fn: IrFunction): IrRefusal | undefined {
  for (const instruction of fn.instructions) {
    const reason = checkInstruction(instruction, fn);
    if (reason !== undefined) {
      const text = [instruction.opcode, ...instruction.modifiers].join('.');
      return { line: instruction.line, instruction: text, reason };
    }
  }
  return undefined;
}
