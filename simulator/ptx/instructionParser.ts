import { isBranch, isCall, isSwitch, isa } from './isa/index.js';
import { parseConstant, parseOffset, startsConstant } from './constantExpressions.js';
import { type FirstTargets, laterSpelling } from './firstTargets.js';
import type { IrInstruction, IrOperand, ScalarType } from './ir.js';
import { isScalarType } from './scalarTypes.js';
import type { FunctionScopes } from './scopes.js';
import { fixedSpecialRegister, isSpecialRegister, isSpecialTriple } from './specialRegisters.js';
import { isKnownForm } from './support.js';
import type { TokenStream } from './tokenStream.js';

/** What a name in an operand may stand for beyond registers and special registers. */
export interface OperandNames {
  readonly scopes: FunctionScopes;
  /** IR name of a variable, parameter or function, or undefined. */
  symbol(name: string): string | undefined;
  /** Called where an operand is the shared memory that the driver reserves. */
  useReservedSharedMemory(): void;
}

/** An instruction whose label operands are still names. */
export interface ParsedInstruction {
  readonly line: number;
  readonly opcode: string;
  readonly modifiers: readonly string[];
  readonly types: readonly ScalarType[];
  readonly guard?: IrInstruction['guard'];
  readonly selectors?: readonly string[] | undefined;
  readonly destinations: readonly IrOperand[];
  readonly sources: readonly IrOperand[];
  readonly labels: readonly string[];
  /** Of `brx.idx` its list of labels, of an indirect call its prototype or list of functions: a label. */
  readonly table?: string | undefined;
  /** Text as written, for messages. */
  readonly text: string;
  /** Set when no form is known that has these modifiers: the operands are then not read. */
  readonly opaque?: boolean | undefined;
  /** Of an opaque instruction why, where it is not for its modifiers. */
  readonly reason?: string;
}

/** What an instruction's opcode and modifiers say, before any operand. */
interface Spelling {
  readonly opcode: string;
  readonly modifiers: readonly string[];
  readonly types: readonly ScalarType[];
  readonly text: string;
  readonly isKnown: boolean;
  /** How many of the operands are written: 0 or 1. */
  readonly written: number;
}

/** A text has few spellings and many instructions of each: those share what their spelling says. */
const spellings = new Map<string, Spelling>();
const mostSpellings = 4096;

/** @param text opcode and modifiers, joined by their dots */
function spellingOf(text: string): Spelling {
  let found = spellings.get(text);
  if (found === undefined) {
    const [opcode = '', ...modifiers] = text.split('.');
    const types = modifiers.filter(isScalarType);
    const isKnown = isKnownForm(opcode, modifiers, types);
    found = { opcode, modifiers, types, text, isKnown, written: hasDestination(opcode, modifiers) ? 1 : 0 };
    if (spellings.size >= mostSpellings) spellings.clear();
    spellings.set(text, found);
  }
  return found;
}

/** Whether the first operand is written. */
function hasDestination(opcode: string, modifiers: readonly string[]): boolean {
  switch (isa(opcode).syntax.writes) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'reductions':
      return modifiers.includes('red');
    case 'unlessStored':
      return !modifiers.includes('store');
    case 'states':
      return modifiers.some((each) => /^(?:arrive|arrive_drop|\w+_wait|pending_count|advance)$/.test(each));
  }
}

const componentIndex: Readonly<Record<string, number>> = {
  '.x': 0,
  '.y': 1,
  '.z': 2,
  '.w': 3,
  '.r': 0,
  '.g': 1,
  '.b': 2,
  '.a': 3,
};

/** `.r` is another name of `.x`, and so on. */
function axisOf(component: string): string {
  return /^\.[rgba]$/.test(component) ? `.${'xyzw'.charAt(componentIndex[component] ?? 0)}` : component;
}

function parsed(
  line: number,
  { opcode, modifiers, types, text }: Spelling,
  guard: IrInstruction['guard'],
  destinations: readonly IrOperand[],
  sources: readonly IrOperand[],
): ParsedInstruction {
  return { line, opcode, modifiers, types, text, guard, destinations, sources, labels: [] };
}

export class InstructionParser {
  /** Part that the operand just read selects, of a video instruction. */
  private selector = '';

  constructor(
    private readonly stream: TokenStream,
    private readonly names: OperandNames,
    private readonly firstTargets?: FirstTargets,
  ) {}

