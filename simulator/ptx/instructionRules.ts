import { isa } from './isa/index.js';
import { checkMatrix } from './matrixRules.js';
import type { IrFunction, IrInstruction, IrOperand, IrParameter, IrPrototype } from './ir.js';
import { typeBits } from './scalarTypes.js';

/** What the check of an instruction knows of its module. */
export interface CheckContext {
  /** Largest `.target`, as a number: 90 for sm_90. */
  readonly architecture: number;
  /** What a function takes and returns; undefined when no function has this name. */
  prototypeOf(name: string): IrPrototype | undefined;
}

/** What the check of an instruction knows of its function. */
export interface FunctionContext extends CheckContext {
  /** Bytes of a `.param` variable of the function's calls; undefined when there is none of this name. */
  callParameterBytes(name: string): number | undefined;
}

/** What an instruction of this opcode must keep beyond its form; undefined when it does. */
export function checkByOpcode(
  instruction: IrInstruction,
  fn: IrFunction,
  context: FunctionContext,
): string | undefined {
  switch (isa(instruction.opcode).syntax.rule) {
    case 'barrier':
      return checkBarrier(instruction);
    case 'synchronous':
      return checkSynchronous(instruction, context);
    case 'call':
      return checkCall(instruction, fn, context);
    case 'switch':
      return checkIndexedBranch(instruction, fn);
    case 'copy':
      return checkCopy(instruction);
    case 'lookUp':
      return checkLookUp(instruction);
    case 'pair':
      return isPair(instruction) ? undefined : 'a pair d|p is expected';
    case 'pairOfAll':
      return instruction.modifiers.includes('any') && isPair(instruction)
        ? 'a pair d|p is not expected here'
        : undefined;
    case 'video':
      return checkVideo(instruction);
    case 'fetch':
      return checkFetch(instruction);
    case 'move':
      return vectorsOf(instruction).length > 1
        ? 'a vector moved to a vector: write mov.v2 or mov.v4'
        : undefined;
    case 'vector':
      return checkVector(instruction, 1);
    case 'vectors':
      return checkVector(instruction, 2);
    case 'matrix':
      return checkMatrix(instruction);
  }
}

function writtenInteger(operand: IrOperand & { kind: 'integer' }): bigint {
  return BigInt.asIntN(64, (BigInt(operand.high) << 32n) | BigInt(operand.low >>> 0));
}

/** A block has the barriers 0 to 15 and counts whole warps; of `bar.warp.sync` the operand is a mask. */
function checkBarrier({ modifiers, sources }: IrInstruction): string | undefined {
  if (modifiers.includes('warp') || modifiers.includes('cluster')) return undefined;
  const [barrier, threads] = sources;
  if (barrier?.kind === 'integer') {
    const written = writtenInteger(barrier);
    if (written < 0n || written > 15n) return `barrier ${written}: a block has the barriers 0 to 15`;
  }
  const count = modifiers.includes('red') && sources.length === 2 ? undefined : threads;
  if (count?.kind === 'integer') {
    const written = writtenInteger(count);
    if (written <= 0n || written % 32n !== 0n || written > 1024n)
      return `${written} threads: a barrier counts whole warps, 32 to 1024 in steps of 32`;
  }
  return undefined;
}

function checkSynchronous(
  { opcode, modifiers }: IrInstruction,
  context: FunctionContext,
): string | undefined {
  if (modifiers.includes('sync') || context.architecture < 70) return undefined;
  return `lanes of sm_70 and later must be named: write ${opcode}.sync with a mask of its members`;
}

function vectorsOf({ destinations, sources }: IrInstruction): Extract<IrOperand, { kind: 'vector' }>[] {
  return [...destinations, ...sources].filter((operand) => operand.kind === 'vector');
}

