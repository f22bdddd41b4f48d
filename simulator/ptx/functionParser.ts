import { endsBlock, formsOf, isa, isCall, isSwitch } from './isa/index.js';
import { connectBlocks, layOutBlocks } from './controlFlow.js';
import { parseVariables } from './declarations.js';
import { parseAttribute, parseBank } from './declaredTypes.js';
import { checkFeature } from './features.js';
import type { FirstTargets } from './firstTargets.js';
import { type Expansion, expansionOf } from './expansion.js';
import { earlier, firstRefusal } from './firstRefusal.js';
import type { FunctionHead } from './functionHead.js';
import type { ParsedInstruction } from './instructionParser.js';
import { InstructionParser, type OperandNames } from './instructionParser.js';
import type { CheckContext } from './instructionRules.js';
import type { IrFunction, IrInstruction, IrPrototype, IrRefusal, IrVariable } from './ir.js';
import { type FormalRegister, ParameterLayout, parseParameterList, parseParameters } from './parameters.js';
import { skipDebugDirective } from './debugDirectives.js';
import { formalMoves, passRegisters } from './registerParameters.js';
import { numberRegisters } from './registerNumbering.js';
import { refusalReason } from './refusalReasons.js';
import { rewrite } from './rewriting.js';
import type { Token } from './lexer.js';
import { parseRegisters } from './registerDeclarations.js';
import { FunctionScopes, type RegisterDeclaration } from './scopes.js';
import { allocatableBytes, allocate, type AllocationStack, startStack } from './stackAllocation.js';
import { TokenStream } from './tokenStream.js';

/** Writers of PTX nest a scope or two, for calls and inline assembly; each look-up of a name walks through them. */
const deepestScope = 128;
/** Of all `brx.idx` of a function: far more than any `switch` has, and not the square of a long text. */
const mostBranchTargets = 1 << 20;

interface PendingInstruction extends ParsedInstruction {
  readonly scope: object;
  nounroll?: boolean;
  isEngine?: boolean;
}

/** What a function's body may refer to of its module. */
export interface ModuleContext extends CheckContext {
  readonly firstTargets: FirstTargets | undefined;
  /** Registers declared outside of functions. */
  readonly registers: readonly RegisterDeclaration[];
  isSymbol(name: string): boolean;
  /** Takes a variable of the module that is declared inside a function. @returns its name in the IR */
  declareVariable(fn: string, variable: IrVariable): string;
  /** Declares the shared memory that the driver reserves. */
  useReservedSharedMemory(): void;
}

const NONE: readonly number[] = [];

/** Reads one function body. */
export class FunctionParser {
  private readonly scopes: FunctionScopes;
  private readonly variables: IrVariable[] = [];
  private readonly callParameters = new ParameterLayout();
  /** Parameters of the entry itself that its body declares. */
  private readonly ownParameters = new ParameterLayout();
  private readonly pending: PendingInstruction[] = [];
  private readonly labelNames = new Map<number, string>();
  private readonly names: OperandNames;
  private parser: InstructionParser;
  /** The instruction in whose place a text of its own is being read. */
  private expanded: ParsedInstruction | undefined;
  private refusal: IrRefusal | undefined;
  private branchTargets = 0;
  /** A `.pragma "nounroll"` that no instruction has followed yet. */
  private nounroll = false;
  /** The same of `.pragma "engine"`, which printed texts have. */
  private isOfEngine = false;
  private stack: AllocationStack | undefined;
  /** What goes before the first instruction; known only once the body is read. */
  private readonly prologue: PendingInstruction[] = [];

  constructor(
    private stream: TokenStream,
    private readonly head: FunctionHead,
    private readonly context: ModuleContext,
  ) {
    const scopes = new FunctionScopes(context.registers);
    this.scopes = scopes;
    this.names = {
      scopes,
      symbol: (name: string): string | undefined =>
        scopes.findSymbol(name) ?? (context.isSymbol(name) ? name : undefined),
      useReservedSharedMemory: (): void => {
        context.useReservedSharedMemory();
      },
    };
    this.parser = new InstructionParser(stream, this.names, context.firstTargets);
  }

  /** The body with its braces. */
  parse(): IrFunction {
    const stream: TokenStream = this.stream;
    this.declareFormals();
    stream.expect('{', 'before the body');
    let depth = 1;
    let endLine = this.head.declaration.line;
    while (depth > 0) {
      const token = stream.peek();
      endLine = token.line;
      if (token.kind === 'end') stream.fail("'}' at the end of the function");
      if (stream.accept('{')) {
        if (++depth > deepestScope) stream.fail(`at most ${deepestScope} nested scopes`, token);
        this.scopes.open();
      } else if (stream.accept('}')) {
        depth--;
        if (depth > 0) this.scopes.close();
      } else this.parseStatement();
    }
    return this.finish(endLine);
  }

