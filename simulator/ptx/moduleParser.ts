import { parseVariables } from './declarations.js';
import { parseAlign, parseAttribute, parseBank, parseNames } from './declaredTypes.js';
import { skipDebugDirective } from './debugDirectives.js';
import { checkFeature } from './features.js';
import { firstTargets } from './firstTargets.js';
import { parseFunctionHead } from './functionHead.js';
import { FunctionParser } from './functionParser.js';
import type { Token } from './lexer.js';
import type { IrDeclaration, IrFunction, IrModule, IrOperand, IrVariable, Linkage } from './ir.js';
import { parseHeader } from './moduleHeader.js';
import { ModuleVariables } from './moduleVariables.js';
import { parseRegisters } from './registerDeclarations.js';
import type { RegisterDeclaration } from './scopes.js';
import { reservedSharedMemory } from './specialRegisters.js';
import { TokenStream } from './tokenStream.js';

const linkages: Readonly<Partial<Record<string, Linkage>>> = {
  '.visible': 'visible',
  '.weak': 'weak',
  '.extern': 'extern',
  '.common': 'common',
};

const linked = new Set('.entry .func .global .const .shared .local .reg .tex .attribute'.split(' '));

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
  private targets: readonly string[] = [];
  private readonly variables: ModuleVariables;
  /** Variables that no text declares. */
  private readonly reserved = new Map<string, IrVariable>();
  private readonly functions = new Map<string, IrFunction>();
  private readonly declaredFunctions = new Map<string, IrDeclaration>();
  private readonly declarations: IrDeclaration[] = [];
  /** Alias → function. */
  private readonly aliases = new Map<string, string>();
  private readonly aliasTargets: Token[] = [];
  private readonly registers: RegisterDeclaration[] = [];
  /** Entries declared without a body, which must follow. */
  private readonly entries: Token[] = [];

  constructor(private readonly stream: TokenStream) {
    this.variables = new ModuleVariables(stream);
  }

  parse(): IrModule {
    const { version, targets } = parseHeader(this.stream);
    this.ptxVersion = version;
    this.targets = targets;
    while (this.stream.peek().kind !== 'end') this.parseItem();
    for (const target of this.aliasTargets)
      if (!this.functions.has(target.text)) this.stream.fail('a function with a body', target);
    for (const entry of this.entries)
      if (!this.functions.has(entry.text)) this.stream.fail('an entry that has a body in this text', entry);
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

  private parseItem(): void {
    const stream: TokenStream = this.stream;
    const linkage = this.parseLinkage();
    if (stream.is('.attribute')) {
      parseAttribute(stream, 'global');
      if (!stream.is('.global')) stream.fail("'.global' after an attribute");
    }
    const token = stream.peek();
    switch (token.kind === 'dotted' ? token.text : '') {
      case '.entry':
      case '.func':
        stream.next();
        if (linkage === 'common') stream.fail('a variable in .global after .common', token);
        this.parseFunction(token.text === '.entry', linkage);
        break;
      case '.global':
      case '.const':
      case '.shared':
      case '.local':
        stream.next();
        this.parseVariable(token, linkage);
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
        checkFeature(stream, token);
        stream.skipStatement();
        break;
      case '.alias':
        checkFeature(stream, stream.next());
        this.parseAlias();
        break;
      default:
        stream.fail('a function or a variable of the module');
    }
  }

  private parseLinkage(): Linkage | undefined {
    const stream: TokenStream = this.stream;
    const token = stream.peek();
    const linkage = token.kind === 'dotted' ? linkages[token.text] : undefined;
    if (linkage === undefined) return undefined;
    checkFeature(stream, stream.next());
    const { kind, text } = stream.peek();
    if (kind !== 'dotted' || !linked.has(text))
      stream.fail(`a function or a variable after ${token.text}, which stands alone`);
    return linkage;
  }

  private parseFunction(isEntry: boolean, linkage: Linkage | undefined): void {
    const stream: TokenStream = this.stream;
    const nameToken = stream.peek();
    const head = parseFunctionHead(stream, isEntry, linkage);
    const { name } = head.declaration;
    const declared = this.declaredFunctions.get(name);
    if (this.variables.has(name)) stream.fail(`a name other than ${name}, which is a variable`, nameToken);
    if (declared !== undefined && !sameShape(declared, head.declaration))
      stream.fail(`${name} as it was declared before, with the same parameters`, nameToken);
    if (declared !== undefined && linkage !== undefined && linkage !== declared.linkage)
      stream.fail(`${name} as it was declared before, ${declared.linkage ?? 'without linkage'}`, nameToken);
    this.declaredFunctions.set(name, head.declaration);
    // Compilers of old wrote the `;` after a prototype as it pleased them.
    const isBare = !isEntry && !stream.is('{');
    if (stream.accept(';') || isBare) {
      this.declarations.push(head.declaration);
      if (isEntry && linkage !== 'extern') this.entries.push({ ...nameToken, text: name });
      return;
    }
    if ((declared ?? head.declaration).linkage === 'extern' || linkage === 'extern')
      stream.fail(`';' after the head of ${name}, which is .extern (one with a body is .visible)`);
    if (this.functions.has(name)) stream.fail(`one body of ${name}, not two`, nameToken);
    const { architecture } = stream.dialect;
    const parser = new FunctionParser(stream, head, {
      architecture,
      firstTargets: firstTargets(this.ptxVersion, architecture),
      registers: this.registers,
      isSymbol: (symbol) => this.variables.has(symbol) || this.declaredFunctions.has(symbol),
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
    if (stream.dialect.version >= 300) stream.fail('registers inside of functions (outside, up to PTX 2.3)');
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

  /** `.tex .u64 a, b;` of PTX before 1.5: names of textures. */
  private parseTextures(): void {
    const stream: TokenStream = this.stream;
    const token = stream.next();
    if (stream.dialect.version >= 105)
      stream.fail("'.global .texref' for a texture (.tex went with PTX 1.5)", token);
    if (stream.is('.align')) parseAlign(stream);
    if (!/^\.u(?:32|64)$/.test(stream.peek().text)) stream.fail('the type of a texture, .u32 or .u64');
    stream.next();
    if (stream.accept(';')) return;
    do {
      const name = stream.name('the name of a texture');
      for (const each of parseNames(stream, name.text) ?? [name.text])
        this.variables.addOpaque({ token: name, name: each, isExtern: false });
    } while (stream.accept(','));
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
    this.variables.add({ kind: 'word', text: variable.name, line: variable.line }, name, {
      ...variable,
      name,
    });
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

  /** From the state space on. */
  private parseVariable(token: Token, linkage: Linkage | undefined): void {
    const stream: TokenStream = this.stream;
    const space = token.text.slice(1) as IrVariable['space'];
    if (space === 'const') parseBank(stream);
    if (space === 'local' && stream.dialect.version >= 300)
      stream.fail('.local variables inside of functions (outside, up to PTX 2.3)', token);
    if (linkage === 'common' && space !== 'global') stream.fail("'.global' after .common", token);
    for (const declared of parseVariables(stream, { space, linkage, isInside: false })) {
      const { name, variable } = declared;
      if (variable !== undefined) this.checkRelocations(variable);
      if (this.declaredFunctions.has(name) || this.registers.some((each) => each.name === name))
        stream.fail(`a name other than ${name}, which is declared already`, declared.token);
      this.reserved.delete(name);
      this.variables.declare(declared);
    }
  }

  /** An address as an initial value is of something in global or constant memory that stands before it in the text. */
  private checkRelocations(variable: IrVariable): void {
    for (const { symbol, addend, generic } of variable.relocations ?? []) {
      const token = { kind: 'word', text: symbol, line: variable.line } as const;
      if (this.variables.isOpaque(symbol)) {
        this.stream.fail('a variable that is no texture, surface or sampler', token, 'unsupported');
      }
      const space = this.variables.get(symbol)?.space;
      if (space === 'shared') this.stream.fail('a variable in .global or .const', token);
      if (space === undefined && !this.declaredFunctions.has(symbol)) {
        this.stream.fail('a declared variable', token);
      }
      if (space === undefined && (generic || addend !== 0))
        this.stream.fail("a function's name alone, without generic() or an offset", token);
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