/** @param expected how many operands are vectors where modifiers say that there are any */
function checkVector(instruction: IrInstruction, expected: number): string | undefined {
  const { modifiers, types } = instruction;
  const all = [...instruction.destinations, ...instruction.sources];
  const vectors = vectorsOf(instruction);
  const type = types.at(-1);
  if (type === 'b128') return undefined;
  const width = Number(modifiers.find((each) => /^v[248]$/.test(each))?.slice(1) ?? 0);
  if (
    vectors.some((vector) => vector.elements.length !== width) ||
    (width > 0 && vectors.length < expected && !all.some((operand) => operand.kind === 'sink'))
  ) {
    return width > 0 ? `a vector of ${width} is expected` : 'a vector is not expected here';
  }
  if (width > 0 && type !== undefined && typeBits(type) * width > 128)
    return 'a vector of more than 128 bits, which cards of sm_100 and later have and none here: use two of 128';
  return undefined;
}

function checkCopy({ modifiers, sources }: IrInstruction): string | undefined {
  if (modifiers.includes('wait_group'))
    return sources[0]?.kind === 'integer' ? undefined : 'the number of groups is a constant';
  if (sources.length < 3) return undefined;
  const [, , size] = sources;
  const bytes = size?.kind === 'integer' ? writtenInteger(size) : 0n;
  const sizes = modifiers.includes('cg') ? [16n] : [4n, 8n, 16n];
  return sizes.includes(bytes) ? undefined : `the size is one of ${sizes.join(', ')} bytes, as a constant`;
}

function checkLookUp({ modifiers, destinations, sources }: IrInstruction): string | undefined {
  const table = sources[3];
  if (table?.kind !== 'integer') return 'the look-up table is a constant';
  const written = writtenInteger(table);
  if (modifiers.length > 1 && destinations[0]?.kind !== 'pair') return 'a pair d|p is expected';
  return written < 0n || written > 255n ? `look-up table ${written}: it has 8 bits` : undefined;
}

/** Elements of a vector of coordinates; three are padded to four. */
const coordinates: Readonly<Record<string, number>> = {
  '1d': 1,
  '2d': 2,
  '3d': 4,
  a1d: 2,
  a2d: 4,
  cube: 4,
  acube: 4,
};
/** The same of a gradient, which has no layer. */
const slopes: Readonly<Record<string, number>> = { ...coordinates, a1d: 1, a2d: 2 };

function checkFetch({ modifiers, sources, destinations, types }: IrInstruction): string | undefined {
  const geometry = modifiers.find((each) => Object.hasOwn(coordinates, each));
  if (geometry === undefined) return undefined;
  const length = (operand: IrOperand | undefined): number =>
    operand?.kind === 'vector' ? operand.elements.length : 1;
  const expected = coordinates[geometry] ?? 1;
  if (length(sources[1]) !== expected)
    return `.${geometry} has ${expected} coordinates, ${length(sources[1])} are given`;
  if (modifiers.includes('grad')) {
    const wanted = slopes[geometry] ?? 1;
    if (sources.slice(2).some((each) => length(each) !== wanted))
      return `.${geometry} has gradients of ${wanted} elements`;
  }
  const width = Number(modifiers.find((each) => /^v[24]$/.test(each))?.slice(1) ?? 1);
  const values = destinations[0] ?? sources[2];
  if (length(values) !== width && !(values?.kind === 'sink')) return `a vector of ${width} is expected`;
  if (width * typeBits(types[0] ?? 'b32') > 128) return 'a vector of more than 128 bits';
  return undefined;
}

function isPair({ destinations }: IrInstruction): boolean {
  return destinations[0]?.kind === 'pair';
}

function checkIndexedBranch({ sources }: IrInstruction, fn: IrFunction): string | undefined {
  const [index] = sources;
  const type = index?.kind === 'register' ? fn.registers[index.register]?.type : undefined;
  if (type === undefined || type === 'pred' || typeBits(type) !== 32) return 'the index is a 32-bit register';
  return sources.length > 1 ? undefined : 'the list of targets is empty';
}