  private parseStatement(): void {
    const { stream } = this;
    if (stream.peek().kind === 'dotted') this.parseDirective();
    else if (stream.is(':', 1)) this.parseLabel();
    else if (!stream.accept(';')) this.parseInstruction();
  }

  /** Puts the text that stands for an instruction in its place: a scope of its own, with names for its operands. */
  private expand(parsed: ParsedInstruction, { text, registers, symbols }: Expansion): void {
    const { stream, parser, scopes } = this;
    this.stream = new TokenStream(text, stream.file);
    this.parser = new InstructionParser(this.stream, this.names);
    this.expanded = parsed;
    scopes.open();
    for (const [name, register] of registers) scopes.declareAlias(name, register);
    for (const [name, inIr] of symbols) scopes.declareSymbolAs(name, inIr);
    while (this.stream.peek().kind !== 'end') this.parseStatement();
    scopes.close();
    this.expanded = undefined;
    this.stream = stream;
    this.parser = parser;
  }

  /**
   * The formal parameters are names of the outermost scope. Those that old PTX passes in registers are loaded from
   * parameters, and stored to them before each return.
   */
  private declareFormals(): void {
    const { line, parameters, returns } = this.head.declaration;
    // `_` is no name, but stands for one.
    for (const { register, type, width } of [...this.head.taken, ...this.head.given])
      if (register !== '_' && !this.scopes.declareRegister(register, type, width))
        this.failAsTaken(word(register, line), register);
    for (const { name } of [...parameters, ...returns])
      if (name !== '_') this.declareSymbol(word(name, line));
    for (const formal of this.head.taken)
      this.pending.push(...this.formalMoves('ld', formal, this.head.declaration.line));
  }

  private formalMoves(
    opcode: 'ld' | 'st',
    { register, type, parameter }: FormalRegister,
    line: number,
    guard?: IrInstruction['guard'],
  ): PendingInstruction[] {
    const at = { line, guard, scope: this.scopes.here };
    return (this.scopes.findRegister(register) ?? []).flatMap((number, component) =>
      formalMoves(opcode, { number, type, parameter, component }, at, () => this.scopes.temporary('b32')),
    );
  }

  private push(instruction: PendingInstruction): void {
    if (isa(instruction.opcode).effects.kind === 'return') {
      for (const formal of this.head.given)
        this.pending.push(...this.formalMoves('st', formal, instruction.line, instruction.guard));
    }
    if (this.nounroll) instruction.nounroll = true;
    if (this.expanded !== undefined || this.isOfEngine) instruction.isEngine = true;
    this.nounroll = false;
    this.isOfEngine = false;
    this.pending.push(instruction);
  }

  private parseLabel(): void {
    const stream: TokenStream = this.stream;
    const name = stream.name('a label');
    stream.expect(':');
    const isNewTable = this.parseTable(name.text);
    if (!(isNewTable ?? this.scopes.declareLabel(name.text, this.pending.length)))
      stream.fail('a label that is not yet taken', name);
    if (isNewTable === undefined && !this.labelNames.has(this.pending.length))
      this.labelNames.set(this.pending.length, this.scopes.labelName(name.text));
  }

  /** What a label stands for that marks no instruction; undefined when it marks one. */
  private parseTable(label: string): boolean | undefined {
    const stream: TokenStream = this.stream;
    const { line } = stream.peek();
    if (stream.accept('.branchtargets')) {
      const labels = this.parseNames('a label');
      return this.scopes.declareTable(label, { kind: 'branchTargets', labels, line });
    }
    if (stream.accept('.calltargets')) {
      const functions = this.parseNames('the name of a function');
      return this.scopes.declareTable(label, { kind: 'callTargets', functions, line });
    }
    if (!stream.accept('.callprototype')) return undefined;
    const returns = parseParameterList(stream, 'given').parameters;
    stream.word("'_' in place of a name");
    const { parameters } = parseParameterList(stream, 'taken');
    stream.skipStatement();
    return this.scopes.declareTable(label, {
      kind: 'callPrototype',
      prototype: { parameters, returns },
      line,
    });
  }

  private parseNames(purpose: string): string[] {
    const found: string[] = [];
    do found.push(this.stream.word(purpose).text);
    while (this.stream.accept(','));
    this.stream.expect(';', 'after the list');
    return found;
  }

  private parseInstruction(): void {
    const parsed = this.parser.parse();
    for (const each of this.rewritten(parsed)) {
      const expansion = this.expanded === undefined ? expansionOf(each, this.scopes) : undefined;
      if (expansion?.kind === 'text') this.expand(each, expansion);
      else this.take(expansion?.refused ?? each);
    }
  }

