import { floatText, integerText } from './printer/operandText.js';
import { bulkCopy } from './bulkCopies.js';
import type { ParsedInstruction } from './instructionParser.js';
import type { IrOperand } from './ir.js';
import type { FunctionScopes } from './scopes.js';
import { typeBits } from './scalarTypes.js';
import { refusedFor } from './steps.js';

/** A text that stands for an instruction, in a scope of its own. */
export interface Expansion {
  readonly kind: 'text';
  readonly text: string;
  /** Names in it of registers, and of variables, that are there already. */
  readonly registers: readonly (readonly [string, number])[];
  readonly symbols: readonly (readonly [string, string])[];
}

interface Refused {
  readonly kind: 'refused';
  readonly refused: ParsedInstruction;
}

/**
 * What an instruction becomes that takes more than a few steps: loops, too. Undefined for all others. An operand that it cannot
 * take refuses it.
 */
export function expansionOf(
  parsed: ParsedInstruction,
  scopes: FunctionScopes,
): Expansion | Refused | undefined {
  const { opcode, modifiers } = parsed;
  if (parsed.opaque === true || (opcode !== 'cp' && opcode !== 'st' && opcode !== 'red')) return undefined;
  if (!modifiers.includes('async') || parsed.sources.length < 2) return undefined;
  const text = new ExpansionText(parsed, scopes);
  const reason = bulkCopy(parsed, text);
  if (reason === 'none') return undefined;
  return reason === undefined ? text.expansion() : { kind: 'refused', refused: refusedFor(parsed, reason) };
}

/** Writes the text that stands for an instruction. */
export class ExpansionText {
  private readonly lines: string[] = [];
  private readonly registers: (readonly [string, number])[] = [];
  private readonly symbols: (readonly [string, string])[] = [];

  constructor(
    { guard }: ParsedInstruction,
    private readonly scopes: FunctionScopes,
  ) {
    if (guard === undefined) return;
    this.registers.push(['%guard', guard.register]);
    this.add(`@${guard.negated ? '' : '!'}%guard bra $done;`);
  }

  add(...lines: readonly string[]): void {
    this.lines.push(...lines);
  }

  /** What stands for a register or a number; the name of a 32-bit register into which another is moved. */
  value(name: string, operand: IrOperand | undefined): string {
    if (operand?.kind === 'integer') return integerText(operand.low, operand.high);
    if (operand?.kind === 'float') return floatText(operand);
    if (operand?.kind === 'register') {
      this.registers.push([name, operand.register]);
      return name;
    }
    if (operand?.kind === 'vector')
      return `{${operand.elements.map((each, index) => this.value(`${name}.${index}`.replace('.', '_'), each)).join(', ')}}`;
    return '_';
  }

  /** Declares a register, of 32 or 64 bits, with an operand's address. @returns whether it is one */
  address(name: string, operand: IrOperand | undefined, bits: 32 | 64): boolean {
    if (operand?.kind !== 'address') return false;
    const { base, offset } = operand;
    this.add(`.reg .b${bits} ${name};`);
    if (base === undefined) this.add(`mov.u${bits} ${name}, ${offset};`);
    else if (typeof base === 'string') {
      const symbol = `${name.slice(1)}_variable`;
      this.symbols.push([symbol, base]);
      this.add(`mov.u${bits} ${name}, ${symbol}${offset === 0 ? '' : `+${offset}`};`);
    } else {
      const held = typeBits(this.scopes.registers[base]?.type ?? 'b32');
      this.registers.push([`${name}_base`, base]);
      if (held === bits) this.add(`add.u${bits} ${name}, ${name}_base, ${offset};`);
      else
        this.add(`cvt.u${bits}.u${held} ${name}, ${name}_base;`, `add.u${bits} ${name}, ${name}, ${offset};`);
    }
    return true;
  }

  expansion(): Expansion {
    const { registers, symbols } = this;
    return { kind: 'text', text: [...this.lines, '$done:'].join('\n'), registers, symbols };
  }
}
