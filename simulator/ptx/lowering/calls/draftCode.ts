import { connectBlocks, layOutBlocks } from '../../controlFlow.js';
import type { IrFunction, IrInstruction, IrOperand, IrRegister, IrVariable, ScalarType } from '../../ir.js';

/** A call of a body that other calls use too: pseudo instruction between the expansion of calls and their linking. */
export interface SharedCall {
  readonly callee: string;
  /** Storages of the arguments and of the returns, in the callee's order. */
  readonly args: readonly string[];
  readonly returns: readonly string[];
}

/** An instruction without its number, whose label operands name labels of its `DraftCode` and not blocks. */
export interface DraftInstruction extends Omit<IrInstruction, 'index'> {
  readonly sharedCall?: SharedCall;
  /** Copies one parameter storage to another. */
  readonly storageCopy?: { readonly from: string; readonly to: string };
}

export interface InstructionParts {
  readonly guard?: IrInstruction['guard'];
  readonly destinations?: readonly IrOperand[];
  readonly sources?: readonly IrOperand[];
}

const scalarTypes = /^(pred|[bus](8|16|32|64)|b128|f16|f16x2|bf16|bf16x2|tf32|f32|f64)$/;

/** An instruction from its text up to the operands, such as `add.u32`. */
export function draft(line: number, name: string, parts: InstructionParts): DraftInstruction {
  const [opcode = '', ...modifiers] = name.split('.');
  return {
    line,
    opcode,
    modifiers,
    types: modifiers.filter((modifier): modifier is ScalarType => scalarTypes.test(modifier)),
    ...(parts.guard === undefined ? {} : { guard: parts.guard }),
    destinations: parts.destinations ?? [],
    sources: parts.sources ?? [],
  };
}

export function register(number: number): IrOperand {
  return { kind: 'register', register: number };
}

export function address(base: number | string | undefined, offset: number): IrOperand {
  return { kind: 'address', base, offset };
}

/** Registers and labels of a function that is being put together from several bodies. */
export class DraftNames {
  readonly registers: IrRegister[] = [];
  readonly labels: string[] = [];
  private stackTopRegister: number | undefined;

  /** The register that points at the running activation's frame. */
  get stackTop(): number {
    return (this.stackTopRegister ??= this.register('%stackTop', 'b32'));
  }

  register(name: string, type: ScalarType): number {
    return this.registers.push({ name, type }) - 1;
  }

  label(name: string): number {
    return this.labels.push(name) - 1;
  }
}

/** Instructions in order, with labels between them. */
export class DraftCode {
  readonly instructions: DraftInstruction[] = [];
  /** Position of each placed label. */
  readonly places = new Map<number, number>();

  constructor(readonly names: DraftNames) {}

  emit(instruction: DraftInstruction): void {
    this.instructions.push(instruction);
  }

  /** Emits an instruction given by its text up to the operands. */
  add(line: number, name: string, parts: InstructionParts): void {
    this.emit(draft(line, name, parts));
  }

  branch(line: number, label: number, guard?: IrInstruction['guard']): void {
    this.add(line, 'bra', {
      sources: [{ kind: 'label', block: label }],
      ...(guard === undefined ? {} : { guard }),
    });
  }

  place(label: number): void {
    this.places.set(label, this.instructions.length);
  }

  /** This code with each instruction replaced by what `rewrite` emits for it; labels keep their places. */
  rewritten(rewrite: (instruction: DraftInstruction, into: DraftCode, index: number) => void): DraftCode {
    const into = new DraftCode(this.names);
    const starts = this.instructions.map((instruction, index) => {
      const start = into.instructions.length;
      rewrite(instruction, into, index);
      return start;
    });
    for (const [label, place] of this.places) {
      into.places.set(label, starts[place] ?? into.instructions.length);
    }
    return into;
  }

  /** Appends other code with its labels. */
  append(other: DraftCode): void {
    const base = this.instructions.length;
    this.instructions.push(...other.instructions);
    for (const [label, place] of other.places) this.places.set(label, base + place);
  }
}

/** Numbers instructions, cuts blocks and resolves labels. */
export function finishFunction(
  head: IrFunction,
  code: DraftCode,
  variables: readonly IrVariable[],
): IrFunction {
  const targetOf = (label: number): number => {
    const place = code.places.get(label);
    if (place === undefined || place >= code.instructions.length) {
      throw new RangeError(`${head.name}: label ${code.names.labels[label] ?? label} leads nowhere`);
    }
    return place;
  };
  const targets = new Map<number, string>();
  for (const instruction of code.instructions) {
    for (const source of instruction.sources) {
      if (source.kind === 'label') targets.set(targetOf(source.block), code.names.labels[source.block] ?? '');
    }
  }
  const layout = layOutBlocks(
    code.instructions.map((instruction) => instruction.opcode),
    targets.keys(),
  );
  const resolve = (operand: IrOperand): IrOperand =>
    operand.kind === 'label'
      ? { kind: 'label', block: layout.blockOf[targetOf(operand.block)] ?? 0 }
      : operand;
  const instructions = code.instructions.map(
    ({ sharedCall: _call, storageCopy: _copy, ...instruction }, index): IrInstruction => ({
      ...instruction,
      index,
      sources: instruction.sources.map(resolve),
    }),
  );
  return {
    ...head,
    registers: code.names.registers,
    variables,
    callParameters: [],
    instructions,
    blocks: connectBlocks(instructions, layout, targets),
  };
}