  private take(parsed: ParsedInstruction): void {
    const { line, text } = this.expanded ?? parsed;
    this.push(pendingIn(this.scopes.here, { ...parsed, line, text }));
    if (parsed.opaque !== true) return;
    const isKnown = formsOf(parsed.opcode).length > 0;
    this.refuse(line, text, parsed.reason ?? refusalReason(parsed, isKnown));
  }

  private rewritten(parsed: ParsedInstruction): ParsedInstruction[] {
    if (isCall(parsed.opcode)) return passRegisters(parsed, this.scopes, this.callParameters);
    if (parsed.opaque === true || isa(parsed.opcode).syntax.rewritten !== 'stack')
      return rewrite(parsed, this.scopes);
    return allocate(parsed, this.allocationStack()) ?? [parsed];
  }

  private allocationStack(): AllocationStack {
    if (this.stack !== undefined) return this.stack;
    const variable = this.scopes.freshSymbol('__stack');
    const { line } = this.head.declaration;
    this.variables.push({
      name: variable,
      space: 'local',
      type: 'b8',
      bytes: allocatableBytes,
      align: 16,
      isExtern: false,
      line,
    });
    const top = this.scopes.temporary('u64');
    this.stack = { top, variable, temporary: (type) => this.scopes.temporary(type) };
    this.prologue.push({ ...startStack(line, this.stack), scope: this.scopes.here });
    return this.stack;
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
      case '.attribute':
        parseAttribute(stream, 'global');
        if (!stream.is('.global')) stream.fail("'.global' after an attribute");
        break;
      case '.shared':
      case '.local':
      case '.global':
      case '.const':
        stream.next();
        this.parseVariable(token.text.slice(1) as IrVariable['space']);
        break;
      case '.param':
        if (stream.dialect.version < 200 && this.head.declaration.isEntry && !this.hasParametersInside())
          stream.fail('.param in the head of the entry (in its body, up to PTX 1.3)', token);
        parseParameters(
          stream,
          this.hasParametersInside() ? this.ownParameters : this.callParameters,
          (token, name) => this.declareSymbol(token, name),
        );
        break;
      case '.loc':
      case '.file':
        skipDebugDirective(stream);
        break;
      case '.pragma':
        this.parsePragma();
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

  private hasParametersInside(): boolean {
    const { isEntry } = this.head.declaration;
    return isEntry && this.context.firstTargets?.parametersInside === true;
  }

  private parsePragma(): void {
    const stream: TokenStream = this.stream;
    checkFeature(stream, stream.next());
    if (stream.peek().kind === 'string' && stream.peek().text === '"nounroll"') this.nounroll = true;
    if (stream.peek().kind === 'string' && stream.peek().text === '"engine"') this.isOfEngine = true;
    stream.skipStatement();
  }

  private declareSymbol(token: Token, name = token.text): string {
    return this.scopes.declareSymbol(name) ?? this.failAsTaken(token, name);
  }

  private failAsTaken(token: Token, name: string): never {
    return this.stream.fail(`a name other than ${name}, which this scope has already`, token);
  }

  private parseVariable(space: IrVariable['space']): void {
    if (space === 'const') parseBank(this.stream);
    for (const { token, name, variable } of parseVariables(this.stream, { space, isInside: true })) {
      if (variable === undefined) continue;
      if (space === 'global' || space === 'const') this.hoist(token, variable);
      else this.variables.push({ ...variable, name: this.declareSymbol(token, name) });
    }
  }

  /** Memory that all launches share lies in the module, whatever scope its name is of. */
  private hoist(token: Token, variable: IrVariable): void {
    const relocations = variable.relocations?.map((each) => ({
      ...each,
      symbol: this.scopes.findSymbol(each.symbol) ?? each.symbol,
    }));
    const name = this.context.declareVariable(this.head.declaration.name, {
      ...variable,
      ...(relocations === undefined ? {} : { relocations }),
    });
    if (!this.scopes.declareSymbolAs(variable.name, name)) this.failAsTaken(token, variable.name);
  }

  private parseRegisters(): void {
    for (const { token, ...register } of parseRegisters(this.stream))
      if (!this.scopes.declare(register)) this.failAsTaken(token, register.name);
  }

  private finish(endLine: number): IrFunction {
    const last = this.pending.at(-1);
    const ends = last !== undefined && last.guard === undefined && endsBlock(last.opcode);
    if (!ends || this.labelNames.has(this.pending.length)) this.push(this.impliedReturn(endLine));
    const shift = this.prologue.length;
    const pending = [...this.prologue, ...this.pending];
    const targets = pending.map((each) => {
      const labels = this.labelsOf(each);
      return labels.length === 0 ? NONE : labels.map((label) => this.resolveLabel(label, each) + shift);
    });
    const labelNames = new Map([...this.labelNames].map(([index, name]) => [index + shift, name]));
    const layout = layOutBlocks(
      pending.map((each) => each.opcode),
      targets.flat(),
    );
    const parsed = pending.map((each, index): IrInstruction => {
      const labels = targets[index] ?? NONE;
      const { line, opcode, modifiers, types, guard, selectors, nounroll, isEngine, destinations, sources } =
        each;
      return {
        index,
        line,
        opcode,
        modifiers,
        types,
        guard,
        carry: this.carryOf(each),
        selectors,
        nounroll,
        isEngine,
        prototype: this.prototypeOf(each),
        destinations,
        sources:
          labels.length === 0
            ? sources
            : [
                ...sources,
                ...labels.map((target) => ({
                  kind: 'label' as const,
                  block: layout.blockOf[target] ?? 0,
                })),
              ],
      };
    });
    const { instructions, registers } = numberRegisters({
      instructions: parsed,
      registers: this.scopes.registers,
    });
    const fn: IrFunction = {
      ...this.head.declaration,
      ...(this.hasParametersInside()
        ? { parameters: this.ownParameters.parameters, parameterBytes: this.ownParameters.bytes }
        : {}),
      registers,
      variables: this.variables,
      callParameters: this.callParameters.parameters,
      instructions,
      blocks: connectBlocks(instructions, layout, labelNames),
    };
    if (this.head.refusal !== undefined) return { ...fn, refusal: this.head.refusal };
    this.refuseSharedRegister();
    const refusal = earlier(this.refusal, firstRefusal(fn, this.context));
    return refusal === undefined ? fn : { ...fn, refusal };
  }

  /** A thread's functions have each their own registers here; an entry, which none calls, shares those of the module with none. */
  private refuseSharedRegister(): void {
    const { isEntry, line } = this.head.declaration;
    const shared = this.scopes.usedOfModule;
    if (isEntry || shared === undefined) return;
    this.refusal = earlier(this.refusal, {
      line,
      instruction: `.reg ${shared}`,
      reason: 'a register that functions share is not supported: pass it as a parameter',
    });
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

  /** The condition code that `.cc` writes, and that addc, subc and madc read. */
  private carryOf({ opcode, modifiers }: ParsedInstruction): IrInstruction['carry'] {
    const { carry } = isa(opcode).syntax;
    if (carry === undefined) return undefined;
    const reads = carry === 'in';
    const writes = modifiers.includes('cc');
    return reads || writes ? { register: this.scopes.conditionCode(), reads, writes } : undefined;
  }

  private labelsOf(each: PendingInstruction): readonly string[] {
    if (!isSwitch(each.opcode) || each.table === undefined) return each.labels;
    const table = this.scopes.findTable(each.table, each.scope);
    if (table?.kind === 'branchTargets') {
      this.branchTargets += table.labels.length;
      if (this.branchTargets > mostBranchTargets)
        this.stream.fail(
          `at most ${mostBranchTargets} targets of indexed branches`,
          word(each.table, each.line),
        );
      return table.labels;
    }
    return this.stream.fail('a label of a .branchtargets list', word(each.table, each.line));
  }

  /** Of an indirect call what its table says; of a direct one the table is of no use. */
  private prototypeOf(each: PendingInstruction): IrPrototype | undefined {
    if (!isCall(each.opcode) || each.table === undefined || each.sources[0]?.kind !== 'register')
      return undefined;
    const table = this.scopes.findTable(each.table, each.scope);
    if (table?.kind === 'callPrototype') return table.prototype;
    if (table?.kind !== 'callTargets')
      return this.stream.fail('the label of a .callprototype or .calltargets', word(each.table, each.line));
    const prototypes = table.functions.map((name): IrPrototype => {
      const found = this.context.prototypeOf(name);
      return found ?? this.stream.fail('a declared function', word(name, table.line));
    });
    const [first = { parameters: [], returns: [] }] = prototypes;
    return { ...first, targets: table.functions };
  }

  private resolveLabel(label: string, from: PendingInstruction): number {
    const found = this.scopes.findLabel(label, from.scope);
    if (found === undefined) {
      this.stream.fail('a label of this function', word(label, from.line));
    }
    return found;
  }
}

/** Written out, so that all are objects of one shape. */
function pendingIn(scope: object, parsed: ParsedInstruction): PendingInstruction {
  const { line, opcode, modifiers, types, guard, selectors, destinations, sources, labels, table, text } =
    parsed;
  return {
    line,
    opcode,
    modifiers,
    types,
    guard,
    selectors,
    destinations,
    sources,
    labels,
    table,
    text,
    opaque: parsed.opaque,
    scope,
  };
}

function word(text: string, line: number): Token {
  return { kind: 'word', text, line };
}
