import { isBranch, isa } from '../../ptx/index.js';
import type { IrInstruction } from '../../ptx/index.js';
import type { DeviceTiming } from '../profiles/index.js';
import type { SmResource } from './blockWork.js';
import { matrixCost } from './matrixCosts.js';

/** What one PTX instruction becomes in the machine: issue slots, the pipe that serves it, and its result's latency. */
export interface MachineCost {
  /** Machine instructions that take an issue slot; below 1 where the assembler usually folds it into another. */
  readonly slots: number;
  readonly pipe:
    Extract<SmResource, 'integer' | 'float32' | 'float64' | 'special' | 'tensor' | 'data'> | undefined;
  /** Operations on that pipe. */
  readonly pipeOps: number;
  /** Cycles until a dependent instruction may issue; memory instructions get theirs from where they hit. */
  readonly latencyCycles: number;
}

type Latency = DeviceTiming['latency'];

/**
 * Costs by the family that the instruction's row names. A PTX instruction is not a machine instruction: `mov` and `cvta` disappear, a parameter is
 * an operand in constant memory, a widening multiply and the 64-bit add behind it become one, and an integer division
 * becomes a sequence around a float reciprocal. Counts of sequences are those of the SASS that nvcc 13 emits for sm_90.
 */
export function machineCost(instruction: IrInstruction, latency: Latency, setting: Setting): MachineCost {
  // The copy engine makes the steps of a copy; whoever asks for it issues the word to its mbarrier, or nothing.
  if (instruction.isEngine === true)
    return cost(isa(instruction.opcode).cost === 'mbarrier' ? 1 : 0, undefined, 0, 0);
  const whole = ownCost(instruction, latency, setting);
  // Of a loop that stands several times in a row, only the last copy counts and branches.
  return setting.copies > 1 && isLoopControl(instruction)
    ? { ...whole, slots: whole.slots / setting.copies, pipeOps: whole.pipeOps / setting.copies }
    : whole;
}

/** What the assembler knows of an instruction's place. */
export interface Setting {
  /** How often the loop body that it is part of stands in a row. */
  readonly copies: number;
  /** Registers of each thread that it reads, each once. */
  readonly operands: number;
  /** Taken in by the operations that use its result. */
  readonly isTakenIn: boolean;
  /** The same for all threads of a warp. */
  readonly isUniform: boolean;
  /** A branch within code that the assembler makes one piece of, by guards. */
  readonly isGuarded: boolean;
}

function isLoopControl({ opcode }: IrInstruction): boolean {
  return isBranch(opcode) || opcode === 'setp';
}

