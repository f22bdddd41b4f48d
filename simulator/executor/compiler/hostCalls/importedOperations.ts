import { isFloatType, typeBits, type IrInstruction, type ScalarType } from '../../../ptx/index.js';
import {
  fromBfloat,
  fromHalf,
  scalarOperation,
  type ScalarOperation,
  type Value,
} from '../../arithmetic/index.js';
import type { FunctionBuilder, ModuleBuilder, WasmType } from '../../../wasm/index.js';
import type { OperandEmitter } from '../scalar/index.js';
import { wasmTypeOf } from '../instructions/index.js';

export type HostFunction = (...values: Value[]) => Value;

/** Name of the import that empties the journal. */
export const FLUSH_JOURNAL = 'flushJournal';

/** Name of the import that texture units answer behind: given the code of an instruction, 1 where it faults. */
export const FETCH_TEXTURE = 'fetchTexture';

interface Imported {
  readonly operation: ScalarOperation;
  /** Indices of the functions for the result, the second result of a pair and the condition code. */
  readonly apply: number;
  /** Of f64 operations: index of the function of numbers. */
  readonly numbers: number;
  readonly second: number;
  readonly carryOut: number;
}

/** Rare operations call the arithmetic definitions themselves: slow, and the same to the bit by construction. */
export class ImportedOperations {
  readonly functions: Record<string, HostFunction> = {};
  private readonly byForm = new Map<string, Imported>();

  private flush = -1;
  private fetch = -1;

  constructor(private readonly module: ModuleBuilder) {}

  /** Declares the function that empties a full journal; whoever instantiates the module gives it. */
  declareFlush(): void {
    this.flush = this.module.importFunction(FLUSH_JOURNAL, [], []);
  }

  /** Declares the function that asks texture units; whoever instantiates the module gives it. */
  declareFetch(): void {
    if (this.fetch < 0) this.fetch = this.module.importFunction(FETCH_TEXTURE, ['i32'], ['i32']);
  }

  /** Index of that function. */
  get fetchTexture(): number {
    return this.fetch;
  }

  /** Index of the function that empties the journal. */
  get flushJournal(): number {
    return this.flush;
  }

  /** Declares the function for this instruction's form; before the module's first own function. @returns false when there is none. */
  declare(instruction: IrInstruction): boolean {
    const form = formOf(instruction);
    if (this.byForm.has(form)) return true;
    const operation = scalarOperation(instruction);
    if (operation === undefined) return false;
    const params = operation.sources.slice(0, operandCount(instruction)).map(crossing);
    const add = (name: string, apply: ScalarOperation['apply'] | undefined, result: ScalarType): number => {
      if (apply === undefined) return -1;
      this.functions[name] = wrap(operation, apply);
      return this.module.importFunction(name, params, [crossing(result)]);
    };
    this.byForm.set(form, {
      operation,
      apply: add(form, operation.apply, operation.result),
      numbers: this.declareNumbers(form, params.length, operation),
      second: add(`${form} second`, operation.second, 'pred'),
      carryOut: add(`${form} carry`, operation.carryOut, 'pred'),
    });
    return true;
  }

  private declareNumbers(form: string, count: number, { numbers }: ScalarOperation): number {
    if (numbers === undefined) return -1;
    const name = `${form} numbers`;
    this.functions[name] = numbers as HostFunction;
    return this.module.importFunction(
      name,
      Array.from({ length: count }, () => 'f64' as const),
      ['f64'],
    );
  }

  /** Doubles cross as numbers; only for a NaN do their bits. */
  private emitNumbers(emit: OperandEmitter, { sources }: IrInstruction, imported: Imported): void {
    const { f } = emit;
    const result = emit.temporary('result', 'f64');
    for (const source of sources) emit.use(source, 'f64');
    f.call(imported.numbers).tee(result).get(result).op('f64Ne').if();
    for (const source of sources) emit.use(source, 'b64');
    f.call(imported.apply).op('f64ReinterpretI64').set(result).end().get(result);
  }

  /** Calls the function of a declared form with the values on the stack. */
  call(f: FunctionBuilder, instruction: IrInstruction): void {
    const imported = this.byForm.get(formOf(instruction));
    if (imported === undefined) throw new RangeError(`${instruction.opcode} is not declared`);
    f.call(imported.apply);
  }

  emit(emit: OperandEmitter, instruction: IrInstruction): boolean {
    const imported = this.byForm.get(formOf(instruction));
    if (imported === undefined) return false;
    const { operation } = imported;
    const { f } = emit;
    const { carry } = instruction;
    const [destination] = instruction.destinations;
    const call = (index: number): void => {
      instruction.sources.forEach((source, position) => {
        emit.use(source, asBits(operation.sources[position] ?? 'b32'));
      });
      if (carry?.reads === true) f.get(emit.localOf(carry.register));
      f.call(index);
    };
    // What is written may be read again, so all results come before the first is kept.
    const isPair = destination?.kind === 'pair';
    if (imported.numbers >= 0) {
      this.emitNumbers(emit, instruction, imported);
      emit.assign(destination, 'f64');
      return true;
    }
    if (carry?.writes === true) call(imported.carryOut);
    if (isPair) call(imported.second);
    call(imported.apply);
    emit.assignArithmetic(isPair ? destination.first : destination, operation.result);
    if (isPair) emit.assign(destination.second, 'pred');
    if (carry?.writes === true) f.set(emit.localOf(carry.register));
    return true;
  }
}

/** Operands that cross: those of the instruction, and the condition code behind them. */
function operandCount({ sources, carry }: IrInstruction): number {
  return sources.length + (carry?.reads === true ? 1 : 0);
}

function formOf(instruction: IrInstruction): string {
  const { opcode, modifiers, selectors = [], sources } = instruction;
  return [opcode, ...modifiers, sources.length, ...selectors].join('.');
}

/** Halves cross as their bits. */
function asBits(kind: ScalarType): ScalarType {
  return kind === 'f16' || kind === 'bf16' ? 'b16' : kind;
}

function crossing(kind: ScalarType): WasmType {
  return wasmTypeOf(asBits(kind));
}

function wrap(operation: ScalarOperation, apply: ScalarOperation['apply']): HostFunction {
  const readers = operation.sources.map(reader);
  const isPlain = readers.every((each) => each === undefined);
  if (isPlain) return apply;
  return (...values) => apply(...values.map((value, index) => readers[index]?.(value) ?? value));
}

/** What makes a value that crossed from WebAssembly the value of its kind; undefined when it is already. */
function reader(kind: ScalarType): ((value: Value) => Value) | undefined {
  if (kind === 'f16') return (value) => fromHalf(Number(value));
  if (kind === 'bf16') return (value) => fromBfloat(Number(value));
  if (isFloatType(kind) || kind === 'pred') return undefined;
  if (typeBits(kind) === 64) return kind === 's64' ? undefined : (value) => BigInt.asUintN(64, BigInt(value));
  return kind === 'u32' ? (value) => Number(value) >>> 0 : undefined;
}
