import type { IrFunction, IrInstruction, IrModule, IrOperand, ScalarType } from '../../../ptx/index.js';
import { isSignedType, typeBits } from '../../../ptx/index.js';
import { Arithmetic } from '../expressions/arithmetic.js';
import { Conditions } from '../expressions/conditions.js';
import type { Expression, IntegerBits, UnknownSource } from '../expressions/expression.js';
import { wrapNumber } from '../expressions/expression.js';
import { ExpressionTable } from '../expressions/expressionTable.js';
import type { FoundLoop } from '../execution/findings.js';
import type { Range } from '../expressions/staticRange.js';
import { specialValue } from './specialRegisters.js';

/** What the symbolic meaning of instructions is told of the kernel, and the builders that it uses. */
export class KernelContext {
  readonly table = new ExpressionTable();
  readonly arithmetic = new Arithmetic(this.table);
  readonly conditions = new Conditions(this.arithmetic);
  /** Loops whose counters occur in expressions, by the counters' loop numbers. */
  readonly loops: FoundLoop[] = [];
  private readonly spaces = new Map<string, 'global' | 'const' | 'shared' | 'local' | 'param'>();
  private readonly parameterOffsets = new Map<string, number>();

  constructor(
    readonly ir: IrModule,
    readonly kernel: IrFunction,
  ) {
    for (const variable of [...ir.variables, ...kernel.variables]) {
      this.spaces.set(variable.name, variable.space);
    }
    for (const { name, offset } of kernel.parameters) {
      this.spaces.set(name, 'param');
      this.parameterOffsets.set(name, offset);
    }
  }

  /** The space of a variable or a parameter; undefined for other names. */
  spaceOf(name: string): 'global' | 'const' | 'shared' | 'local' | 'param' | undefined {
    return this.spaces.get(name);
  }

  /** The address that a name has in its space. */
  addressOf(name: string): Expression {
    const space = this.spaces.get(name);
    if (space === 'global' || space === 'const') return this.table.symbol(name);
    if (space === 'param') {
      return this.arithmetic.addConstant(this.table.place('param', ''), this.parameterOffsets.get(name) ?? 0);
    }
    if (space === undefined) return this.opaque(64, { cause: 'NA', line: 0, text: `the address of ${name}` });
    return this.table.place(space, name);
  }

  /** A value that the analysis does not follow, of which it knows the width and perhaps the bounds. */
  opaque(bits: number, source: UnknownSource, tainted = false, range?: Range): Expression {
    const whole: Range = bits < 64 ? [-(2 ** (bits - 1)), 2 ** bits - 1] : [-Infinity, Infinity];
    return this.table.unknown(range ?? whole, { tainted, source });
  }

  /** What a register holds that nothing has written. */
  unwritten(register: number, line: number): Expression {
    const source: UnknownSource = { cause: 'NA', line, text: 'a register that nothing has written' };
    const type = this.kernel.registers[register]?.type ?? 'b64';
    return this.opaque(typeBits(type), source, true, type === 'pred' ? [0, 1] : undefined);
  }
}

/** Registers as expressions, at one place of the kernel. */
export interface RegisterValues {
  get(register: number): Expression | undefined;
}

/** One instruction's operands, read symbolically. */
export class Operands {
  readonly type: ScalarType;
  readonly bits: IntegerBits;
  readonly signed: boolean;

  constructor(
    readonly context: KernelContext,
    readonly instruction: IrInstruction,
    private readonly values: RegisterValues,
  ) {
    this.type = instruction.types.at(-1) ?? 'b32';
    this.bits = integerBits(this.type);
    this.signed = isSignedType(this.type);
  }

  get arithmetic(): Arithmetic {
    return this.context.arithmetic;
  }

  get conditions(): Conditions {
    return this.context.conditions;
  }

  /** A source as a number modulo 2^bits of its register, or as a truth value. */
  raw(index: number): Expression {
    const operand = this.instruction.sources[index];
    return operand === undefined ? this.unknown() : this.read(operand);
  }

  /** The third source, of so many bits. */
  addend(bits: IntegerBits): Expression {
    const operand = this.instruction.sources[2];
    if (operand?.kind !== 'integer' || bits === this.bits) return this.raw(2);
    const value = wrapNumber64(operand.low, operand.high);
    return value === undefined ? this.unknown() : this.arithmetic.constant(value);
  }

  /** A source as the integer that this type says; by default the instruction's. */
  integer(index: number, bits: IntegerBits = this.bits, signed = this.signed): Expression {
    return this.arithmetic.wrap(this.raw(index), bits, signed);
  }

  read(operand: IrOperand): Expression {
    const { context, arithmetic } = this;
    switch (operand.kind) {
      case 'register':
        return this.register(operand.register);
      case 'negatedPredicate':
        return this.conditions.not(this.register(operand.register));
      case 'integer': {
        const value = wrapNumber64(operand.low, operand.high);
        return value === undefined
          ? context.opaque(64, this.source(), false)
          : arithmetic.constant(this.type === 'pred' ? value : (wrapNumber(value, this.bits, true) ?? value));
      }
      case 'special':
        return specialValue(context, operand.name, this.instruction.line);
      case 'symbol':
        return arithmetic.addConstant(context.addressOf(operand.name), operand.offset);
      case 'address': {
        const base =
          operand.base === undefined
            ? arithmetic.constant(0)
            : typeof operand.base === 'number'
              ? this.register(operand.base)
              : context.addressOf(operand.base);
        return arithmetic.addConstant(base, operand.offset);
      }
      case 'float':
      case 'vector':
      case 'pair':
      case 'sink':
      case 'label':
        return this.unknown();
    }
  }

  private register(register: number): Expression {
    const value = this.values.get(register);
    if (value !== undefined) return value;
    return this.context.unwritten(register, this.instruction.line);
  }

  /** Whether any source may differ between two runs of one launch. */
  get tainted(): boolean {
    const { sources, carry } = this.instruction;
    if (carry?.reads === true && this.register(carry.register).tainted) return true;
    return sources.some((source) => this.isTainted(source));
  }

  private isTainted(operand: IrOperand): boolean {
    if (operand.kind === 'vector') return operand.elements.some((element) => this.isTainted(element));
    if (operand.kind === 'label' || operand.kind === 'sink' || operand.kind === 'float') return false;
    return this.read(operand).tainted;
  }

  /** Where a result that is not followed comes from. */
  source(text?: string): UnknownSource {
    const { opcode, modifiers, line } = this.instruction;
    for (const source of this.instruction.sources) {
      if (source.kind !== 'register') continue;
      const inner = this.values.get(source.register)?.source;
      if (inner !== undefined) return inner;
    }
    return { cause: 'NA', line, text: text ?? `the result of ${[opcode, ...modifiers].join('.')}` };
  }

  /** A result that is not followed. */
  unknown(range?: Range): Expression {
    return this.context.opaque(this.bits, this.source(), this.tainted, range);
  }

  unknownTruth(): Expression {
    return this.context.opaque(1, this.source(), this.tainted, [0, 1]);
  }
}

export function integerBits(type: ScalarType): IntegerBits {
  const bits = typeBits(type);
  return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

function wrapNumber64(low: number, high: number): number | undefined {
  const value = high * 2 ** 32 + (low >>> 0);
  return Number.isSafeInteger(value) ? value : undefined;
}
