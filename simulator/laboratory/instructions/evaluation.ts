import type { IrFunction, IrInstruction, IrOperand } from '../../ptx/index.js';
import { parseModule, typeBits } from '../../ptx/index.js';
import {
  bitsOfValue,
  scalarOperation,
  type ScalarOperation,
  valueOfBits,
} from '../../executor/testing/index.js';
import { vectorRegisterBits, type VectorForm } from './forms/index.js';
import { OperandSource } from './operandSource.js';
import { bodyModule } from './probe.js';

const operandSets = new Map<string, BigUint64Array>();

/** Operands of all cases of a form, case after case; forms with the same source types share them. */
export function operandsOf(form: VectorForm): BigUint64Array {
  const key = form.sources.join(' ');
  let found = operandSets.get(key);
  if (found === undefined) {
    found = BigUint64Array.from(new OperandSource(form.sources).all().flat());
    operandSets.set(key, found);
  }
  return found;
}

interface Step {
  readonly instruction: IrInstruction;
  readonly operation: ScalarOperation;
}

/** The function of a form's body alone, parsed. */
export function bodyFunction(form: VectorForm): IrFunction {
  const fn = parseModule(bodyModule(form), form.name).functions[0];
  if (fn === undefined) throw new Error(`${form.name} has no function`);
  if (fn.refusal !== undefined) throw new Error(`${form.name}: ${fn.refusal.reason}`);
  return fn;
}

/** Results of a form's cases by the arithmetic definitions, one word a result. @param count of cases, the first ones. */
export function evaluate(form: VectorForm, count = Infinity): BigUint64Array {
  const fn = bodyFunction(form);
  const steps = fn.instructions.flatMap((instruction): Step[] => {
    if (instruction.opcode === 'ret') return [];
    const operation = scalarOperation(instruction);
    if (operation === undefined) throw new Error(`${form.name}: ${instruction.opcode} has no meaning`);
    return [{ instruction, operation }];
  });
  const operands = operandsOf(form);
  const registerOf = (name: string): number => fn.registers.findIndex((register) => register.name === name);
  const sources = form.sources.map((type, index) => ({
    register: registerOf(`%s${index}`),
    bits: vectorRegisterBits(type),
  }));
  const destinations = form.results.map((_, index) => registerOf(`%d${index}`));
  const cases = Math.min(operands.length / sources.length, count);
  const results = new BigUint64Array(cases * destinations.length);
  const registers: bigint[] = fn.registers.map(() => 0n);
  for (let index = 0; index < cases; index++) {
    sources.forEach(({ register, bits }, position) => {
      const word = operands[index * sources.length + position] ?? 0n;
      registers[register] = bits === 1 ? (word === 0n ? 0n : 1n) : BigInt.asUintN(bits, word);
    });
    for (const step of steps) run(step, fn, registers);
    destinations.forEach((register, position) => {
      results[index * destinations.length + position] = registers[register] ?? 0n;
    });
  }
  return results;
}

function run({ instruction, operation }: Step, fn: IrFunction, registers: bigint[]): void {
  const values = instruction.sources.map((source, index) =>
    valueOfBits(operandBits(source, registers), operation.sources[index] ?? 'b32'),
  );
  const carry = instruction.carry;
  if (carry?.reads === true) values.push(Number(registers[carry.register] ?? 0n));
  const result = operation.apply(...values);
  const second = operation.second?.(...values);
  const carryOut = operation.carryOut?.(...values);
  const write = (
    operand: IrOperand | undefined,
    kind: ScalarOperation['result'],
    value: number | bigint,
  ): void => {
    if (operand?.kind !== 'register') return;
    registers[operand.register] = bitsOfValue(
      value,
      kind,
      typeBits(fn.registers[operand.register]?.type ?? 'b32'),
    );
  };
  const destination = instruction.destinations[0];
  if (destination?.kind === 'pair') {
    write(destination.first, operation.result, result);
    write(destination.second, 'pred', second ?? 0);
  } else write(destination, operation.result, result);
  if (carry?.writes === true) registers[carry.register] = BigInt(carryOut ?? 0);
}

function operandBits(operand: IrOperand, registers: readonly bigint[]): bigint {
  if (operand.kind === 'register') return registers[operand.register] ?? 0n;
  if (operand.kind === 'negatedPredicate') return (registers[operand.register] ?? 0n) === 0n ? 1n : 0n;
  if (operand.kind === 'integer' || operand.kind === 'float')
    return (BigInt(operand.high >>> 0) << 32n) | BigInt(operand.low >>> 0);
  throw new Error(`a ${operand.kind} in a probed instruction`);
}
