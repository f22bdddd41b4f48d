import type { IrFunction, IrInstruction, ScalarType } from '../../ptx/index.js';
import { typeBits } from '../../ptx/index.js';
import type { VectorForm } from '../instructions/index.js';
import { bodyFunction } from '../instructions/index.js';
import {
  AREA,
  exponentialWords,
  findExactRegisters,
  hasFusedMultiplyAdd,
  type LaneShape,
  Library,
  OperandEmitter,
  specialFunctionWords,
  UNIFORM,
  VARYING,
  vectorEmitter,
  VectorOperands,
} from '../../executor/testing/index.js';
import { FunctionBuilder, ModuleBuilder } from '../../wasm/index.js';

const PAGE = 65536;
const GROUPS = 2;
const WIDTH = 4 * GROUPS;

export interface TwinOptions {
  /** Sources that are the same in all lanes of a chunk: those of its first lane. */
  readonly uniform?: ReadonlySet<string>;
  /** Whether the machine's multiply-add may be used. */
  readonly fuses?: boolean;
  /** Registers of floats are declared as such, and hold any NaN where only arithmetic writes them. */
  readonly typed?: boolean;
  /** Which lanes of a chunk write, one bit a lane; the others' results stay zero. */
  readonly mask?: number;
}

/** The instructions of a form without the last `ret`; undefined when one has no vector emitter. */
export function vectorBody(form: VectorForm): IrInstruction[] | undefined {
  const body = bodyFunction(form).instructions.filter(({ opcode }) => opcode !== 'ret');
  const isWhole = body.every(
    (each) => each.guard === undefined && vectorEmitter(each, hasFusedMultiplyAdd()) !== undefined,
  );
  return isWhole ? body : undefined;
}

/** For tests: runs a form's body as vector code alone, chunk by chunk, over words for its sources, case after case. */
export function runVectorTwin(
  form: VectorForm,
  operands: BigUint64Array,
  cases: number,
  options: TwinOptions = {},
): BigUint64Array {
  const { fuses = hasFusedMultiplyAdd() } = options;
  const fn = options.typed === true ? withFloats(bodyFunction(form), form) : bodyFunction(form);
  const body = fn.instructions.filter(({ opcode }) => opcode !== 'ret');
  const inBytes = cases * form.sources.length * 8;
  const from = PAGE;
  const to = from + inBytes;
  const pages = Math.ceil((to + cases * form.results.length * 8) / PAGE) + 1;
  const module = new ModuleBuilder(pages);
  const run = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const registerOf = (name: string): number => fn.registers.findIndex((register) => register.name === name);
  const shapes: LaneShape[] = fn.registers.map(({ name }) =>
    options.uniform?.has(name) === true ? UNIFORM : VARYING,
  );
  const exact = exactRegisters(fn);
  const none = (): never => {
    throw new Error('nothing is around the instructions of a test');
  };
  const scalar = new OperandEmitter(
    run,
    fn,
    new Library(module, fuses),
    exact,
    { pushSpecial: none, pushSymbol: none },
    (register) => shapes[register]?.kind === 'uniform',
  );
  const v = new VectorOperands(GROUPS, scalar, {
    shapes,
    exact,
    firstLane: -1,
    pushLaneSpecial: none,
    pushSymbol: none,
  });
  const typeOf = (register: number): ScalarType => fn.registers[register]?.type ?? 'b32';
  const again = run.loop();
  form.sources.forEach((_, source) => {
    const register = registerOf(`%s${source}`);
    const uniform = shapes[register]?.kind === 'uniform';
    for (let lane = 0; lane < (uniform ? 1 : WIDTH); lane++) {
      run.get(0).memory('i64Load', (lane * form.sources.length + source) * 8);
      pushFromWord(run, typeOf(register));
      if (uniform) run.set(scalar.localOf(register));
      else v.assignLane({ kind: 'register', register }, typeOf(register), lane);
    }
  });
  if (options.mask !== undefined) v.setMask(maskLocals(run, options.mask));
  for (const instruction of body) vectorEmitter(instruction, fuses)?.(v, instruction);
  v.setMask(undefined);
  form.results.forEach((_, result) => {
    const register = registerOf(`%d${result}`);
    for (let lane = 0; lane < WIDTH; lane++) {
      run.get(1);
      v.useLane({ kind: 'register', register }, asBits(typeOf(register)), lane, true);
      if (typeBits(typeOf(register)) < 64) run.op('i64ExtendI32U');
      run.memory('i64Store', (lane * form.results.length + result) * 8);
    }
  });
  run
    .get(0)
    .i32(WIDTH * form.sources.length * 8)
    .op('i32Add')
    .set(0);
  run
    .get(1)
    .i32(WIDTH * form.results.length * 8)
    .op('i32Add')
    .set(1);
  run.get(2).i32(1).op('i32Sub').tee(2).brIf(again).end();
  module.add(run, 'run');
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  new BigUint64Array(memory.buffer, from, operands.length).set(operands);
  new BigInt64Array(memory.buffer, AREA.exponentials, exponentialWords.length).set(exponentialWords);
  new Int32Array(memory.buffer, AREA.specialFunctions, specialFunctionWords.length).set(specialFunctionWords);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), {
    node: { memory, area: 0 },
  });
  (instance.exports['run'] as (from: number, to: number, chunks: number) => void)(from, to, cases / WIDTH);
  return new BigUint64Array(new BigUint64Array(memory.buffer, to, cases * form.results.length));
}

/** What is read from memory is exact, and so is what moves it. */
function exactRegisters(fn: IrFunction): Uint8Array {
  const exact = findExactRegisters(fn);
  const moves = fn.instructions.some(({ opcode }) => /^(?:mov|selp|slct)$/.test(opcode));
  fn.registers.forEach(({ name }, register) => {
    if (name.startsWith('%s') || moves) exact[register] = 1;
  });
  return exact;
}

function asBits(type: ScalarType): ScalarType {
  return type === 'pred' ? type : (`b${typeBits(type)}` as ScalarType);
}

function pushFromWord(f: FunctionBuilder, type: ScalarType): void {
  const bits = typeBits(type);
  if (type === 'pred') f.op('i64Eqz').op('i32Eqz');
  else if (type === 'f64') f.op('f64ReinterpretI64');
  else if (bits < 64) f.op('i32WrapI64');
  if (bits === 16) f.i32(0xffff).op('i32And');
  if (type === 'f32') f.op('f32ReinterpretI32');
}

function maskLocals(f: FunctionBuilder, mask: number): number[] {
  return Array.from({ length: GROUPS }, (_, group) => {
    const local = f.local('v128');
    const lane = (index: number): number => -((mask >> (4 * group + index)) & 1);
    f.v128(lane(0), lane(1), lane(2), lane(3)).set(local);
    return local;
  });
}

/** The same function with registers of floats for operands that are floats. */
function withFloats(fn: IrFunction, form: VectorForm): IrFunction {
  const floatOf = (name: string): ScalarType | undefined => {
    const types = name.startsWith('%s') ? form.sources : name.startsWith('%d') ? form.results : [];
    const type = types[Number(name.slice(2))];
    return type === 'f32' || type === 'f64' ? type : undefined;
  };
  const registers = fn.registers.map((register) => ({
    ...register,
    type: floatOf(register.name) ?? register.type,
  }));
  return { ...fn, registers };
}
