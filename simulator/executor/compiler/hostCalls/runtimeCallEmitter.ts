import type { IrInstruction, IrOperand, ScalarType } from '../../../ptx/index.js';
import type { FunctionBuilder, ModuleBuilder, WasmType } from '../../../wasm/index.js';
import { RECORD } from '../area/index.js';
import { EXCHANGE } from '../analysis/index.js';

interface RuntimeSignature {
  readonly sources: readonly ScalarType[];
  readonly result: 'i32' | 'i64' | undefined;
}

/** Instructions that stand for calls of CUDA's device runtime. The host's functions take the thread's number first. */
const signatures: Readonly<Record<string, RuntimeSignature>> = {
  vprintf: { sources: ['b64', 'b64'], result: 'i32' },
  assertfail: { sources: ['b64', 'b64', 'b32', 'b64'], result: undefined },
  malloc: { sources: ['b64'], result: 'i64' },
  free: { sources: ['b64'], result: undefined },
};

/** The host's functions that a module imports for such instructions; whoever instantiates it gives them. */
export class RuntimeImports {
  private readonly indices = new Map<string, number>();

  constructor(private readonly module: ModuleBuilder) {}

  /** Declares what an instruction needs, before the module's first own function. */
  declare({ opcode }: IrInstruction): void {
    const signature = Object.hasOwn(signatures, opcode) ? signatures[opcode] : undefined;
    if (signature === undefined || this.indices.has(opcode)) return;
    const params = signature.sources.map((type): WasmType => (type === 'b64' ? 'i64' : 'i32'));
    const results = signature.result === undefined ? [] : [signature.result];
    this.indices.set(opcode, this.module.importFunction(opcode, ['i32', ...params], results));
  }

  /** Whether no instruction calls the host. */
  get isEmpty(): boolean {
    return this.indices.size === 0;
  }

  indexOf(opcode: string): number | undefined {
    return this.indices.get(opcode);
  }
}

/** What the surrounding function gives a call for one lane. */
export interface RuntimeCallSurroundings {
  /** Pushes an operand's value as the lane's context holds it. */
  read(operand: IrOperand | undefined, type: ScalarType, context: number): void;
  /** Pushes the address at which the lane's results of 8 bytes begin. */
  pushWide(context: number): void;
  /** Pushes the number of a lane's thread in its block. */
  pushThread(lane: number): void;
  /** Leaves with the fault that is in the launch record. */
  leaveFaulted(lane: number): void;
}

/**
 * Calls the host for a lane; its result goes to the exchange area of the lane's context.
 * @param context local with the address at which the lane's slots of 4 bytes begin.
 */
export function emitRuntimeCall(
  f: FunctionBuilder,
  instruction: IrInstruction,
  imports: RuntimeImports,
  lane: number,
  context: number,
  around: RuntimeCallSurroundings,
): void {
  const signature = signatures[instruction.opcode];
  const index = imports.indexOf(instruction.opcode);
  if (signature === undefined || index === undefined) {
    throw new RangeError(`line ${instruction.line}: ${instruction.opcode} has no function of the host`);
  }
  if (signature.result === 'i64') around.pushWide(context);
  else if (signature.result !== undefined) f.get(context);
  around.pushThread(lane);
  signature.sources.forEach((type, position) => {
    around.read(instruction.sources[position], type, context);
  });
  f.call(index);
  if (signature.result !== undefined) {
    if (signature.result === 'i64') f.memory('i64Store', EXCHANGE.wide);
    else f.memory('i32Store', EXCHANGE.value);
  }
  f.area().memory('i32Load', RECORD.faultCode).if();
  around.leaveFaulted(lane);
  f.end();
}
