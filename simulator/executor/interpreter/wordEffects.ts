import type { IrFunction, IrInstruction, IrOperand } from '../../ptx/index.js';
import { typeBits } from '../../ptx/index.js';
import { lanesPerWarp } from './registerFile.js';
import type { WarpEffect } from './warpEffects.js';

/** Operations on words; those of the second list compare, signed and unsigned. */
const OPERATIONS = ['mov', 'add', 'sub', 'mul', 'mad', 'and', 'or', 'xor', 'selp'] as const;
const COMPARISONS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;
const FIRST_SIGNED = OPERATIONS.length;
const FIRST_UNSIGNED = FIRST_SIGNED + COMPARISONS.length;

/** An operand's words: a register's, or the same one for every lane. */
interface WordOperand {
  readonly constant: Int32Array | undefined;
  readonly base: number;
}

const NONE: WordOperand = { constant: new Int32Array(2 * lanesPerWarp), base: 0 };

/**
 * What kernels count and compare with: operations on 32-bit integers and predicates, on the words of registers where they
 * lie. Undefined for others.
 */
export function wordEffect(instruction: IrInstruction, fn: IrFunction): WarpEffect | undefined {
  const { destinations, sources, types } = instruction;
  const [destination] = destinations;
  const operation = operationOf(instruction);
  const type = types.at(-1) ?? 'b32';
  const isPredicate = type === 'pred';
  if (operation < 0 || destination?.kind !== 'register' || destinations.length > 1) return undefined;
  if (!isPredicate && !/^[bsu]32$/.test(type)) return undefined;
  const typeOf = (register: number): string => fn.registers[register]?.type ?? 'b32';
  const result = isPredicate || operation >= FIRST_SIGNED ? 'pred' : 'word';
  if (!(result === 'pred' ? typeOf(destination.register) === 'pred' : isWord(typeOf(destination.register))))
    return undefined;
  const operands = sources.map((source, index) => {
    const isFlag = isPredicate || (operation === OPERATIONS.indexOf('selp') && index === 2);
    return isFlag
      ? operandOf(source, (register) => typeOf(register) === 'pred', Number(isSet(source)))
      : operandOf(source, (register) => isWord(typeOf(register)));
  });
  const [a, b = NONE, c = NONE] = operands;
  if (a === undefined || operands.length > 3 || operands.includes(undefined)) return undefined;
  return looped(operation, 2 * lanesPerWarp * destination.register, a, b, c);
}

/** Number of the operation, or -1. */
function operationOf({ opcode, modifiers, types }: IrInstruction): number {
  const options = modifiers.filter((modifier) => !types.some((type) => type === modifier));
  const [option] = options;
  if (opcode === 'setp') {
    const comparison = COMPARISONS.findIndex((name) => name === option);
    if (options.length !== 1 || comparison < 0 || types.at(-1) === 'pred') return -1;
    return comparison + (types.at(-1) === 's32' ? FIRST_SIGNED : FIRST_UNSIGNED);
  }
  const takesLow = opcode === 'mul' || opcode === 'mad';
  if (takesLow ? options.length !== 1 || option !== 'lo' : options.length !== 0) return -1;
  return OPERATIONS.findIndex((name) => name === opcode);
}

function isWord(type: string): boolean {
  return type !== 'pred' && typeBits(type as 'b32') === 32;
}

/** Whether a predicate that is given as a number holds: kernels have -1 for it. */
function isSet(source: IrOperand): boolean {
  return source.kind === 'integer' && source.low !== 0;
}

/** @param word of a number, unless it is what the number says */
function operandOf(
  source: IrOperand,
  fits: (register: number) => boolean,
  word?: number,
): WordOperand | undefined {
  if (source.kind === 'register' && fits(source.register))
    return { constant: undefined, base: 2 * lanesPerWarp * source.register };
  if (source.kind !== 'integer') return undefined;
  return { constant: new Int32Array(2 * lanesPerWarp).fill(word ?? source.low), base: 0 };
}

function looped(operation: number, to: number, a: WordOperand, b: WordOperand, c: WordOperand): WarpEffect {
  return ({ registers: { words } }, lanes) => {
    const first = a.constant ?? words;
    const second = b.constant ?? words;
    const third = c.constant ?? words;
    if (lanes === -1) {
      for (let at = 0; at < 2 * lanesPerWarp; at += 2)
        words[to + at] = computed(operation, first[a.base + at], second[b.base + at], third[c.base + at]);
      return;
    }
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const at = 2 * (31 - Math.clz32(rest & -rest));
      words[to + at] = computed(operation, first[a.base + at], second[b.base + at], third[c.base + at]);
    }
  };
}

function computed(operation: number, x: number, y: number, z: number): number {
  switch (operation) {
    case 0:
      return x;
    case 1:
      return (x + y) | 0;
    case 2:
      return (x - y) | 0;
    case 3:
      return Math.imul(x, y);
    case 4:
      return (Math.imul(x, y) + z) | 0;
    case 5:
      return x & y;
    case 6:
      return x | y;
    case 7:
      return x ^ y;
    case 8:
      return z === 1 ? x : y;
    case FIRST_UNSIGNED:
    case FIRST_SIGNED:
      return x === y ? 1 : 0;
    case FIRST_UNSIGNED + 1:
    case FIRST_SIGNED + 1:
      return x !== y ? 1 : 0;
    case FIRST_SIGNED + 2:
      return x < y ? 1 : 0;
    case FIRST_SIGNED + 3:
      return x <= y ? 1 : 0;
    case FIRST_SIGNED + 4:
      return x > y ? 1 : 0;
    case FIRST_SIGNED + 5:
      return x >= y ? 1 : 0;
    case FIRST_UNSIGNED + 2:
      return x >>> 0 < y >>> 0 ? 1 : 0;
    case FIRST_UNSIGNED + 3:
      return x >>> 0 <= y >>> 0 ? 1 : 0;
    case FIRST_UNSIGNED + 4:
      return x >>> 0 > y >>> 0 ? 1 : 0;
    default:
      return x >>> 0 >= y >>> 0 ? 1 : 0;
  }
}
