import { parseVariables } from './declarations.js';
import { skipDebugDirective } from './debugDirectives.js';
import { firstTargets } from './firstTargets.js';
import { parseFunctionHead } from './functionHead.js';
import { FunctionParser } from './functionParser.js';
import type { Token } from './lexer.js';
import type { IrDeclaration, IrFunction, IrModule, IrOperand, IrVariable, Linkage } from './ir.js';
import { parseRegisters } from './registerDeclarations.js';
import type { RegisterDeclaration } from './scopes.js';
import { reservedSharedMemory } from './specialRegisters.js';
import { TokenStream } from './tokenStream.js';

const linkages: Readonly<Record<string, Linkage>> = {
  '.visible': 'visible',
  '.weak': 'weak',
  '.extern': 'extern',
  '.common': 'common',
};

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
  /** Variables that no text declares. */
  private readonly reserved = new Map<string, IrVariable>();
  private readonly functions = new Map<string, IrFunction>();
  private readonly declaredFunctions = new Map<string, IrDeclaration>();
  private readonly declarations: IrDeclaration[] = [];
  /** Alias → function. */
  private readonly aliases = new Map<string, string>();
  private readonly aliasTargets: Token[] = [];
  private readonly opaque = new Set<string>();
  private readonly registers: RegisterDeclaration[] = [];

  constructor(private readonly stream: TokenStream) {}

  parse(): IrModule {
    this.parseHeader();
    while (this.stream.peek().kind !== 'end') this.parseItem();
    for (const target of this.aliasTargets)
      if (!this.functions.has(target.text)) this.stream.fail('a function with a body', target);
    return {
      file: this.stream.file,
      ptxVersion: this.ptxVersion,
      targets: this.targets,
      variables: [...this.reserved.values(), ...this.variables.values()],
      functions: [...this.functions.values()].map((fn) => this.withoutAliases(fn)),
      externalFunctions: [...this.declaredFunctions.keys()].filter(
        (name) => !this.functions.has(name) && !this.aliases.has(name),
      ),
      declarations: this.declarations.filter(({ name }) => !this.aliases.has(name)),
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
    let linkage: Linkage | undefined;
    while (stream.peek().kind === 'dotted' && Object.hasOwn(linkages, stream.peek().text)) {
      linkage = linkages[stream.next().text];
    }
    const token = stream.peek();
    switch (token.kind === 'dotted' ? token.text : '') {
      case '.entry':
      case '.func':
        stream.next();
        this.parseFunction(token.text === '.entry', linkage);
        break;
      case '.global':
      case '.const':
      case '.shared':
      case '.local':
        stream.next();
        this.parseVariable(token.text.slice(1) as IrVariable['space'], linkage);
        break;
      case '.reg':
        this.parseModuleRegisters();
        break;
      case '.tex':
        this.parseTextures();
        break;
      case '.file':
      case '.loc':
        skipDebugDirective(stream);
        break;
      case '.section':
        stream.next();
        stream.next();
        stream.skipBraces();
        break;
      case '.pragma':
        stream.skipStatement();
        break;
      case '.alias':
        stream.next();
        this.parseAlias();
        break;
      default:
        stream.fail('a function or a variable of the module');
    }
  }

  private parseFunction(isEntry: boolean, linkage: Linkage | undefined): void {
    const stream: TokenStream = this.stream;
    const nameToken = stream.peek();
    const head = parseFunctionHead(stream, isEntry, linkage);
    const { name } = head.declaration;
    const declared = this.declaredFunctions.get(name);
    if (declared !== undefined && !sameShape(declared, head.declaration))
      stream.fail(`${name} as it was declared before, with the same parameters`, nameToken);
    this.declaredFunctions.set(name, head.declaration);
    // Compilers of old wrote the `;` after a prototype as it pleased them.
    const isBare = !isEntry && !stream.is('{');
    if (stream.accept(';') || isBare) {
      this.declarations.push(head.declaration);
      return;
    }
    if (this.functions.has(name)) stream.fail(`one body of ${name}, not two`, nameToken);
    const architecture = Math.max(...this.targets.map((each) => Number(/^sm_(\d+)/.exec(each)?.[1] ?? 0)));
    const parser = new FunctionParser(stream, head, {
      architecture,
      firstTargets: firstTargets(this.ptxVersion, architecture),
      registers: this.registers,
      isSymbol: (symbol) =>
        this.variables.has(symbol) || this.declaredFunctions.has(symbol) || this.opaque.has(symbol),
      prototypeOf: (called) => this.calledFunction(called),
      declareVariable: (fn, variable) => this.declareInside(fn, variable),
      useReservedSharedMemory: () => {
        this.declareReservedSharedMemory();
      },
    });
    this.functions.set(name, parser.parse());
  }

  /** Registers outside of functions, which every file of the first compilers declares, were given up with PTX 3.0. */
  private parseModuleRegisters(): void {
    const stream: TokenStream = this.stream;
    if (Number.parseInt(this.ptxVersion, 10) >= 3)
      stream.fail('registers inside of functions (outside, up to PTX 2.3)');
    stream.next();
    for (const { token, ...register } of parseRegisters(stream)) {
      const isTaken = this.registers.some(
        ({ name, count }) =>
          name === register.name && (count === undefined) === (register.count === undefined),
      );
      if (isTaken) stream.fail('a register name that is not yet taken', token);
      this.registers.push(register);
    }
  }

  /** `.tex .u64 a, b;` of old PTX: names of textures. */
  private parseTextures(): void {
    const stream: TokenStream = this.stream;
    stream.next();
    if (!/^\.[bus](?:32|64)$/.test(stream.peek().text)) stream.fail('the type of a texture, .u32 or .u64');
    stream.next();
    do this.opaque.add(stream.word('the name of a texture').text);
    while (stream.accept(','));
    stream.expect(';', 'after the textures');
  }

  /** `.alias other, function;`: both are declared, and only the second has a body. */
  private parseAlias(): void {
    const stream: TokenStream = this.stream;
    const alias = stream.word('the name of the alias');
    stream.expect(',', 'after the alias');
    const target = stream.word('the name of a function');
    stream.expect(';', 'after the alias');
    if (!this.declaredFunctions.has(alias.text) || this.functions.has(alias.text))
      stream.fail('a function that is declared without a body', alias);
    this.aliasTargets.push(target);
    this.aliases.set(alias.text, target.text);
  }

  /** The function with every alias in it replaced by what it stands for. */
  private withoutAliases(fn: IrFunction): IrFunction {
    if (this.aliases.size === 0) return fn;
    const resolved = (operand: IrOperand): IrOperand => {
      const target = operand.kind === 'symbol' ? this.aliases.get(operand.name) : undefined;
      return target === undefined ? operand : ({ ...operand, name: target } as IrOperand);
    };
    const instructions = fn.instructions.map((each) => ({ ...each, sources: each.sources.map(resolved) }));
    return { ...fn, instructions };
  }

  /** A variable of a function's scope gets a name that no text has. */
  private declareInside(fn: string, variable: IrVariable): string {
    const base = `${fn}$${variable.name}`;
    let name = base;
    for (let number = 2; this.variables.has(name) || this.stream.mentions(name); number++)
      name = `${base}$${number}`;
    this.checkRelocations(variable);
    this.variables.set(name, { ...variable, name });
    return name;
  }

  private declareReservedSharedMemory(): void {
    const { name, bytes, align } = reservedSharedMemory;
    if (this.variables.has(name)) return;
    // As if it stood at the head of the text, before all that may refer to it.
    this.reserved.set(name, { name, space: 'shared', type: 'b8', bytes, align, isExtern: false, line: 1 });
  }

  /** A function that may be called: an entry is only launched. */
  private calledFunction(name: string): IrDeclaration | undefined {
    const found = this.declaredFunctions.get(name);
    return found?.isEntry === true ? undefined : found;
  }

  private parseVariable(space: IrVariable['space'], linkage: Linkage | undefined): void {
    const token = this.stream.peek();
    const declared = parseVariables(this.stream, space, linkage);
    for (const name of declared.opaque) this.opaque.add(name);
    for (const variable of declared.variables) {
      this.checkRelocations(variable);
      const previous = this.variables.get(variable.name);
      if (previous !== undefined && !previous.isExtern) {
        if (linkage === 'extern') continue;
        this.stream.fail(`one definition of ${variable.name}, not two`, token);
      }
      this.reserved.delete(variable.name);
      this.variables.set(variable.name, variable);
    }
  }

  /** An address as an initial value is of something in global or constant memory that stands before it in the text. */
  private checkRelocations(variable: IrVariable): void {
    for (const { symbol } of variable.relocations ?? []) {
      const token = { kind: 'word', text: symbol, line: variable.line } as const;
      if (this.opaque.has(symbol)) {
        this.stream.fail('a variable that is no texture, surface or sampler', token, 'unsupported');
      }
      const space = this.variables.get(symbol)?.space;
      if (space === 'shared') this.stream.fail('a variable in .global or .const', token);
      if (space === undefined && !this.declaredFunctions.has(symbol)) {
        this.stream.fail('a declared variable', token);
      }
    }
  }
}

function sameShape(one: IrDeclaration, other: IrDeclaration): boolean {
  const shape = ({ isEntry, parameters, returns }: IrDeclaration): string =>
    JSON.stringify([
      isEntry,
      ...[parameters, returns].map((list) => list.map(({ bytes, align }) => [bytes, align])),
    ]);
  return shape(one) === shape(other);
}