  /** One instruction with its `;`. */
  parse(): ParsedInstruction {
    const stream: TokenStream = this.stream;
    const { line } = stream.peek();
    const guard = stream.accept('@') ? this.parseGuard() : undefined;
    let spelled = stream.word('an instruction').text;
    while (stream.peek().kind === 'dotted') spelled += stream.next().text;
    if (this.firstTargets !== undefined) spelled = laterSpelling(spelled, this.firstTargets);
    const spelling = spellingOf(spelled);
    const { opcode } = spelling;
    if (!spelling.isKnown) {
      stream.skipStatement();
      return { ...parsed(line, spelling, guard, [], []), opaque: true };
    }
    if (isBranch(opcode)) {
      const label = stream.word('a label').text;
      stream.expect(';', 'after the instruction');
      return { ...parsed(line, spelling, guard, [], []), labels: [label] };
    }
    if (isSwitch(opcode)) return { ...parsed(line, spelling, guard, [], []), ...this.parseIndexedBranch() };
    if (isCall(opcode)) return { ...parsed(line, spelling, guard, [], []), ...this.parseCall() };
    const operands: IrOperand[] = [];
    let selectors: string[] | undefined;
    let unread: string | undefined;
    if (stream.peek().kind === 'end') stream.fail("';' after the instruction");
    if (!stream.is(';')) {
      do {
        this.selector = '';
        if (isa(opcode).syntax.rule === 'fetch' && stream.accept('['))
          unread = this.parseFetchPlace(operands);
        else {
          const coordinates: IrOperand[] = [];
          operands.push(this.parseOperand(isa(opcode).syntax.rule === 'copy' ? coordinates : undefined));
          operands.push(...coordinates);
        }
        if (this.selector !== '') {
          if (!isa(opcode).syntax.hasSelectors) stream.fail('a whole register');
          selectors ??= [];
          while (selectors.length < operands.length - 1) selectors.push('');
          selectors.push(this.selector);
        }
      } while (unread === undefined && stream.accept(','));
    }
    const reason = unread ?? this.unreadOperand(operands.at(-1));
    if (reason !== undefined) {
      stream.skipStatement();
      return { ...parsed(line, spelling, guard, [], []), opaque: true, reason };
    }
    stream.expect(';', 'after the instruction');
    const { written } = spelling;
    const plain = parsed(line, spelling, guard, operands.slice(0, written), operands.slice(written));
    if (selectors === undefined) return plain;
    while (selectors.length < operands.length) selectors.push('');
    return { ...plain, selectors };
  }

  /** What assemblers take behind an operand and this parser does not. */
  private unreadOperand(operand: IrOperand | undefined): string | undefined {
    if (operand?.kind === 'register' && (this.stream.is('+') || this.stream.is('-')))
      return 'a register plus a constant is not supported as an operand: add it before';
    if ((operand?.kind === 'register' || operand?.kind === 'symbol') && this.stream.is('['))
      return 'an element outside of brackets is not supported: write [name + offset in bytes]';
    return undefined;
  }

  private parseGuard(): { register: number; negated: boolean } {
    const negated = this.stream.accept('!');
    return { register: this.parsePredicate(), negated };
  }

  private parsePredicate(): number {
    const token = this.stream.peek();
    const numbers = this.names.scopes.findRegister(this.stream.word('a predicate register').text);
    const register = numbers?.length === 1 ? numbers[0] : undefined;
    if (register === undefined || this.names.scopes.registers[register]?.type !== 'pred') {
      this.stream.fail('a declared predicate register', token);
    }
    return register;
  }

  private parseIndexedBranch(): Pick<ParsedInstruction, 'destinations' | 'sources' | 'table'> {
    const stream: TokenStream = this.stream;
    const index = this.parseOperand();
    stream.expect(',', 'after the index');
    const table = stream.word('the label of a .branchtargets list').text;
    stream.expect(';', 'after the instruction');
    return { destinations: [], sources: [index], table };
  }

  private parseCall(): Pick<ParsedInstruction, 'destinations' | 'sources' | 'table'> {
    const stream: TokenStream = this.stream;
    const destinations: IrOperand[] = [];
    if (stream.is('(')) {
      destinations.push(...this.parseArguments());
      stream.expect(',', 'after the return parameters');
    }
    const sources: IrOperand[] = [this.parseOperand()];
    let table: string | undefined;
    if (stream.accept(',')) {
      if (stream.is('(')) {
        sources.push(...this.parseArguments());
        if (stream.accept(',')) table = stream.word('a call prototype').text;
      } else table = stream.word('a call prototype').text;
    }
    stream.expect(';', 'after the call');
    return { destinations, sources, ...(table === undefined ? {} : { table }) };
  }

  private parseArguments(): IrOperand[] {
    this.stream.expect('(');
    const found: IrOperand[] = [];
    if (this.stream.accept(')')) return found;
    do found.push(this.parseArgument());
    while (this.stream.accept(','));
    this.stream.expect(')', 'after the arguments');
    return found;
  }

  /** A name as it stands, or a constant. */
  private parseArgument(): IrOperand {
    const stream: TokenStream = this.stream;
    if (stream.is('{'))
      stream.fail('an argument without braces: a register of .v2 or .v4, or a .param array');
    if (!startsConstant(stream) && stream.peek().kind !== 'word')
      stream.fail('an argument: the name of a register or of a .param, or a constant');
    if (stream.peek().kind === 'word' && stream.peek(1).kind === 'dotted')
      stream.fail('an argument that is a whole register', stream.peek(1));
    return this.parseSimple();
  }