function ownCost(instruction: IrInstruction, latency: Latency, setting: Setting): MachineCost {
  if (setting.isTakenIn) return cost(0.1, undefined, 0, latency.alu / 2);
  const type = instruction.types.at(-1) ?? 'b32';
  const wide = type === 'u64' || type === 's64' || type === 'b64';
  const double = type === 'f64';
  const modifiers = instruction.modifiers;
  switch (isa(instruction.opcode).cost) {
    case 'move':
      if (instruction.sources.some((source) => source.kind === 'special')) {
        return cost(setting.isUniform ? 0.6 : 0.9, undefined, 0, latency.specialRegister);
      }
      return cost(0.2, undefined, 0, 0);
    case 'folded':
      return cost(0, undefined, 0, 0);
    case 'load':
      if (modifiers.includes('param')) return cost(0.6, undefined, 0, 0);
      return cost(1, undefined, 0, latency.l1);
    case 'texture':
      // Four units of a sample a cycle, by NVIDIA's figure, served where loads are; neither that nor its latency beyond a load's is measured.
      return cost(1, 'data', 8, latency.l1);
    case 'query':
      return cost(1, undefined, 0, latency.l1);
    case 'access':
      return cost(1, undefined, 0, latency.atomic);
    case 'sum':
      if (isHalf(type)) return cost(1, 'float32', 1.2, latency.alu * 2);
      if (isFloat(type)) return float(double, 1, latency, setting);
      if (setting.isUniform) return cost(0.8, undefined, 0, latency.alu);
      // Either integer or float lanes add.
      return wide ? cost(1.4, 'integer', 0.9, latency.alu) : cost(0.8, 'integer', 0.55, latency.alu);
    case 'product':
      if (instruction.carry !== undefined) return carriedProduct(wide, modifiers, latency);
      if (isHalf(type)) return cost(1, 'float32', 2, latency.alu * 2);
      if (isFloat(type)) return float(double, 1, latency, setting);
      if (setting.isUniform) return cost(0.8, undefined, 0, latency.alu);
      // Integer products are made by half of the float lanes.
      if (modifiers.includes('wide')) return cost(0.6, 'float32', 1.2, latency.alu * 2);
      if (wide && modifiers.includes('hi')) return cost(8, 'float32', 17, latency.alu * 8);
      if (wide) return cost(4, 'float32', 8, latency.alu * 4);
      if (modifiers.includes('hi')) return cost(1, 'float32', 4, latency.alu * 2);
      return cost(1, 'float32', 2, latency.alu);
    case 'carriedProduct':
      return carriedProduct(wide, modifiers, latency);
    case 'fused':
      if (isHalf(type)) return cost(1, 'float32', 2, latency.alu * 2);
      return float(double, 1, latency, setting);
    case 'integer':
      return cost(1, 'integer', 1, latency.alu);
    case 'extreme':
      if (double) return float(true, 2, latency, setting);
      return cost(1, 'integer', 1, latency.alu);
    case 'negation':
      if (double) return float(true, 2, latency, setting);
      return cost(0.3, 'integer', 1, latency.alu);
    case 'quotient':
      if (double) return { slots: 30, pipe: 'float64', pipeOps: 14, latencyCycles: latency.float64 * 14 };
      if (isFloat(type)) {
        return modifiers.includes('approx') || modifiers.includes('full')
          ? cost(3, 'special', 1, latency.special + (modifiers.includes('ftz') ? 2 : 5) * latency.alu)
          : cost(9, 'special', 2.1, latency.special + 9 * latency.alu);
      }
      return integerDivision(wide);
    case 'remainder':
      return integerDivision(wide);
    case 'reciprocal':
      return refined(instruction, latency, 14);
    case 'root':
      return refined(instruction, latency, 9);
    case 'approximation':
      return approximate(modifiers, latency);
    case 'conversion':
      return conversion(instruction, latency);
    case 'count':
      return cost(1, 'special', 1, latency.special);
    case 'selection':
      if (double) return float(true, 1, latency, setting);
      if (setting.isUniform) return cost(1, undefined, 0, latency.alu);
      return wide ? cost(1.6, 'integer', 1.6, latency.alu * 1.5) : cost(1, 'integer', 1, latency.alu);
    case 'logic':
      // Predicate logic mostly merges into the compare before it.
      return type === 'pred'
        ? cost(0.3, 'integer', 0.3, latency.alu)
        : cost(wide ? 1.4 : 0.8, 'integer', wide ? 1.4 : 0.8, latency.alu);
    case 'shift':
      return cost(wide ? 1.8 : 0.8, 'integer', wide ? 1.8 : 0.8, latency.alu);
    case 'classification':
      // Two comparisons, with constants or with where the windows of memory lie.
      return cost(2, 'integer', 2, latency.alu * 2);
    case 'search':
      // Halves of the word are counted and one of them taken, five times.
      return cost(30, 'special', 5, latency.special * 5 + latency.alu * 20);
    case 'video':
      // No unit has been there since Maxwell: parts are cut out, computed with, saturated and put in.
      return cost(3, 'integer', 3, latency.alu * 3);
    case 'packedVideo':
      // Words as a whole, with carries kept apart by masks: operations and depth of `__vadd4` and its kin in CUDA's headers.
      return cost(6, 'integer', 6, latency.alu * 5);
    case 'branch':
      // Short ways round become guards; where threads part, they are gathered again.
      if (setting.isGuarded) return cost(0, undefined, 0, 0);
      return cost(instruction.guard === undefined || setting.isUniform ? 1 : 1.4, undefined, 0, 0);
    case 'switch':
      return cost(2, undefined, 0, 0);
    case 'end':
      return cost(1, undefined, 0, 0);
    case 'call':
      return cost(4, undefined, 0, 0);
    case 'barrier':
      return cost(1, undefined, 0, 0);
    case 'shuffle':
      // Served where loads are.
      return cost(1, 'data', 1, latency.shuffle);
    case 'vote':
      return cost(1, 'integer', 2, latency.alu * 4);
    case 'reduction':
      return cost(1, 'special', 1, latency.alu * 10);
    case 'match':
      return cost(32, 'special', 31, latency.alu * 86);
    case 'matrix':
      return matrixCost(instruction);
    case 'fence':
      return cost(2, undefined, 0, 0);
    case 'mbarrier':
      // The table of an H200 has no figure for it: issued as any access, answered as an atomic of shared memory is.
      return cost(1, undefined, 0, latency.atomic);
    case 'request':
      return cost(1, undefined, 0, 0);
    case 'other':
      return cost(1, 'integer', 1, latency.alu);
  }
}

