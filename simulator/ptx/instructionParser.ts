import type { IrInstruction, IrOperand, ScalarType } from './ir.js';
import { literalValue, parseLiteral, singleLiteral } from './literals.js';
import { isScalarType } from './scalarTypes.js';
import type { FunctionScopes } from './scopes.js';
import { isSpecialRegister } from './specialRegisters.js';
import type { TokenStream } from './tokenStream.js';

/** What a name in an operand may stand for beyond registers and special registers. */
export interface OperandNames {
  readonly scopes: FunctionScopes;
  /** IR name of a variable, parameter or function, or undefined. */
  symbol(name: string): string | undefined;
}

/** An instruction whose label operands are still names. */
export interface ParsedInstruction {
  readonly line: number;
  readonly opcode: string;
  readonly modifiers: readonly string[];
  readonly types: readonly ScalarType[];
  readonly guard?: IrInstruction['guard'];
  readonly destinations: readonly IrOperand[];
  readonly sources: readonly IrOperand[];
  readonly labels: readonly string[];
  /** Text as written, for messages. */
  readonly text: string;
  /** Set when the operands are of a shape that this parser does not know; they are then missing. */
  readonly opaque?: boolean;
}

const withoutDestination = new Set(
  (
    'st red bra brx ret exit trap brkpt bar barrier membar fence nanosleep prefetch prefetchu discard applypriority ' +
    'cp griddepcontrol setmaxnreg sust sured pmevent wgmma stmatrix stackrestore multimem mbarrier'
  ).split(' '),
);

/** Whether the first operand is written. */
function hasDestination(opcode: string, modifiers: readonly string[]): boolean {
  if (opcode === 'bar' || opcode === 'barrier') return modifiers.includes('red');
  if (opcode === 'wmma') return modifiers[0] !== 'store';
  if (opcode === 'mbarrier')
    return /^(arrive|arrive_drop|test_wait|try_wait|pending_count)$/.test(modifiers[0] ?? '');
  if (opcode === 'multimem') return modifiers[0] === 'ld_reduce';
  return !withoutDestination.has(opcode);
}

export class InstructionParser {
  constructor(
    private readonly stream: TokenStream,
    private readonly names: OperandNames,
  ) {}

  /** One instruction with its `;`. */
  parse(): ParsedInstruction {
    const stream: TokenStream = this.stream;
    const { line } = stream.peek();
    const guard = stream.accept('@') ? this.parseGuard() : undefined;
    const opcode = stream.word('an instruction').text;
    const modifiers: string[] = [];
    while (stream.peek().kind === 'dotted') modifiers.push(stream.next().text.slice(1));
    const types = modifiers.filter(isScalarType);
    const text = [opcode, ...modifiers].join('.');
    const head = { line, opcode, modifiers, types, text, ...(guard === undefined ? {} : { guard }) };
    if (opcode === 'bra') {
      const label = stream.word('a label').text;
      stream.expect(';', 'after the instruction');
      return { ...head, destinations: [], sources: [], labels: [label] };
    }
    if (opcode === 'call') return { ...head, ...this.parseCall(), labels: [] };
    if (!isKnownOperandShape(opcode)) {
      stream.skipStatement();
      return { ...head, destinations: [], sources: [], labels: [], opaque: true };
    }
    const operands: IrOperand[] = [];
    if (stream.peek().kind === 'end') stream.fail("';' after the instruction");
    if (!stream.is(';')) {
      do {
        operands.push(this.parseOperand());
      } while (stream.accept(','));
    }
    stream.expect(';', 'after the instruction');
    const written = hasDestination(opcode, modifiers) ? 1 : 0;
    const sources = operands.slice(written).map((operand) => narrowed(operand, types.at(-1)));
    return { ...head, destinations: operands.slice(0, written), sources, labels: [] };
  }

  private parseGuard(): { register: number; negated: boolean } {
    const negated = this.stream.accept('!');
    const token = this.stream.peek();
    const register = this.names.scopes.findRegister(this.stream.word('a predicate register').text);
    if (register === undefined || this.names.scopes.registers[register]?.type !== 'pred') {
      this.stream.fail('a declared predicate register', token);
    }
    return { register, negated };
  }