  /** @param coordinates where those of a tensor go, in brackets behind its map */
  private parseOperand(coordinates?: IrOperand[]): IrOperand {
    const stream: TokenStream = this.stream;
    if (stream.accept('[')) return this.parseAddress(coordinates);
    if (stream.accept('{')) {
      const elements: IrOperand[] = [];
      do {
        elements.push(this.parseSimple());
      } while (stream.accept(','));
      stream.expect('}', 'after the vector');
      return { kind: 'vector', elements };
    }
    const first = this.parseSimple();
    if (!stream.accept('|')) return first;
    return { kind: 'pair', first, second: this.parseSimple() };
  }

  private parseSimple(): IrOperand {
    const stream: TokenStream = this.stream;
    if (startsConstant(stream)) return parseConstant(stream);
    if (stream.accept('!')) return { kind: 'negatedPredicate', register: this.parsePredicate() };
    if (stream.is('-') && stream.peek(1).kind === 'word') {
      stream.next();
      this.selector = '-';
    }
    const token = stream.peek();
    if (token.kind !== 'word') stream.fail('an operand');
    stream.next();
    if (token.text === '_') return { kind: 'sink' };
    const numbers = this.names.scopes.findRegister(token.text);
    if (numbers !== undefined) return this.parseRegister(numbers);
    const special = this.parseSpecial(token.text);
    if (special !== undefined) return special;
    const symbol = this.names.symbol(token.text);
    if (symbol === undefined) stream.fail('a declared register or variable', token);
    return { kind: 'symbol', name: symbol, offset: parseOffset(stream) };
  }

  /** What follows the name of a register: a component of a vector register, or a part that a video instruction takes. */
  private parseRegister(numbers: readonly number[]): IrOperand {
    const stream: TokenStream = this.stream;
    const suffix = stream.peek();
    const [register = 0] = numbers;
    if (suffix.kind !== 'dotted') {
      if (numbers.length === 1) return { kind: 'register', register };
      return { kind: 'vector', elements: numbers.map((each) => ({ kind: 'register', register: each })) };
    }
    stream.next();
    if (numbers.length === 1) {
      if (!/^\.[bh]\d{1,4}$/.test(suffix.text)) stream.fail('a part of a register such as .h0', suffix);
      this.selector += suffix.text.slice(1);
      return { kind: 'register', register };
    }
    const component = numbers[componentIndex[suffix.text] ?? -1];
    if (component === undefined) stream.fail(`a component of a vector of ${numbers.length}`, suffix);
    return { kind: 'register', register: component };
  }

  private parseSpecial(text: string): IrOperand | undefined {
    if (!text.startsWith('%')) return undefined;
    const name = text.slice(1);
    if (!isSpecialRegister(name)) return undefined;
    if (!isSpecialTriple(name)) return this.specialOperand(name);
    const component = this.stream.peek();
    const axis = axisOf(component.text);
    if (component.kind === 'dotted' && isSpecialRegister(name + axis)) {
      this.stream.next();
      return this.specialOperand(name + axis);
    }
    return {
      kind: 'vector',
      elements: ['x', 'y', 'z', 'w'].map((axis) => this.specialOperand(`${name}.${axis}`)),
    };
  }

  private specialOperand(name: string): IrOperand {
    const fixed = fixedSpecialRegister(name) ?? { kind: 'special', name };
    if (fixed.kind === 'symbol') this.names.useReservedSharedMemory();
    return fixed;
  }

  /**
   * After `[` of a texture or surface, to and with `]`: the handle, and the coordinates where there are any.
   * @returns why it is not read on
   */
  private parseFetchPlace(operands: IrOperand[]): string | undefined {
    const { stream } = this;
    const token = stream.peek();
    if (token.kind === 'word' && this.names.scopes.findRegister(token.text) === undefined)
      return `${token.text} is a texture or surface by name: give a texture object's handle as a parameter`;
    operands.push(this.parseSimple());
    if (stream.accept(',')) {
      operands.push(this.parseOperand());
      if (stream.is(',')) return 'a texture and a sampler apart (texmode_independent) are not supported';
    }
    stream.expect(']', 'after the coordinates');
    return undefined;
  }

  /** After `[`, to and with `]`. */
  private parseAddress(coordinates?: IrOperand[]): IrOperand {
    const stream: TokenStream = this.stream;
    const token = stream.peek();
    let base: number | string | undefined;
    let offset = 0;
    if (token.kind === 'word') {
      stream.next();
      const numbers = this.names.scopes.findRegister(token.text);
      base = numbers?.length === 1 ? numbers[0] : this.names.symbol(token.text);
      if (base === undefined) stream.fail('a declared register or variable', token);
      offset = parseOffset(stream);
    } else {
      const address = startsConstant(stream) ? parseConstant(stream) : stream.fail('an address');
      if (address.kind !== 'integer') stream.fail('an address', token);
      offset = Number((BigInt(address.high) << 32n) | BigInt(address.low >>> 0));
      if (!Number.isSafeInteger(offset)) stream.fail('an address', token);
    }
    if (coordinates !== undefined && stream.accept(',')) coordinates.push(this.parseOperand());
    stream.expect(']', 'after the address');
    return { kind: 'address', base, offset };
  }
}
