import { integer } from './literals.js';
import type { ParsedInstruction } from './instructionParser.js';
import type { IrOperand, ScalarType } from './ir.js';

/** Bytes of a thread's stack from which one activation may allocate; a card gives a thread 1 KiB unless told otherwise. */
export const allocatableBytes = 4096;
const stackAlign = 16;

/** Where an activation allocates: from the top, in a register, down to the first byte of a local variable. */
export interface AllocationStack {
  readonly top: number;
  readonly variable: string;
  temporary(type: ScalarType): number;
}

const register = (number: number): IrOperand => ({ kind: 'register', register: number });
/** Sets the top of an activation's stack, at the start of the function. */
export function startStack(line: number, stack: AllocationStack): ParsedInstruction {
  return {
    line,
    text: 'alloca',
    labels: [],
    opcode: 'mov',
    modifiers: ['u64'],
    types: ['u64'],
    destinations: [register(stack.top)],
    sources: [{ kind: 'symbol', name: stack.variable, offset: allocatableBytes }],
  };
}

/**
 * `alloca`, `stacksave` and `stackrestore` as arithmetic on the top of the stack. More than is there ends the kernel with
 * the fault stackOverflow. @returns undefined when the operands are of a shape that this cannot take
 */
export function allocate(parsed: ParsedInstruction, stack: AllocationStack): ParsedInstruction[] | undefined {
  const step = (
    opcode: string,
    modifiers: readonly string[],
    types: readonly ScalarType[],
    destinations: readonly IrOperand[],
    sources: readonly IrOperand[],
    guard = parsed.guard,
  ): ParsedInstruction => ({
    line: parsed.line,
    text: parsed.text,
    labels: [],
    opcode,
    modifiers: [...modifiers, ...types],
    types,
    destinations,
    sources,
    ...(guard === undefined ? {} : { guard }),
  });
  const top = register(stack.top);
  const [first, align] = parsed.sources;
  const [result] = parsed.destinations;
  if (parsed.opcode === 'stacksave')
    return result === undefined ? undefined : [step('mov', [], ['u64'], [result], [top])];
  if (first === undefined) return undefined;
  if (parsed.opcode === 'stackrestore') return [step('mov', [], ['u64'], [top], [first])];
  const isAligned =
    align === undefined || (align.kind === 'integer' && align.high === 0 && align.low <= stackAlign);
  if (result === undefined || !isAligned || parsed.sources.length > 2 || parsed.guard !== undefined)
    return undefined;
  const size = register(stack.temporary('u64'));
  const room = register(stack.temporary('u64'));
  const tooLong = stack.temporary('pred');
  return [
    step('add', [], ['u64'], [size], [first, integer(stackAlign - 1)]),
    step('and', [], ['b64'], [size], [size, integer(-stackAlign)]),
    step('mov', [], ['u64'], [room], [{ kind: 'symbol', name: stack.variable, offset: 0 }]),
    step('sub', [], ['u64'], [room], [top, room]),
    step('setp', ['gt'], ['u64'], [register(tooLong)], [size, room]),
    step('trap', ['stackOverflow'], [], [], [], { register: tooLong, negated: false }),
    step('sub', [], ['u64'], [top], [top, size]),
    step('mov', [], ['u64'], [result], [top]),
  ];
}
