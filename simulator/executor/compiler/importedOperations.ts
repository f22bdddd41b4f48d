import { isFloatType, typeBits, type IrInstruction, type ScalarType } from '../../ptx/index.js';
import {
  fromBfloat,
  fromHalf,
  scalarOperation,
  type ScalarOperation,
  type Value,
} from '../arithmetic/index.js';
import type { ModuleBuilder, WasmType } from '../wasm/index.js';
import type { OperandEmitter } from './operandEmitter.js';
import { wasmTypeOf } from './registerTypes.js';

export type HostFunction = (...values: Value[]) => Value;

/** Name of the import that empties the journal. */
export const FLUSH_JOURNAL = 'flushJournal';

interface Imported {
  readonly index: number;
  readonly operation: ScalarOperation;
}

/** Rare operations call the arithmetic definitions themselves: slow, and the same to the bit by construction. */
export class ImportedOperations {
  readonly functions: Record<string, HostFunction> = {};
  private readonly byForm = new Map<string, Imported>();

  private flush = -1;

  constructor(private readonly module: ModuleBuilder) {}

  /** Declares the function that empties a full journal; whoever instantiates the module gives it. */
  declareFlush(): void {
    this.flush = this.module.importFunction(FLUSH_JOURNAL, [], []);
  }

  /** Index of that function. */
  get flushJournal(): number {
    return this.flush;
  }

  /** Declares the function for this instruction's form; before the module's first own function. @returns false when there is none. */
  declare(instruction: IrInstruction): boolean {
    const form = formOf(instruction);
    if (this.byForm.has(form)) return true;
    const operation = scalarOperation(instruction);
    if (operation === undefined) return false;
    const count = instruction.sources.length;
    const params = operation.sources.slice(0, count).map(crossing);
    const index = this.module.importFunction(form, params, [crossing(operation.result)]);
    this.functions[form] = wrap(operation);
    this.byForm.set(form, { index, operation });
    return true;
  }

  emit(emit: OperandEmitter, instruction: IrInstruction): boolean {
    const imported = this.byForm.get(formOf(instruction));
    if (imported === undefined) return false;
    const { operation, index } = imported;
    instruction.sources.forEach((source, position) => {
      emit.use(source, asBits(operation.sources[position] ?? 'b32'));
    });
    emit.f.call(index);
    emit.assignArithmetic(instruction.destinations[0], operation.result);
    return true;
  }
}

function formOf(instruction: IrInstruction): string {
  return [instruction.opcode, ...instruction.modifiers, instruction.sources.length].join('.');
}

/** Halves cross as their bits. */
function asBits(kind: ScalarType): ScalarType {
  return kind === 'f16' || kind === 'bf16' ? 'b16' : kind;
}

function crossing(kind: ScalarType): WasmType {
  return wasmTypeOf(asBits(kind));
}

function wrap(operation: ScalarOperation): HostFunction {
  const readers = operation.sources.map(reader);
  const isPlain = readers.every((each) => each === undefined);
  if (isPlain) return operation.apply;
  return (...values) => operation.apply(...values.map((value, index) => readers[index]?.(value) ?? value));
}

/** What makes a value that crossed from WebAssembly the value of its kind; undefined when it is already. */
function reader(kind: ScalarType): ((value: Value) => Value) | undefined {
  if (kind === 'f16') return (value) => fromHalf(Number(value));
  if (kind === 'bf16') return (value) => fromBfloat(Number(value));
  if (isFloatType(kind) || kind === 'pred') return undefined;
  if (typeBits(kind) === 64) return kind === 's64' ? undefined : (value) => BigInt.asUintN(64, BigInt(value));
  return kind === 'u32' ? (value) => Number(value) >>> 0 : undefined;
}