function cost(slots: number, pipe: MachineCost['pipe'], pipeOps: number, latencyCycles: number): MachineCost {
  return { slots, pipe, pipeOps, latencyCycles };
}

/** A multiply-add of three different registers waits for the third, which the register file hands out a cycle later. */
function float(double: boolean, operations: number, latency: Latency, { operands }: Setting): MachineCost {
  if (double) {
    const each = operands > 2 ? 1.2 : 1;
    return cost(operations, 'float64', operations * each, latency.float64 * operations);
  }
  return cost(
    operations,
    'float32',
    operations * (operands > 2 ? THIRD_OPERAND : 1),
    latency.alu * operations,
  );
}

const THIRD_OPERAND = 1.8;

/** Without `.ftz` a subnormal operand is scaled up before and the result down after. */
function approximate(modifiers: readonly string[], latency: Latency): MachineCost {
  return modifiers.includes('ftz')
    ? cost(1, 'special', 1, latency.special)
    : cost(4, 'special', 1, latency.special + 3 * latency.alu);
}

/** `mad.cc` and `madc`: the product is one operation, and the sum that takes in the carry another. */
function carriedProduct(wide: boolean, modifiers: readonly string[], latency: Latency): MachineCost {
  const isHigh = modifiers.includes('hi');
  if (wide)
    return isHigh ? cost(9.4, 'float32', 17, latency.alu * 9) : cost(5.4, 'float32', 8, latency.alu * 5);
  return cost(1.8, 'float32', isHigh ? 4 : 2, latency.alu * (isHigh ? 3 : 2));
}

/** An approximation and steps that refine it. @param steps cycles of the integer units that they take, of f32 */
function refined({ types, modifiers }: IrInstruction, latency: Latency, steps: number): MachineCost {
  if (types.at(-1) === 'f64')
    return { slots: 24, pipe: 'float64', pipeOps: 12, latencyCycles: latency.float64 * 12 };
  return modifiers.includes('approx')
    ? approximate(modifiers, latency)
    : cost(8, 'special', 1.5, latency.special + steps * latency.alu);
}

function integerDivision(wide: boolean): MachineCost {
  return wide
    ? { slots: 80, pipe: 'integer', pipeOps: 50, latencyCycles: 313 }
    : { slots: 18, pipe: 'integer', pipeOps: 8, latencyCycles: 62 };
}

function conversion(instruction: IrInstruction, latency: Latency): MachineCost {
  const [to, from] = instruction.types;
  const integers = !isFloat(to) && !isFloat(from ?? to);
  if (integers) return cost(0.5, 'integer', 0.5, latency.alu);
  // Since Hopper integers become floats in the integer lanes.
  if (to === 'f32' && from !== undefined && /^[us](8|16|32)$/.test(from))
    return cost(1, 'integer', 1, latency.alu);
  if (/16/.test(to ?? '') || (to === 'f32' && /16/.test(from ?? '')))
    return cost(1, 'integer', 0.6, latency.alu);
  if (to === 'f64' || from === 'f64') return cost(1, 'special', 1, latency.special);
  if (to === 'f32' && from === 'f32') return cost(1, 'float32', 1, latency.alu);
  return cost(1, 'special', 1, latency.special);
}

function isHalf(type: string): boolean {
  return /^b?f16/.test(type);
}

function isFloat(type: string | undefined): boolean {
  return type !== undefined && (type.startsWith('f') || type.startsWith('bf') || type === 'tf32');
}