function checkCall(instruction: IrInstruction, fn: IrFunction, context: FunctionContext): string | undefined {
  const [target, ...given] = instruction.sources;
  let prototype = instruction.prototype;
  if (target?.kind === 'symbol') {
    prototype = context.prototypeOf(target.name);
    if (prototype === undefined) return `${target.name} is no function`;
  } else if (target?.kind === 'register') {
    const type = fn.registers[target.register]?.type ?? 'pred';
    if (typeBits(type) !== 64) return 'the address of a function is a 64-bit register';
    if (prototype === undefined) return 'a call through a register needs a .callprototype or .calltargets';
  } else return 'the target of a call is a function or a register';
  return (
    checkArguments(given, prototype.parameters, fn, context, 'argument') ??
    checkArguments(instruction.destinations, prototype.returns, fn, context, 'returned value')
  );
}

function checkArguments(
  given: readonly IrOperand[],
  expected: readonly IrParameter[],
  fn: IrFunction,
  context: FunctionContext,
  what: string,
): string | undefined {
  if (given.length !== expected.length)
    return `the call has ${given.length} ${what}s, ${expected.length} expected`;
  for (const [index, operand] of given.entries()) {
    const parameter = expected[index];
    const bytes = parameter?.bytes ?? 0;
    const have = argumentBytes(operand, bytes, fn, context);
    if (have === undefined) return `${what} ${index + 1}: a parameter, a register or a number is expected`;
    if (have !== bytes) return `${what} ${index + 1} has ${have} bytes, ${bytes} expected`;
  }
  return undefined;
}

function argumentBytes(
  operand: IrOperand,
  expected: number,
  fn: IrFunction,
  context: FunctionContext,
): number | undefined {
  switch (operand.kind) {
    case 'symbol':
      return operand.offset === 0 ? context.callParameterBytes(operand.name) : undefined;
    case 'register':
      return typeBits(fn.registers[operand.register]?.type ?? 'b8') / 8;
    case 'float':
      return operand.width / 8;
    case 'integer':
    case 'sink':
      return expected;
    case 'address':
    case 'label':
    case 'negatedPredicate':
    case 'pair':
    case 'special':
    case 'vector':
      return undefined;
  }
}

/** Parts of operands, and the third source that a second operation or a written part of d needs. */
function checkVideo({
  opcode,
  modifiers,
  types,
  selectors,
  sources,
  destinations,
}: IrInstruction): string | undefined {
  const lanes = /[24]$/.exec(opcode)?.[0];
  const [written = '', ...read] = selectors ?? [''];
  const source = lanes === '2' ? /^(h[0-3]{2})?$/ : lanes === '4' ? /^(b[0-7]{4})?$/ : /^-?(b[0-3]|h[01])?$/;
  const mask = lanes === '2' ? /^(h1?0?)?$/ : lanes === '4' ? /^(b3?2?1?0?)?$/ : /^(b[0-3]|h[01])?$/;
  const wrong = [
    ...(mask.test(written) ? [] : [written]),
    ...read.filter((each, index) => !source.test(each) || (index === 2 && /[bh]/.test(each))),
  ];
  if (wrong.length > 0) return `.${wrong[0]} is no part that ${opcode} can take`;
  if (opcode !== 'vmad' && read.some((each) => each.startsWith('-')))
    return 'an operand cannot be negated here';
  if (destinations[0]?.kind === 'sink') return 'a register is expected';
  if (lanes !== undefined || opcode === 'vmad') return undefined;
  // What the card's assembler makes of these differs from what the manual says of them.
  if (opcode === 'vshl' && modifiers.includes('sat')) return 'vshl with .sat is not supported';
  if (written !== '' && (modifiers.includes('sat') || opcode === 'vset'))
    return `a written part of the destination is not supported with ${opcode === 'vset' ? 'vset' : '.sat'}`;
  const isExtreme = modifiers.some((each) => each === 'min' || each === 'max');
  if (isExtreme && opcode !== 'vset' && types.some((each) => each !== 's32'))
    return 'a second operation .min or .max is supported for .s32 alone';
  const needsThird = written !== '' || modifiers.some((each) => /^(add|min|max)$/.test(each));
  if (needsThird === (sources.length === 3)) return undefined;
  return needsThird
    ? 'a third source is expected: what the result is added to or written into'
    : 'a third source needs a second operation (.add, .min, .max) or a written part of the destination';
}