  private parseCall(): { destinations: IrOperand[]; sources: IrOperand[] } {
    const stream: TokenStream = this.stream;
    const destinations: IrOperand[] = [];
    if (stream.is('(')) {
      destinations.push(...this.parseArguments());
      stream.expect(',', 'after the return parameters');
    }
    const sources: IrOperand[] = [this.parseOperand()];
    while (stream.accept(',')) {
      if (stream.is('(')) sources.push(...this.parseArguments());
      // The prototype or list of targets of an indirect call: a label that no operand needs.
      else stream.word('a call prototype');
    }
    stream.expect(';', 'after the call');
    return { destinations, sources };
  }

  private parseArguments(): IrOperand[] {
    this.stream.expect('(');
    const found: IrOperand[] = [];
    if (this.stream.accept(')')) return found;
    do {
      found.push(this.parseOperand());
    } while (this.stream.accept(','));
    this.stream.expect(')', 'after the arguments');
    return found;
  }

  private parseOperand(): IrOperand {
    const stream: TokenStream = this.stream;
    if (stream.accept('[')) return this.parseAddress();
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
    const token = stream.peek();
    if (stream.accept('!')) {
      const register = this.names.scopes.findRegister(stream.word('a predicate register').text);
      if (register === undefined) stream.fail('a declared predicate register', token);
      return { kind: 'negatedPredicate', register };
    }
    if (token.kind === 'number' || token.text === '-' || token.text === '+') {
      const negative = stream.accept('-');
      if (!negative) stream.accept('+');
      if (stream.peek().kind !== 'number') stream.fail('a number');
      return parseLiteral(stream.next().text, negative);
    }
    if (token.kind !== 'word') stream.fail('an operand');
    stream.next();
    if (token.text === '_') return { kind: 'sink' };
    if (token.text === 'WARP_SZ') return { kind: 'integer', low: 32, high: 0 };
    const register = this.names.scopes.findRegister(token.text);
    if (register !== undefined) return { kind: 'register', register };
    const special = this.parseSpecial(token.text);
    if (special !== undefined) return special;
    const symbol = this.names.symbol(token.text);
    if (symbol === undefined) stream.fail('a declared register or variable', token);
    return { kind: 'symbol', name: symbol, offset: this.parseOffset() };
  }

  private parseSpecial(text: string): IrOperand | undefined {
    if (!text.startsWith('%')) return undefined;
    let name = text.slice(1);
    if (!isSpecialRegister(name)) return undefined;
    const component = this.stream.peek();
    if (component.kind === 'dotted' && isSpecialRegister(name + component.text)) {
      name += component.text;
      this.stream.next();
    }
    return { kind: 'special', name };
  }

  /** `+ 4`, `+-4`, `- 4` or nothing. */
  private parseOffset(): number {
    const stream: TokenStream = this.stream;
    let sign = 1;
    if (stream.accept('-')) sign = -1;
    else if (!stream.accept('+')) return 0;
    if (stream.accept('-')) sign = -sign;
    return sign * stream.count('an offset in bytes');
  }

  /** After `[`, to and with `]`. */
  private parseAddress(): IrOperand {
    const stream: TokenStream = this.stream;
    const token = stream.peek();
    let base: number | string | undefined;
    let offset = 0;
    if (token.kind === 'word') {
      stream.next();
      base = this.names.scopes.findRegister(token.text) ?? this.names.symbol(token.text);
      if (base === undefined) stream.fail('a declared register or variable', token);
      offset = this.parseOffset();
    } else {
      const sign = stream.accept('-') ? -1 : 1;
      offset = sign * stream.count('an address');
    }
    stream.expect(']', 'after the address');
    return { kind: 'address', base, offset };
  }
}

const otherOperandShapes =
  /^(tex|tld4|txq|suld|sust|sured|suq|cp|wgmma|tcgen05|multimem|mbarrier|mapa|brx|v(?!ote$)[a-z]+\d?|clusterlaunchcontrol)$/;

/**
 * Textures, tensor maps and clusters have operands of their own (`[tex, {x, y}]`, byte selectors, …): their
 * instructions are read up to the `;` and refused by name, which leaves the rest of the module loadable.
 */
function isKnownOperandShape(opcode: string): boolean {
  return !otherOperandShapes.test(opcode);
}

/** PTX lets a float literal be written in double precision anywhere; an f32 operation rounds it. */
function narrowed(operand: IrOperand, type: ScalarType | undefined): IrOperand {
  if (operand.kind === 'float' && operand.width === 64 && type === 'f32')
    return singleLiteral(literalValue(operand));
  if (operand.kind === 'vector') {
    return { kind: 'vector', elements: operand.elements.map((element) => narrowed(element, type)) };
  }
  return operand;
}
