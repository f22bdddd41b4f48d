import {
  readRegisters,
  typeBits,
  writtenRegisters,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
} from '../../../ptx/index.js';
import { integerComparison, lastType } from '../instructions/index.js';
import { successorsOf, type FlowNode, type NodeLiveness } from '../analysis/index.js';
import { type RegisterShapes, shapeOfOperand, strideOf, type VectorOperands } from '../vector/index.js';

/** The way to the last lane is less than half of what 32 bits hold. */
const MOST_STRIDE = 2 ** 24;

type Term =
  /** A predicate that all lanes have in common. */
  | { readonly kind: 'same'; readonly register: number; readonly negated: boolean }
  /** A compare of a value that is affine with one that is the same for all. */
  | { readonly kind: 'compare'; readonly instruction: IrInstruction; readonly negated: boolean }
  | { readonly kind: 'join'; readonly name: 'i32And' | 'i32Or'; readonly of: readonly [Term, Term] };

/**
 * The condition of a branch that looks at where lanes stand, as `i < n` does: what the first lane and the last have in
 * common, all have, so that no lane's predicate is computed unless they part.
 */
export interface EdgeCondition {
  readonly term: Term;
  /** What computes the predicate lane by lane, in order. */
  readonly instructions: readonly IrInstruction[];
}

/** @returns nothing for what is not made of such compares, or is needed for more than the branch. */
export function findEdgeCondition(
  fn: IrFunction,
  node: FlowNode,
  { shapes, resultOf }: RegisterShapes,
  liveness: NodeLiveness,
): EdgeCondition | undefined {
  const { terminator } = node;
  if (terminator.kind !== 'branch' || shapes[terminator.register]?.kind !== 'varying') return undefined;
  const body = node.body.flatMap((index) => fn.instructions[index] ?? []);
  const taken = new Set<number>();
  const isKept = (register: number, from: number): boolean =>
    !body.some((each, at) => at >= from && writtenRegisters(each).includes(register));
  const shapeOf = (operand: IrOperand): number | undefined => {
    const shape = shapeOfOperand(operand, (register) => shapes[register]);
    return shape && strideOf(shape);
  };

  const termOf = (register: number, negated: boolean, before: number): Term | undefined => {
    if (shapes[register]?.kind === 'uniform')
      return isKept(register, before) ? { kind: 'same', register, negated } : undefined;
    const at = body.findLastIndex(
      (each, index) => index < before && writtenRegisters(each).includes(register),
    );
    const instruction = body[at];
    if (instruction === undefined || instruction.guard !== undefined) return undefined;
    if (writtenRegisters(instruction).length !== 1 || !isKept(register, at + 1)) return undefined;
    taken.add(at);
    const { opcode, sources } = instruction;
    if (opcode === 'setp') {
      const isWhole = readRegisters(instruction).every((each) => isKept(each, at));
      return isWhole && isEdge(instruction, sources.map(shapeOf))
        ? { kind: 'compare', instruction, negated }
        : undefined;
    }
    if (lastType(instruction) !== 'pred') return undefined;
    const inner = (source: IrOperand | undefined): Term | undefined => {
      if (source?.kind === 'register') return termOf(source.register, negated, at);
      return source?.kind === 'negatedPredicate' ? termOf(source.register, !negated, at) : undefined;
    };
    if (opcode !== 'and' && opcode !== 'or') return undefined;
    const [left, right] = [inner(sources[0]), inner(sources[1])];
    if (left === undefined || right === undefined) return undefined;
    // Where it is negated, so are both sides.
    const name = (opcode === 'and') === negated ? 'i32Or' : 'i32And';
    return { kind: 'join', name, of: [left, right] };
  };

  const term = termOf(terminator.register, false, body.length);
  if (term === undefined) return undefined;
  const first = Math.min(...taken);
  const written = new Set([...taken].flatMap((at) => body[at] ?? []).flatMap(writtenRegisters));
  const isNeeded = body.some((each, at) => {
    if (at < first || taken.has(at)) return false;
    return (
      resultOf(each).checked !== undefined || readRegisters(each).some((register) => written.has(register))
    );
  });
  const isLive = successorsOf(node).some((next) =>
    [...written].some((register) => liveness.liveIn[next]?.has(register) === true),
  );
  if (isNeeded || isLive) return undefined;
  return { term, instructions: [...taken].sort((a, b) => a - b).flatMap((at) => body[at] ?? []) };
}

function isEdge(instruction: IrInstruction, strides: readonly (number | undefined)[]): boolean {
  const type = lastType(instruction);
  if (strides.length !== 2 || !/^[bus](?:32|64)$/.test(type)) return false;
  const [a, b] = strides;
  if (a === undefined || b === undefined || (a === 0) === (b === 0)) return false;
  const most = integerComparison(instruction, type).sign === undefined ? 1 : MOST_STRIDE;
  return Math.abs(a + b) <= most;
}

/** Leaves what the condition is, and in `differs` whether lanes differ in any of its compares. */
export function pushEdgeCondition(v: VectorOperands, term: Term, differs: number): void {
  const { f } = v;
  f.i32(0).set(differs);
  push(term);

  function push(each: Term): void {
    if (each.kind === 'join') {
      push(each.of[0]);
      push(each.of[1]);
      f.op(each.name);
      return;
    }
    if (each.kind === 'same') f.get(v.scalar.localOf(each.register));
    else pushCompare(v, each.instruction, differs);
    if (each.negated) f.op('i32Eqz');
  }
}

function pushCompare(v: VectorOperands, instruction: IrInstruction, differs: number): void {
  const { f, scalar } = v;
  const type = lastType(instruction);
  const isWide = typeBits(type) === 64;
  const of = isWide ? 'i64' : 'i32';
  const [left, right] = instruction.sources;
  const strides = [left, right].map((source) => strideOf(v.shapeOf(source)) ?? 0);
  const [moving, still] = strides[0] === 0 ? [right, left] : [left, right];
  const stride = (strides[0] ?? 0) + (strides[1] ?? 0);
  const { test, sign } = integerComparison(instruction, type);
  const add = (): void => {
    f.get(differs).op('i32Or').set(differs);
  };
  const constant = (value: number): void => {
    if (isWide) f.i64(value);
    else f.i32(value);
  };
  if (sign === undefined) {
    // Some lane's value is the other when it is so many steps away.
    scalar.use(stride > 0 ? still : moving, type);
    scalar.use(stride > 0 ? moving : still, type);
    f.op(`${of}Sub`);
    constant(v.width);
    f.op(`${of}LtU`);
    add();
    f.i32(test === 'Ne' ? 1 : 0);
    return;
  }
  const result = v.temporary('first lane', 'i32');
  const last = v.temporary('last lane', of);
  scalar.use(left, type);
  scalar.use(right, type);
  f.op(`${of}${test}${sign}`).set(result);
  scalar.use(moving, type);
  constant(stride * (v.width - 1));
  f.op(`${of}Add`).set(last);
  for (const source of [left, right]) {
    if (source === moving) f.get(last);
    else scalar.use(source, type);
  }
  f.op(`${of}${test}${sign}`).get(result).op('i32Ne');
  add();
  // Values that wrap on the way are in no order.
  f.get(last);
  scalar.use(moving, type);
  f.op(`${of}${stride > 0 ? 'Lt' : 'Gt'}${sign}`);
  add();
  f.get(result);
}
