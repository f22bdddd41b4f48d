import { parseVariables } from './declarations.js';
import { type FunctionHead, FunctionParser, parseFunctionHead } from './functionParser.js';
import type { IrFunction, IrModule, IrVariable } from './ir.js';
import { TokenStream } from './tokenStream.js';

const linking = /^\.(visible|extern|weak|common)$/;

/**
 * Reads a PTX text. A function with an instruction that is not supported carries a `refusal`; the others load.
 * @param file name of the source, for messages
 * @throws PtxParseError when the text is not PTX: file, line, what was expected and what stands there
 */
export function parseModule(text: string, file: string): IrModule {
  return new ModuleParser(new TokenStream(text, file)).parse();
}

class ModuleParser {
  private ptxVersion = '';
  private targets: string[] = [];
  private readonly variables = new Map<string, IrVariable>();
  private readonly functions = new Map<string, IrFunction>();
  private readonly declaredFunctions = new Map<string, FunctionHead>();
  private readonly opaque = new Set<string>();

  constructor(private readonly stream: TokenStream) {}

  parse(): IrModule {
    this.parseHeader();
    while (this.stream.peek().kind !== 'end') this.parseItem();
    this.checkRelocations();
    return {
      file: this.stream.file,
      ptxVersion: this.ptxVersion,
      targets: this.targets,
      variables: [...this.variables.values()],
      functions: [...this.functions.values()],
      externalFunctions: [...this.declaredFunctions.keys()].filter((name) => !this.functions.has(name)),
    };
  }

  private parseHeader(): void {
    const stream: TokenStream = this.stream;
    stream.expect('.version', 'at the start of a PTX text');
    if (!/^\d+\.\d+$/.test(stream.peek().text)) stream.fail('a PTX version such as 9.0');
    this.ptxVersion = stream.next().text;
    stream.expect('.target');
    do {
      this.targets.push(stream.word('a target such as sm_90').text);
    } while (stream.accept(','));
    if (stream.accept('.address_size')) {
      const token = stream.peek();
      if (stream.count('64') !== 64) stream.fail('64-bit addresses', token, 'unsupported');
    }
  }

  private parseItem(): void {
    const stream: TokenStream = this.stream;
    let isExtern = false;
    while (linking.test(stream.peek().text) && stream.peek().kind === 'dotted') {
      isExtern = stream.next().text === '.extern' || isExtern;
    }
    const token = stream.peek();
    switch (token.kind === 'dotted' ? token.text : '') {
      case '.entry':
      case '.func':
        stream.next();
        this.parseFunction(token.text === '.entry');
        break;
      case '.global':
      case '.const':
      case '.shared':
      case '.local':
        stream.next();
        this.parseVariable(token.text.slice(1) as IrVariable['space'], isExtern);
        break;
      case '.file':
      case '.loc':
        stream.skipLine();
        break;
      case '.section':
        stream.next();
        stream.next();
        stream.skipBraces();
        break;
      case '.pragma':
      case '.alias':
        stream.skipStatement();
        break;
      default:
        stream.fail('a function or a variable of the module');
    }
  }

  private parseFunction(isEntry: boolean): void {
    const stream: TokenStream = this.stream;
    const nameToken = stream.peek();
    const head = parseFunctionHead(stream, isEntry);
    this.declaredFunctions.set(head.name, head);
    if (stream.accept(';')) return;
    if (this.functions.has(head.name)) stream.fail(`one body of ${head.name}, not two`, nameToken);
    const parser = new FunctionParser(
      stream,
      head,
      (name) => this.variables.has(name) || this.declaredFunctions.has(name) || this.opaque.has(name),
      {
        architecture: Math.max(...this.targets.map((each) => Number(/^sm_(\d+)/.exec(each)?.[1] ?? 0))),
        prototypeOf: (name) => this.calledFunction(name),
      },
    );
    this.functions.set(head.name, parser.parse());
  }

  /** A function that may be called: an entry is only launched. */
  private calledFunction(name: string): FunctionHead | undefined {
    const found = this.declaredFunctions.get(name);
    return found?.isEntry === true ? undefined : found;
  }

  private parseVariable(space: IrVariable['space'], isExtern: boolean): void {
    const token = this.stream.peek();
    const declared = parseVariables(this.stream, space, isExtern);
    for (const name of declared.opaque) this.opaque.add(name);
    for (const variable of declared.variables) {
      const previous = this.variables.get(variable.name);
      if (previous !== undefined && !previous.isExtern) {
        if (isExtern) continue;
        this.stream.fail(`one definition of ${variable.name}, not two`, token);
      }
      this.variables.set(variable.name, variable);
    }
  }

  private checkRelocations(): void {
    for (const variable of this.variables.values()) {
      for (const { symbol } of variable.relocations ?? []) {
        if (!this.variables.has(symbol) && !this.declaredFunctions.has(symbol)) {
          this.stream.fail('a declared variable', { kind: 'word', text: symbol, line: variable.line });
        }
      }
    }
  }
}
